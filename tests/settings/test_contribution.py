"""The settings that the VS Code extension offers are those that an editor may make."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from ollm_lsp.settings.contribution import contribution

PACKAGE = Path(__file__).parents[2] / "editors" / "vscode" / "package.json"


def _categories() -> list[dict[str, Any]]:
    return json.loads(PACKAGE.read_text(encoding="utf-8"))["contributes"]["configuration"]


def test_the_extension_offers_the_settings_of_this_server() -> None:
    generated = [category for category in _categories() if category["title"] != "Extension"]
    assert generated == contribution(), "run: make vscode-settings"


def test_no_setting_that_counts_in_the_users_own_file_only_is_offered() -> None:
    offered = {key for category in contribution() for key in category["properties"]}
    assert {"ollm.model", "ollm.context.maxTokens", "ollm.kraken.policies.maskSecrets"} <= offered
    assert not any(key.startswith(("ollm.providers", "ollm.kraken.prices", "ollm.kraken.hooks")) for key in offered)
    assert not any("Providers" in key and "allowed" not in key for key in offered)


def test_the_settings_of_the_extension_itself_stay_away_from_the_sections_of_the_server() -> None:
    (own,) = [category for category in _categories() if category["title"] == "Extension"]
    sections = {key.split(".")[1] for category in contribution() for key in category["properties"]}
    assert not {key.split(".")[1] for key in own["properties"]} & sections
