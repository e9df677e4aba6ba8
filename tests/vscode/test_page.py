"""The packaged extension in a window of VS Code, as a person sees it: editors/vscode/test/page."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from tests.editors.scene import ENDLESS, user_of_file
from tests.vscode.figures import keep
from tests.vscode.story import answering_agent, mending_agent, storyteller, user_of
from tests.vscode.window import Window, window

if TYPE_CHECKING:
    from pathlib import Path

    from tests.support.real_model import LlamaServer
    from tests.vscode.code_server import CodeServer

pytestmark = [pytest.mark.prop("lsp-5"), pytest.mark.timeout(900)]

# What the real model may say: the rule with a colour of its own.
COLOUR = r'root ::= "```css\n.note {\n  color: " [a-z]{3,8} ";\n}\n```\n"'


async def passes(file: str, opened: Window, folder: Path, **variables: str) -> None:
    """Run a file of tests; what it printed is the message of a failure, and its figures are shown at the end."""
    picture = str(folder / "failed.png")
    outcome = await opened.run("npm", "run", "--silent", "test:page", "--", file, PICTURE=picture, **variables)
    assert outcome.status == 0, f"{outcome.output}\nSee {picture}"
    keep(outcome.output)


async def test_the_packaged_extension_does_in_a_window_what_it_should(
    vscode: CodeServer, browser: Path, vsix: Path, tmp_path: Path
) -> None:
    async with storyteller() as fake:
        user = user_of(tmp_path / "user", fake)
        mending_agent(user, tmp_path / "agent")
        async with window(vscode, browser, user, vsix=vsix) as opened:
            await passes("window", opened, tmp_path)


async def test_the_real_model_does_in_a_window_what_it_should(
    vscode: CodeServer, browser: Path, vsix: Path, tmp_path: Path, real_model_path: Path, real_llama: LlamaServer
) -> None:
    user = user_of_file(tmp_path / "user", real_model_path, real_llama, talker=ENDLESS, fixer=COLOUR)
    (user.project / "style.css").write_text(".note {\n  colr: red;\n}\n")
    async with window(vscode, browser, user, vsix=vsix) as opened:
        settings, process = str(user.folder / "config.yaml"), str(user.tap / "server.pid")
        await passes("realModel", opened, tmp_path, SETTINGS=settings, PID_FILE=process)


async def test_no_agent_is_started_in_a_workspace_that_is_not_trusted(
    vscode: CodeServer, browser: Path, vsix: Path, tmp_path: Path
) -> None:
    async with storyteller() as fake:
        user = user_of(tmp_path / "user", fake)
        answering_agent(user, tmp_path / "agent")
        # The question would stand before everything else.
        settings = {"security.workspace.trust.startupPrompt": "never"}
        async with window(vscode, browser, user, settings, vsix, trusted=False) as opened:
            await passes("untrusted", opened, tmp_path, RECEIVED=str(tmp_path / "agent" / "notes" / "received"))
