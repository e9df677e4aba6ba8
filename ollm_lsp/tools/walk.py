"""The walk: files and folders of the workspace are opened name by name, and no link is followed (threat T14).

Checking a path and then opening it loses against somebody who swaps a folder for a link in between. So each folder is
opened relative to the one above it, with `O_NOFOLLOW`, and what was opened is looked at afterwards. Only this module
opens files of the user.

Refused are symbolic links, also those that stay inside: what they lead to can be named directly, and telling the two
kinds apart is the race again. So are files with more than one hard link, because another name may be outside, and
devices, pipes and sockets. On systems without `openat`, which is Windows, `walk_by_path` does what can be done.
"""

from __future__ import annotations

import errno
import os
import stat
from contextlib import contextmanager
from dataclasses import dataclass
from enum import StrEnum
from itertools import islice
from typing import TYPE_CHECKING

from ollm_lsp.core.errors import OutsideWorkspace, UnreadableFile
from ollm_lsp.tools import walk_by_path

if TYPE_CHECKING:
    from collections.abc import Generator

    from ollm_lsp.tools.roots import Place

HAS_OPENAT = {os.open, os.stat} <= os.supports_dir_fd and os.scandir in os.supports_fd
_FOLDER = getattr(os, "O_DIRECTORY", 0) | getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_CLOEXEC", 0)
_FILE = getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_CLOEXEC", 0) | getattr(os, "O_NONBLOCK", 0)
_PIECE = 1 << 20


class Kind(StrEnum):
    """What is at a place. Nothing of ours opens what is neither a plain file nor a folder."""

    FILE = "file"
    FOLDER = "folder"
    LINK = "link"
    OTHER = "other"


@dataclass(frozen=True, slots=True)
class Entry:
    """Something in a folder."""

    name: str
    kind: Kind
    size: int | None = None


def kind_of(status: os.stat_result) -> Kind:
    """The kind by what the file system says; a file with several hard links is no plain one."""
    if walk_by_path.is_link(status):
        return Kind.LINK
    if stat.S_ISDIR(status.st_mode):
        return Kind.FOLDER
    return Kind.FILE if stat.S_ISREG(status.st_mode) and status.st_nlink <= 1 else Kind.OTHER


def look(place: Place) -> os.stat_result | None:
    """What the file system says about a place, or nothing when nothing is there."""
    try:
        with _parent(place) as parent:
            return _status(place, parent)
    except UnreadableFile:
        return None


def identity(place: Place) -> tuple[int, int] | None:
    """What two names of the same file have in common."""
    status = look(place)
    return (status.st_dev, status.st_ino) if status else None


def read(place: Place, limit: int) -> bytes:
    """At most so many bytes of a plain file."""
    with _parent(place) as parent:
        return _read(place, limit, parent)


def scan(place: Place, limit: int, *, with_sizes: bool = False) -> list[Entry]:
    """At most so many entries of a folder, in no order. Only sizes tell hard links from plain files."""
    with _parent(place.below(".")) as folder:
        try:
            with os.scandir(place.path if folder < 0 else folder) as entries:
                return [_entry(entry, with_size=with_sizes) for entry in islice(entries, limit)]
        except (OSError, ValueError) as error:
            raise _explained(place, error) from None


def _entry(entry: os.DirEntry[str], *, with_size: bool) -> Entry:
    try:
        if with_size or os.name == "nt":  # there it costs nothing, and tells junctions from folders
            status = entry.stat(follow_symlinks=False)
            return Entry(entry.name, kind_of(status), status.st_size)
        if entry.is_symlink():
            return Entry(entry.name, Kind.LINK)
        if entry.is_dir(follow_symlinks=False):
            return Entry(entry.name, Kind.FOLDER)
        return Entry(entry.name, Kind.FILE if entry.is_file(follow_symlinks=False) else Kind.OTHER)
    except OSError:
        return Entry(entry.name, Kind.OTHER)


