"""The pages about editors, as far as they can be judged without the editors."""

from __future__ import annotations

import tomllib

from tests.support.pages import DOCS, fences, prose

FOLDER = DOCS / "editors"


def test_the_overview_leads_to_every_page() -> None:
    pages = {page.name for page in FOLDER.glob("*.md")} - {"README.md"}
    assert len(pages) > 1
    assert all(f"]({page})" in prose(FOLDER / "README.md") for page in pages)
    assert "](docs/editors/README.md)" in prose(DOCS.parent / "README.md")


def test_helix_gets_the_server_after_those_of_each_language_and_with_enough_time() -> None:
    example, _ = fences(FOLDER / "helix.md", "toml")
    settings = tomllib.loads(example)
    assert settings["language-server"]["ollm"] == {"command": "ollm-lsp", "timeout": 600}
    servers = [language["language-servers"] for language in settings["language"]]
    assert all(names[-1] == "ollm" and len(names) > 1 for names in servers)
