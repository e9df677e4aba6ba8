"""The settings file to begin with: it changes nothing, and what it suggests is right."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from ollm_lsp.settings.source import SettingsSource
from ollm_lsp.settings.starter import STARTER, provide

if TYPE_CHECKING:
    from pathlib import Path


def test_it_changes_nothing_and_is_never_written_over_another(tmp_path: Path) -> None:
    file = tmp_path / "home" / "config.yaml"
    before = SettingsSource(file, embedded_available=False).current()
    assert provide(file) == file.as_uri()
    assert SettingsSource(file, embedded_available=False).current() == before
    file.write_text("model: a:b\n")
    provide(file)
    assert file.read_text() == "model: a:b\n"


def test_all_that_it_suggests_is_understood(tmp_path: Path) -> None:
    file = tmp_path / "config.yaml"
    file.write_text(re.sub(r"^#(?=\S|  )", "", STARTER, flags=re.MULTILINE))
    found = SettingsSource(file, embedded_available=False).current()
    assert found.problems == ()
    assert (str(found.settings.model), found.settings.kraken.enabled) == ("ollama:qwen2.5-coder:7b", True)
    assert set(found.settings.kraken.entries) == {"claude", "gemini", "codex", "gpt"}
