"""The walk where folders cannot be opened relative to one another, which is on Windows: by whole paths.

Every name on the way is looked at before opening, and what was opened is compared with what the path leads to
afterwards. Somebody who can swap a folder for a junction exactly in between, twice, still wins: this is the best that
the system's own calls allow, and weaker than the walk.
"""

from __future__ import annotations

import os
import stat
from pathlib import Path
from typing import TYPE_CHECKING

from ollm_lsp.core.errors import OutsideWorkspace

if TYPE_CHECKING:
    from ollm_lsp.tools.roots import Place

_REPARSE_POINT = 0x400
"""Links, junctions and mount points of Windows, of which `S_ISLNK` knows only the first."""


def is_link(status: os.stat_result) -> bool:
    """Whether something leads elsewhere."""
    return stat.S_ISLNK(status.st_mode) or bool(getattr(status, "st_file_attributes", 0) & _REPARSE_POINT)


def check(place: Place) -> None:
    """Refuse a way that has a link in it, or that leads to somewhere else than it says."""
    path = place.folder
    for name in place.names:
        path /= name
        try:
            status = path.lstat()
        except OSError:
            return  # nothing is there, which whoever opens it will say
        if is_link(status):
            raise _refusal(place)
    meant = Path(os.path.realpath(place.folder), *place.names)
    if os.path.normcase(os.path.realpath(place.path)) != os.path.normcase(meant):
        raise _refusal(place)


def open_file(place: Place) -> int:
    """A descriptor of what the path leads to without links; the caller closes it."""
    check(place)
    flags = os.O_RDONLY | getattr(os, "O_BINARY", 0) | getattr(os, "O_NOINHERIT", 0) | getattr(os, "O_NONBLOCK", 0)
    file = os.open(place.path, flags)
    try:
        check(place)
        _compare(place, os.fstat(file), place.path.lstat())
    except BaseException:
        os.close(file)
        raise
    return file


def _compare(place: Place, opened: os.stat_result, there: os.stat_result) -> None:
    if (opened.st_dev, opened.st_ino) != (there.st_dev, there.st_ino):
        raise _refusal(place)


def _refusal(place: Place) -> OutsideWorkspace:
    return OutsideWorkspace(
        f"'{place.shown}' is refused: it is, or is behind, a link, and links are not followed.",
        remedy="Name the file that the link leads to, if it is in the workspace.",
    )
