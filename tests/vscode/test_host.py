"""The suites that run inside the extension host of a real VS Code: editors/vscode/test/host."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from tests.editors.scene import CODE, NAME, polite, user_of, user_of_file
from tests.support.fake_ollama import Call, FakeOllama, Say, words
from tests.vscode.story import answering_agent, mending_agent
from tests.vscode.window import window

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from tests.editors.user import User
    from tests.support.fake_ollama import Step
    from tests.vscode.code_server import CodeServer

pytestmark = [pytest.mark.prop("lsp-5"), pytest.mark.timeout(600)]

CALLS = {
    "Make a file.": Call("create_file", {"path": "new.py", "content": "print('new')\n"}),
    "Run it.": Call("run_command", {"argv": ["echo", "hello from a command"]}),
    "What is wrong?": Call("get_diagnostics", {"path": NAME}),
}


def eager(request: dict[str, Any]) -> Sequence[Step]:
    """A model that does what it is told by a tool, and answers everything else with code."""
    last = request["messages"][-1]
    if last["role"] == "tool":
        return [Say("That is all.")]
    asked = str(last["content"])
    for words_of_user, call in CALLS.items():
        if words_of_user in asked:
            return [call]
    return polite(request) if request.get("tools") and "Be polite." in asked else words(CODE)


async def passes(suite: str, vscode: CodeServer, browser: Path, user: User) -> None:
    """Run a suite; what it printed is the message of a failure."""
    user.install("ollm-lsp", "ollm_lsp")
    report, picture = user.folder / "report.json", user.folder / "failed.png"
    async with window(vscode, browser, user, SUITE=suite, REPORT=str(report)) as opened:
        outcome = await opened.run("node", "out/run-host.mjs", PICTURE=str(picture))
    assert outcome.status == 0, f"{outcome.output}\nSee {picture}"


async def test_it_starts_answers_stops_and_gets_up_again_with_the_real_model(
    vscode: CodeServer, browser: Path, tmp_path: Path, real_model_path: Path
) -> None:
    await passes("begin", vscode, browser, user_of_file(tmp_path / "user", real_model_path))


async def test_questions_are_shown_and_answered(vscode: CodeServer, browser: Path, tmp_path: Path) -> None:
    async with FakeOllama(answer=eager) as fake:
        user = user_of(tmp_path / "user", fake)
        settings = user.folder / "config.yaml"
        settings.write_text(settings.read_text() + "tools: { runCommand: true }\n")
        await passes("permission", vscode, browser, user)


async def test_actions_on_code_change_it_after_a_yes(vscode: CodeServer, browser: Path, tmp_path: Path) -> None:
    async with FakeOllama(answer=eager) as fake:
        await passes("actions", vscode, browser, user_of(tmp_path / "user", fake))


async def test_a_release_is_asked_for_and_comes_home(vscode: CodeServer, browser: Path, tmp_path: Path) -> None:
    async with FakeOllama() as fake:
        user = user_of(tmp_path / "user", fake)
        agent = answering_agent(user, tmp_path / "agent")
        await passes("kraken", vscode, browser, user)
        assert "Changed by the user." in agent.received
        assert "3+3" not in agent.received


async def test_of_several_files_some_can_be_taken(vscode: CodeServer, browser: Path, tmp_path: Path) -> None:
    async with FakeOllama() as fake:
        user = user_of(tmp_path / "user", fake)
        mending_agent(user, tmp_path / "agent", "confirmBeforeRelease: false")
        await passes("several", vscode, browser, user)