@contextmanager
def _parent(place: Place) -> Generator[int]:
    """The opened folder that a place is in; a root is in itself."""
    if not HAS_OPENAT:
        walk_by_path.check(place.parent)
        yield -1
        return
    try:
        folder = os.open(place.folder, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    except (OSError, ValueError) as error:
        raise _explained(place, error) from None
    try:
        for depth in range(1, len(place.names)):
            try:
                below = os.open(place.names[depth - 1], os.O_RDONLY | _FOLDER, dir_fd=folder)
            except (OSError, ValueError) as error:
                raise _explained(place, error) from None
            os.close(folder)
            folder = below
        yield folder
    finally:
        os.close(folder)


def _status(place: Place, parent: int) -> os.stat_result:
    name = place.names[-1] if place.names else "."
    try:
        if parent < 0:
            return place.path.lstat()
        return os.stat(name, dir_fd=parent, follow_symlinks=False)
    except (OSError, ValueError) as error:
        raise _explained(place, error) from None


def _read(place: Place, limit: int, parent: int) -> bytes:
    # Opening a device can already do something, so the kind is looked at before and, because it may be another by
    # then, after.
    _refuse_other_than_file(place, _status(place, parent))
    name = place.names[-1] if place.names else "."
    try:
        file = walk_by_path.open_file(place) if parent < 0 else os.open(name, os.O_RDONLY | _FILE, dir_fd=parent)
    except (OSError, ValueError) as error:
        raise _explained(place, error) from None
    try:
        _refuse_other_than_file(place, os.fstat(file))
        return _up_to(file, limit)
    except OSError as error:
        raise _explained(place, error) from None
    finally:
        os.close(file)


def _up_to(file: int, limit: int) -> bytes:
    pieces: list[bytes] = []
    while limit > 0 and (piece := os.read(file, min(limit, _PIECE))):
        pieces.append(piece)
        limit -= len(piece)
    return b"".join(pieces)


def _refuse_other_than_file(place: Place, status: os.stat_result) -> None:
    """Say why something is not a plain file, unless it is one."""
    match kind_of(status):
        case Kind.FILE:
            return
        case Kind.FOLDER:
            raise UnreadableFile(f"'{place.shown}' is a folder.", remedy="List it with list_directory.")
        case Kind.LINK:
            raise _link_refused(place)
        case Kind.OTHER if stat.S_ISREG(status.st_mode):
            raise OutsideWorkspace(
                f"'{place.shown}' is refused: the file has {status.st_nlink} names (hard links), and another one may be"
                " outside the workspace.",
                remedy="Ask the user to open it in the editor: an open buffer can be read.",
            )
        case Kind.OTHER:
            raise OutsideWorkspace(
                f"'{place.shown}' is refused: it is a device, a pipe or a socket and no file.",
                remedy="Choose a plain file.",
            )


def _link_refused(place: Place) -> OutsideWorkspace:
    """No link is followed, wherever it leads."""
    return OutsideWorkspace(
        f"'{place.shown}' is refused: it is, or is behind, a symbolic link, and links are not followed.",
        remedy="Name the file that the link leads to, if it is in the workspace.",
    )


def _explained(place: Place, error: Exception) -> OutsideWorkspace | UnreadableFile:
    """The failure of a call to the system, as ours."""
    number = error.errno if isinstance(error, OSError) else None
    if number in (errno.ENOENT, errno.ESTALE):
        return UnreadableFile(f"There is no '{place.shown}'.", remedy="Look for it with find_files or list_directory.")
    # A link where a folder should be is reported as either, depending on the system. So is a file in that place.
    if number in (errno.ELOOP, errno.ENOTDIR, errno.EMLINK):
        return OutsideWorkspace(
            f"'{place.shown}' is refused: a name in it is a symbolic link, and links are not followed, or it is no"
            " folder.",
            remedy="Look at the way to it with list_directory, and name what a link leads to, if that is inside.",
        )
    if number in (errno.EACCES, errno.EPERM):
        return UnreadableFile(f"The system does not let us read '{place.shown}'.", remedy="Choose another file.")
    if number == errno.ENXIO:
        return OutsideWorkspace(f"'{place.shown}' is refused: it is no file.", remedy="Choose a plain file.")
    why = error.strerror if isinstance(error, OSError) else "the system cannot take this name"
    return UnreadableFile(f"'{place.shown}' cannot be read: {why}.", remedy="Choose another file.")
