"""The package of the extension: what is in it, and what a newcomer with nothing else gets."""

from __future__ import annotations

import json
import os
import zipfile
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from tests.vscode.story import storyteller, user_of
from tests.vscode.window import window

if TYPE_CHECKING:
    from tests.vscode.code_server import CodeServer

ROOT = Path(__file__).parents[2]
EXTENSION = ROOT / "editors" / "vscode"
CONTENT = {
    "[Content_Types].xml",
    "extension.vsixmanifest",
    "extension/LICENSE.txt",
    "extension/package.json",
    "extension/readme.md",
    *(f"extension/dist/{name}" for name in ("ThirdPartyNotices.txt", "chat.css", "chat.js", "extension.js")),
    *(f"extension/media/{name}" for name in ("icon.png", "view.svg")),
    *(f"extension/media/walkthrough/{name}.md" for name in ("chat", "code", "kraken", "model", "server")),
}
SMALL = 1_000_000


def test_the_package_holds_what_it_needs_and_nothing_else(vsix: Path) -> None:
    with zipfile.ZipFile(vsix) as package:
        assert set(package.namelist()) == CONTENT
    assert vsix.stat().st_size < SMALL


def test_the_package_names_the_licences_of_all_that_it_is_built_from(vsix: Path) -> None:
    manifest = json.loads((EXTENSION / "package.json").read_text())
    with zipfile.ZipFile(vsix) as package:
        notices = package.read("extension/dist/ThirdPartyNotices.txt").decode()
    for name, version in {**manifest["dependencies"], "vscode-jsonrpc": "", "linkify-it": ""}.items():
        _, found, text = notices.partition(f"\n{name} {version}")
        assert found, name
        assert "Permission is hereby granted" in text or "Redistribution and use" in text, name
    development = {*manifest["devDependencies"]} - {"@types/hast"}
    assert not [name for name in development if f"\n{name} " in notices]


@pytest.mark.prop("lsp-5")
@pytest.mark.timeout(900)
async def test_a_newcomer_installs_the_server_from_the_editor_with_pip(
    vscode: CodeServer, browser: Path, vsix: Path, tmp_path: Path
) -> None:
    async with storyteller() as fake:
        user = user_of(tmp_path / "user", fake)
        (user.folder / "bin" / "ollm-lsp").unlink()
        pip = {name: value for name, value in os.environ.items() if name.startswith("PIP_")}
        settings = {"ollm.server.package": str(ROOT)}
        async with window(vscode, browser, user, settings, vsix, trusted=True, **pip) as opened:
            picture = str(tmp_path / "failed.png")
            outcome = await opened.run("node", "out/install.mjs", PICTURE=picture)
    assert outcome.status == 0, f"{outcome.output}\nSee {picture}"
    assert list(user.folder.glob("profile/user/User/globalStorage/ollm.ollm-lsp/server/*/bin/ollm-lsp"))
