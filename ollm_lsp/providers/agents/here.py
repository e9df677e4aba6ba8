"""This machine, as discovery sees it."""

from __future__ import annotations

import os
import sys
from pathlib import Path
from typing import TYPE_CHECKING

from ollm_lsp.providers.agents.description import Platform
from ollm_lsp.providers.agents.discovery import System

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping


class RealFiles:
    """The file system."""

    def is_program(self, path: str) -> bool:
        try:
            return Path(path).is_file() and os.access(path, os.X_OK)
        except (OSError, ValueError):
            return False

    def real(self, path: str) -> str:
        return os.path.realpath(path)

    def names(self, folder: str) -> Iterable[str]:
        try:
            return [entry.name for entry in Path(folder).iterdir()]
        except OSError:
            return []


def here(environment: Mapping[str, str] = os.environ) -> System:
    """The machine that we run on."""
    platforms = {"win32": Platform.WINDOWS, "darwin": Platform.MACOS}
    return System(platforms.get(sys.platform, Platform.LINUX), environment, RealFiles())
