"""Programs of the user's system: found where no workspace can put one, started with an environment of our choice."""

from __future__ import annotations

import os
import sys
from pathlib import Path
from typing import TYPE_CHECKING

from ollm_lsp.processes.environment import fresh

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from ollm_lsp.tools.roots import Roots


def environment(roots: Roots, source: Mapping[str, str] = os.environ) -> dict[str, str]:
    """A new environment: some variables of ours, and a PATH without relative entries and without the workspace."""
    return fresh(source, map(str, _folders(roots, source)))


def found(name: str, roots: Roots, source: Mapping[str, str] = os.environ) -> Path | None:
    """The program of that name, or at that absolute path, when it is really outside the workspace."""
    if not name or "\0" in name:
        return None
    if Path(name).is_absolute():
        return _usable(Path(name), roots)
    if Path(name).name != name:
        return None  # a path that depends on where it is read
    for folder in _folders(roots, source):
        for ending in _endings(source):
            if program := _usable(folder / f"{name}{ending}", roots):
                return program
    return None


def _folders(roots: Roots, source: Mapping[str, str]) -> Iterable[Path]:
    entries = dict.fromkeys(source.get("PATH", os.defpath).split(os.pathsep))
    return [Path(entry) for entry in entries if Path(entry).is_absolute() and not _is_inside(Path(entry), roots)]


def _usable(program: Path, roots: Roots) -> Path | None:
    try:
        is_program = program.is_file() and os.access(program, os.X_OK)
    except (OSError, ValueError):
        return None
    return program if is_program and not _is_inside(program, roots) else None


def _is_inside(path: Path, roots: Roots) -> bool:
    """Whether a path is in the workspace, as it is written or when its links are followed."""
    folders = [place.path for place in roots.places]
    spellings = {os.path.normpath(path), os.path.realpath(path)}
    tops = [*map(os.path.normpath, folders), *map(os.path.realpath, folders)]
    return any(_is_below(one, top) for one in spellings for top in tops)


def _is_below(path: str, top: str) -> bool:
    return f"{os.path.normcase(path)}{os.sep}".startswith(os.path.normcase(top).rstrip(os.sep) + os.sep)


def _endings(source: Mapping[str, str]) -> list[str]:
    # Batch files are left out: Windows gives their arguments to a shell.
    return [".exe", ".com"] if sys.platform == "win32" and source.get("PATHEXT") is not None else [""]
