"""What happens where an editor cannot be had."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from tests.editors import debian, programs
from tests.editors.debian import Unavailable

if TYPE_CHECKING:
    from pathlib import Path


@pytest.mark.parametrize("name", ["tmux", "helix", "emacs", "neovim", "neovim-0.10"])
def test_an_editor_that_cannot_be_had_is_told_with_the_reason(
    name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    monkeypatch.setattr(debian, "FOLDER", tmp_path / "editors")
    found = programs.find.__wrapped__(name)
    assert isinstance(found, Unavailable)
    assert "apt-get and dpkg-deb not found" in str(found)
