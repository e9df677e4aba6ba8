"""Where ollm-lsp keeps what is its own."""

from __future__ import annotations

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
