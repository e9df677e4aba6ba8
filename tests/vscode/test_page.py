"""The packaged extension in a window of VS Code, as a person sees it: editors/vscode/test/page."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from tests.vscode.story import storyteller, user_of
from tests.vscode.window import window

if TYPE_CHECKING:
    from pathlib import Path

    from tests.vscode.code_server import CodeServer

pytestmark = [pytest.mark.prop("lsp-5"), pytest.mark.timeout(900)]


async def test_the_packaged_extension_does_in_a_window_what_it_should(
    vscode: CodeServer, browser: Path, vsix: Path, tmp_path: Path
) -> None:
    async with storyteller() as fake:
        user = user_of(tmp_path / "user", fake)
        async with window(vscode, browser, user, vsix=vsix) as opened:
            picture = str(tmp_path / "failed.png")
            outcome = await opened.run("npm", "run", "--silent", "test:page", PICTURE=picture)
    assert outcome.status == 0, f"{outcome.output}\nSee {picture}"
