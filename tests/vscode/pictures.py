"""Draw the screenshots of VS Code: `python -m tests.vscode.pictures`, or `make vscode-screenshots`."""

from __future__ import annotations

import asyncio
import shutil
import sys
from pathlib import Path
from tempfile import gettempdir

from tests.support.pages import DOCS
from tests.vscode import chromium, code_server
from tests.vscode.story import answering_agent, storyteller, user_of
from tests.vscode.window import window

KEPT = ("chat-dark", "chat-light", "permission-dark", "permission-light", "release-dark", "release-light")
"""Those that the documentation shows."""
THEMES = {"dark": "Default Dark Modern", "light": "Default Light Modern"}
VSIX = DOCS.parent / "dist" / "ollm-lsp.vsix"


async def _draw(folder: Path, pictures: Path, theme: str) -> None:
    async with storyteller() as fake:
        user = user_of(folder / theme, fake)
        answering_agent(user, folder / f"agent-{theme}")
        look = {
            "workbench.colorTheme": THEMES[theme],
            "editor.minimap.enabled": False,
            "window.autoDetectColorScheme": False,
        }
        async with window(code_server.install(), chromium.find(), user, look, VSIX) as opened:
            outcome = await opened.run("node", "out/pictures.mjs", PICTURES=str(pictures), THEME=theme)
    if outcome.status:
        sys.exit(outcome.output)


def main() -> None:
    """All of them go into a folder; those that are shown go into the documentation."""
    folder = Path(gettempdir()) / "ollm-pictures"
    shutil.rmtree(folder, ignore_errors=True)
    pictures = folder / "pictures"
    pictures.mkdir(parents=True)
    for theme in THEMES:
        asyncio.run(_draw(folder, pictures, theme))
    for name in KEPT:
        shutil.copy(pictures / f"vscode-{name}.png", DOCS / "images")


if __name__ == "__main__":
    main()
