"""Where ollm-lsp keeps what is its own."""

from __future__ import annotations

import os
import stat
import sys
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING

import platformdirs

if TYPE_CHECKING:
    from collections.abc import Mapping


def state_directory(environ: Mapping[str, str]) -> Path:
    """The platform's place for state, or what `OLLM_STATE_DIR` names."""
    if chosen := environ.get("OLLM_STATE_DIR"):
        return Path(chosen).expanduser().absolute()
    return Path(platformdirs.user_state_dir("ollm-lsp", appauthor=False))


def keep_private(state: Path) -> None:
    """Make the directory, for this user alone, or shut it to others. A place that others share is left as it is."""
    with suppress(OSError):
        state.mkdir(mode=0o700, parents=True, exist_ok=True)
        status = state.stat()
        is_shared = sys.platform == "win32" or status.st_uid != os.geteuid() or status.st_mode & stat.S_ISVTX
        if status.st_mode & 0o077 and not is_shared and state != Path.home():
            state.chmod(0o700)
