"""Permissions at a terminal: all of it is shown, a key decides, and whatever is not a yes is a no."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, Any

import pytest

from tests.support.editor import SERVER, environment
from tests.support.fake_ollama import FakeOllama
from tests.support.tool_task import FILES, TASK, Model

if TYPE_CHECKING:
    from pathlib import Path

    from tests.terminal.conftest import AtTerminal, Runner

OPTIONS = [
    {"id": "allow_once", "label": "Allow once"},
    {"id": "allow_always", "label": "Always allow"},
    {"id": "reject_once", "label": "Reject"},
]
QUESTION: dict[str, Any] = {
    "id": "q",
    "title": "Edit a.py",
    "kind": "edit",
    "detail": "```diff\n-one\n+1\n```",
    "options": OPTIONS,
}
ASKED = ["request", "ollm/permission", QUESTION]
PROMPT = "› "  # noqa: RUF001 (as the terminal shows it)
DONE = ["result", {"text": "done"}]


DECISIONS: list[tuple[str, dict[str, Any]]] = [
    ("y", {"optionId": "allow_once"}),
    ("Y ", {"optionId": "allow_once"}),
    ("a", {"optionId": "allow_always"}),
    ("n", {"optionId": "reject_once"}),
    ("n use sum()", {"optionId": "reject_once", "feedback": "use sum()"}),
    ("", {"optionId": "reject_once"}),
    ("yes please", {"optionId": "reject_once", "feedback": "please"}),
    ("s", {"optionId": "reject_once"}),  # it was not offered
    ("\x04", {"optionId": "reject_once"}),
]


def answers(runner: Runner) -> list[dict[str, Any]]:
    return [message["result"] for message in runner.messages if message.get("id") == "s-ollm/permission"]


@pytest.mark.prop("lsp-4")
def test_a_key_decides_about_what_was_shown(runner: Runner) -> None:
    terminal = runner.chat_at_terminal(runner.server([*[ASKED] * len(DECISIONS), DONE]))
    for typed, _ in DECISIONS:
        for text in ("Edit a.py", "-one", "+1", "y = Allow once, a = Always allow, n = Reject? [n] "):
            terminal.expect(text)
        terminal.send(typed if typed == "\x04" else f"{typed}\r")
    terminal.expect("done")
    assert terminal.wait() == 0
    assert answers(runner) == [decision for _, decision in DECISIONS]


@pytest.mark.threat("T6")
@pytest.mark.prop("lsp-4")
def test_without_a_terminal_the_answer_is_no(runner: Runner) -> None:
    finished = runner.chat(runner.server([ASKED, DONE]))
    assert answers(runner) == [{"optionId": "reject_once"}]
    assert "+1" in finished.stderr
    assert "there is nobody to ask" in finished.stderr
    assert finished.stdout == "done\n"


@pytest.mark.prop("krk-46")
def test_a_briefing_can_be_changed_in_the_users_editor(
    runner: Runner, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    editor = tmp_path / "an editor"
    editor.write_text('#!/bin/sh\nprintf "and more\\n" >> "$1"\n')
    editor.chmod(0o755)
    released = {**QUESTION, "briefing": "The task\n"}
    asked, keys = ["request", "ollm/permission", released], "n = Reject, e = change what is sent? [n] "
    monkeypatch.delenv("VISUAL", raising=False)
    monkeypatch.setenv("EDITOR", f"'{editor}'")
    terminal = runner.chat_at_terminal(runner.server([asked, asked, DONE]))
    terminal.expect(keys)
    terminal.send("e\r")
    terminal.expect("2 lines are to be sent.")
    terminal.send("e\r")
    terminal.expect("3 lines are to be sent.")
    terminal.send("y\r")
    terminal.expect(keys)
    terminal.send("y\r")
    terminal.expect("done")
    assert terminal.wait() == 0
    changed = {"optionId": "allow_once", "briefing": "The task\nand more\nand more\n"}
    assert answers(runner) == [changed, {"optionId": "allow_once"}]


@pytest.mark.parametrize("command", ["false", "/nowhere/editor", "'"])
def test_an_editor_that_fails_changes_nothing(runner: Runner, monkeypatch: pytest.MonkeyPatch, command: str) -> None:
    monkeypatch.setenv("VISUAL", command)
    terminal = runner.chat_at_terminal(
        runner.server([["request", "ollm/permission", {**QUESTION, "briefing": "The task\n"}], DONE])
    )
    terminal.expect("? [n] ")
    terminal.send("e\r")
    terminal.expect("did not work")
    terminal.send("y\r")
    terminal.expect("done")
    assert terminal.wait() == 0
    assert answers(runner) == [{"optionId": "allow_once"}]


def test_a_question_that_is_withdrawn_takes_no_line_away(runner: Runner) -> None:
    withdrawn = [["notify", "$/cancelRequest", {"id": "s-x"}], DONE]
    asked = ["ask", "ollm/permission", QUESTION, "s-x"]
    terminal = runner.chat_at_terminal(
        runner.server([asked, *withdrawn], [["result", {"text": "second"}]]), prompt=None
    )
    terminal.expect(PROMPT)
    terminal.send("first\r")
    terminal.expect("done")
    terminal.expect(PROMPT)
    terminal.send("second question\r")
    terminal.expect("second")
    terminal.send("\x04")
    assert terminal.wait() == 0
    assert [sent["text"] for sent in runner.received("ollm/chat/send")] == ["first", "second question"]


def decide(terminal: AtTerminal, keys: list[str]) -> int:
    for key in keys:
        terminal.expect("? [n] ")
        terminal.send(f"{key}\r")
    terminal.expect("done")
    return terminal.wait()


@pytest.mark.prop("lsp-4")
async def test_a_model_changes_files_by_the_real_server_as_far_as_it_is_allowed(runner: Runner, tmp_path: Path) -> None:
    for name, text in FILES.items():
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_bytes(text.encode())
    async with FakeOllama(answer=Model(TASK)) as fake:
        settings = f"model: 'ollama:smollm2:135m'\nproviders: {{ollama: {{type: ollama, baseUrl: '{fake.url}'}}}}\n"
        arguments = {"files": ["a.py"], "prompt": "Do it.", "model": None, "server_command": list(SERVER)}
        terminal = runner.at_terminal("chat", arguments, **environment(tmp_path, settings))
        assert await asyncio.to_thread(decide, terminal, ["y", "y", "y", "n", "y"]) == 0
    found = {name: (tmp_path / name).read_bytes().decode() for name in (*FILES, "c.py") if (tmp_path / name).exists()}
    assert found == {
        "a.py": "def add(a, b):\n    return a + b\n",
        "sub/b.py": "print('new ü')\r\nprint('kept')\r\n",
        "old.txt": "moved\n",
        "c.py": "x = 1\n",
    }
