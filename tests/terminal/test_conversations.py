"""`chat --resume` and `chat --list`: conversations that are kept."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from tests.terminal.test_chat import FAILURE, FOOT

if TYPE_CHECKING:
    import subprocess

    from tests.terminal.conftest import Runner

NEW, OLD = "cafe0123456789ab", "beef0123456789ab"
LISTED: list[dict[str, Any]] = [
    {"id": NEW, "title": "Why \x1b[31mred?", "updated": "2026-01-02T03:04:05.000Z", "responses": 2},
    {"id": OLD, "title": "漢字", "updated": "yesterday", "responses": 12},
]
CUT: list[dict[str, Any]] = [{"text": "word " * 100, "items": []}]
EXCHANGE: list[dict[str, Any]] = [
    {"text": "First?", "items": [{"type": "text", "text": "First."}]},
    {
        "text": "Why \x1b[31mred?",
        "items": [
            {"type": "reasoning", "text": "Hm."},
            {"type": "text", "text": "Be"},
            {"type": "text", "text": "cause."},
        ],
    },
]


def kept(responses: list[dict[str, Any]] = EXCHANGE, listed: list[dict[str, Any]] = LISTED) -> dict[str, Any]:
    return {"list": {"result": {"conversations": listed}}, "get": {"result": {"responses": responses}}}


def resume(
    runner: Runner, wanted: str, *, prompt: str | None = "And now?", known: dict[str, Any] | None = None
) -> subprocess.CompletedProcess[str]:
    server = runner.server([["text", "Yes.\n"], ["result", {}]], kept=known or kept())
    arguments = {"files": [], "prompt": prompt, "model": None, "server_command": server, "resume": wanted}
    return runner.run("chat", arguments)


@pytest.mark.prop("eng-3")
@pytest.mark.parametrize(
    ("wanted", "found", "title"), [("", NEW, "Why red?"), ("beef", OLD, "漢字"), (NEW, NEW, "Why red?")]
)
def test_a_kept_conversation_goes_on(runner: Runner, wanted: str, found: str, title: str) -> None:
    done = resume(runner, wanted)
    assert (done.returncode, done.stdout) == (0, "Yes.\n")
    assert done.stderr == f"going on with: {title} ({found[:8]})\n{FOOT}"
    assert runner.received("ollm/chat/send")[0]["conversationId"] == found


@pytest.mark.parametrize(
    ("wanted", "listed", "message"),
    [
        ("", LISTED[:0], "There is none to resume."),
        ("f00", LISTED, "No one conversation has an id that begins with f00."),
        ("c", [{"id": "c1"}, {"id": "c2"}], "No one conversation has an id that begins with c."),
    ],
)
def test_a_conversation_that_is_not_there_is_an_error(
    runner: Runner, wanted: str, listed: list[dict[str, Any]], message: str
) -> None:
    done = resume(runner, wanted, known=kept(listed=listed))
    assert (done.returncode, done.stdout) == (1, "")
    assert done.stderr == f"error: {message}\n  `ollm-lsp chat --list` lists them.\n"
    assert runner.received("ollm/chat/send") == []


@pytest.mark.filterwarnings("ignore:.*fork.*:DeprecationWarning")  # pexpect forks; newer Pythons warn
@pytest.mark.parametrize(
    ("responses", "shown"),
    [
        (EXCHANGE, ["You: Why red?", "Because."]),
        (CUT, [" …", "(no answer)"]),
        (CUT[:0], []),
    ],
)
def test_the_last_exchange_is_recalled(runner: Runner, responses: list[dict[str, Any]], shown: list[str]) -> None:
    server = runner.server(kept=kept(responses))
    terminal = runner.resume_at_terminal(server)
    for text in ("going on with: Why red?", *shown, "/help lists the commands"):
        terminal.expect(text)
    terminal.send("/exit\r")
    assert terminal.wait() == 0


def test_conversations_are_listed(runner: Runner) -> None:
    done = runner.run("list", {"server_command": runner.server(kept=kept())})
    assert (done.returncode, done.stderr) == (0, "")
    first, second = done.stdout.splitlines()
    assert first.startswith("cafe0123  2026-01-0")
    assert first.endswith("     2  Why red?")
    assert second == "beef0123  yesterday    12  漢字"


def test_no_conversations_are_said_to_be_none(runner: Runner) -> None:
    done = runner.run("list", {"server_command": runner.server(kept=kept(listed=[]))})
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "There are no conversations yet.\n")


def test_a_store_that_fails_is_status_1_with_its_remedy(runner: Runner) -> None:
    done = runner.run("list", {"server_command": runner.server(kept={"list": {"error": FAILURE}})})
    assert (done.returncode, done.stdout) == (1, "")
    assert done.stderr == "error: Nobody answers at the address.\n  Start Ollama.\n"
