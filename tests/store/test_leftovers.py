"""What killed servers left of files that they were about to put in place is removed, and nothing else."""

from __future__ import annotations

import os
import time
from typing import TYPE_CHECKING

import pytest

from ollm_lsp.store import leftovers

if TYPE_CHECKING:
    from pathlib import Path

WHOLE = f"{'0a' * 16}.json"


@pytest.mark.threat("F28", "F42")
def test_only_old_halves_are_removed(tmp_path: Path) -> None:
    for name in (WHOLE, f"{WHOLE}.{'0b' * 8}", f"{WHOLE}.{'0c' * 8}", "notes.txt.0123456789abcdef"):
        (tmp_path / name).touch()
        if "0c" not in name:
            os.utime(tmp_path / name, (0, time.time() - 3600))
    leftovers.sweep(tmp_path)
    assert sorted(path.name for path in tmp_path.iterdir()) == sorted(
        [WHOLE, f"{WHOLE}.{'0c' * 8}", "notes.txt.0123456789abcdef"]
    )
    leftovers.sweep(tmp_path / "none")
