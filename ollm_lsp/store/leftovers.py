"""What killed servers left of files that they were about to put in place."""

from __future__ import annotations

import re
import time
from contextlib import suppress
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pathlib import Path

_LEFT = re.compile(r"[0-9a-f]{32}\..+\.[0-9a-f]{16}")
_OLD = 60.0
"""Seconds: who writes such a file needs none of them."""


def sweep(folder: Path) -> None:
    """Remove them from a folder."""
    with suppress(OSError):
        for path in folder.iterdir():
            if _LEFT.fullmatch(path.name) and time.time() - path.lstat().st_mtime > _OLD:
                path.unlink(missing_ok=True)
