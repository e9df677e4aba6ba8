"""The packaged extension in a window of VS Code, as a person sees it: editors/vscode/test/page."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from tests.vscode.figures import keep
from tests.vscode.story import answering_agent, mending_agent, storyteller, user_of
from tests.vscode.window import Window, window

if TYPE_CHECKING:
    from pathlib import Path

    from tests.vscode.code_server import CodeServer

pytestmark = [pytest.mark.prop("lsp-5"), pytest.mark.timeout(900)]


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
