r"""A path as somebody wrote it, taken apart by rules only: nothing here looks at a disk.

Every doubt is a no. A path may be relative, absolute or a `file:` address, of the platform that the folders are of.
What some platform would read as something else than a chain of names is refused: shares, devices, streams and short
names on Windows, drives and backslashes elsewhere, and control characters everywhere.
"""

from __future__ import annotations

import re
from pathlib import PurePath, PureWindowsPath
from typing import TYPE_CHECKING
from urllib.parse import unquote_to_bytes

from ollm_lsp.core.errors import OutsideWorkspace
from ollm_lsp.core.visible import visible_name

if TYPE_CHECKING:
    from collections.abc import Sequence

LONGEST = 4096
_CONTROL = re.compile(r"[\x00-\x1f\x7f-\x9f\u2028\u2029\ud800-\udfff]")
_ADDRESS = re.compile(r"(?P<scheme>[A-Za-z][A-Za-z0-9+.-]+):(?P<rest>.*)", re.DOTALL)
_DRIVE = re.compile(r"[A-Za-z]:(?=[\\/]|$)")
_DEVICE = re.compile(r"(?:con|prn|aux|nul|conin\$|conout\$|com[0-9¹²³]|lpt[0-9¹²³]|clock\$)(?:\..*)?", re.IGNORECASE)
_SHORT_NAME = re.compile(r"[^.]{1,6}~[0-9]+(?:\.[^.]{0,3})?")
_NOT_IN_A_WINDOWS_NAME = re.compile(r'[<>:"|?*]')
_RELATIVE = "Write a path relative to the workspace, such as src/main.py."


def refused(written: str, why: str, remedy: str = _RELATIVE) -> OutsideWorkspace:
    """The refusal of a path, which is shown but shortened and without anything that acts on a display."""
    shown = visible_name(written[:200]) + ("…" if len(written) > 200 else "")
    return OutsideWorkspace(f"The path '{shown}' is refused: {why}.", remedy=remedy)


def absolute(written: str, folders: Sequence[PurePath]) -> tuple[int, tuple[str, ...]] | None:
    """The folder that a path is below, and the names below it; nothing when the path is relative."""
    on_windows = isinstance(folders[0], PureWindowsPath) if folders else False
    path = _local_path(written, on_windows=on_windows)
    if on_windows:
        path = path.replace("\\", "/")
        if not _DRIVE.match(path):
            if path.startswith("/"):
                raise refused(written, "it does not say on which drive it is, or is a share or a device")
            return None
    elif _DRIVE.match(path):
        raise refused(written, "it begins with a drive, and there are none here")
    elif not path.startswith("/"):
        return None
    names = _names(written, path.split("/")[1:], on_windows=on_windows, may_climb=True)
    anchored = path[:2].casefold() if on_windows else ""
    candidates: list[tuple[int, int]] = []
    for index, folder in enumerate(folders):
        own = tuple(folder.parts[1:])
        drive = folder.drive.casefold() if on_windows else ""
        if drive == anchored and _same(names[: len(own)], own, on_windows=on_windows):
            candidates.append((len(own), index))
    if not candidates:
        raise refused(written, "it is in none of the workspace's folders")
    length, index = max(candidates, key=lambda found: found[0])
    return index, names[length:]


def relative(written: str, *, on_windows: bool) -> tuple[str, ...]:
    """The names in a relative path; one that climbs out of where it begins is refused."""
    path = written.replace("\\", "/") if on_windows else written
    return _names(written, path.split("/"), on_windows=on_windows, may_climb=False)


def _local_path(written: str, *, on_windows: bool) -> str:
    """The path itself, after everything was refused that holds for every kind of path."""
    if not written.strip():
        raise refused(written, "it is empty")
    if len(written) > LONGEST:
        raise refused(written, "it is too long")
    address = _ADDRESS.fullmatch(written)
    path = written
    if address and address["scheme"].casefold() == "file":
        path = _path_of(written, address["rest"], on_windows=on_windows)
    elif address and address["rest"].startswith("//"):
        raise refused(written, "it is an address and no file")
    if _CONTROL.search(path):
        raise refused(written, "it has a character that no path needs")
    return path


def _path_of(written: str, rest: str, *, on_windows: bool) -> str:
    if rest.startswith("//"):
        host, slash, path = rest[2:].partition("/")
        if host.casefold() not in ("", "localhost"):
            raise refused(written, "it is on another machine")
        rest = slash + path
    if not rest.startswith("/"):
        raise refused(written, "a file: address needs a whole path")
    try:
        path = unquote_to_bytes(rest).decode()
    except UnicodeDecodeError:
        raise refused(written, "it is not UTF-8") from None
    return path[1:] if on_windows and _DRIVE.match(path, 1) else path


def _names(written: str, parts: Sequence[str], *, on_windows: bool, may_climb: bool) -> tuple[str, ...]:
    names: list[str] = []
    for part in parts:
        if part in ("", "."):
            continue
        if part == "..":
            if not names:
                if may_climb:
                    continue  # above the top there is only the top
                raise refused(written, "it leads out of the workspace")
            names.pop()
            continue
        if why := _wrong_with(part, on_windows=on_windows):
            raise refused(written, why)
        names.append(part)
    return tuple(names)


def _wrong_with(name: str, *, on_windows: bool) -> str | None:
    if not on_windows:
        if "\\" in name:
            return "it has a backslash; names are separated by '/'"
        return "a name in it is too long" if len(name.encode()) > 255 else None
    if _NOT_IN_A_WINDOWS_NAME.search(name):
        return "it has a character that no file name has, or names a stream"
    if _DEVICE.fullmatch(name):
        return "it names a device"
    if name.endswith((".", " ")) or name.startswith(" "):
        return "a name in it begins or ends with what Windows leaves out"
    if _SHORT_NAME.fullmatch(name):
        return "it has a short name; write the long one"
    return None


def _same(names: tuple[str, ...], others: tuple[str, ...], *, on_windows: bool) -> bool:
    if on_windows:
        return [name.casefold() for name in names] == [name.casefold() for name in others]
    return names == others
