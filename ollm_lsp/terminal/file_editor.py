"""The terminal as an editor: its open files, and the one place here that changes files, as the server asks.

The server asks for a change only after a permission. What a file says is compared once more before it is written: with
the open buffer, or with the text that the user was shown. Every file is replaced as a whole or left as it is.
"""

from __future__ import annotations

import errno
import os
import tempfile
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit
from urllib.request import url2pathname

from ollm_lsp.core.lines import body, split
from ollm_lsp.processes.holding import held
from ollm_lsp.terminal.buffers import Buffer, language_of
from ollm_lsp.terminal.payload import Payload

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

_MARK = b"\xef\xbb\xbf"
_NO_LINKS = (errno.EPERM, errno.ENOTSUP, errno.EOPNOTSUPP, errno.ENOSYS, errno.EMLINK)
"""What a file system says that knows no second names for a file."""


class Refused(Exception):
    """A change that is not made; the message tells why."""


class FileEditor:
    """The files of one folder. `notify` tells the server what became of those that are open."""

    def __init__(self, folder: Path, buffers: Sequence[Buffer], notify: Callable[[str, Any], None]) -> None:
        self._folder = folder.resolve()
        self._notify = notify
        self._open: dict[Path, tuple[str, int]] = {}
        """The text and the version of each open file."""
        self._shown: dict[Path, str] = {}
        """What files will say after the changes that the user has allowed."""
        for buffer in buffers:
            self._opened(path_of(buffer.uri), buffer)

    def remember(self, changes: Sequence[Payload]) -> None:
        """Take note of what the user was shown and has allowed."""
        for change in changes:
            if isinstance(text := change.get("newText"), str):
                self._shown[path_of(change.text("uri"))] = text

    def apply(self, params: Any) -> dict[str, Any]:
        """Make the steps of a `workspace/applyEdit` in their order, up to the first that cannot be made."""
        for number, step in enumerate(Payload(params).payload("edit").payloads("documentChanges")):
            try:
                self._make(step)
            except (Refused, OSError) as error:
                reason = error.strerror if isinstance(error, OSError) and error.strerror else str(error)
                return {"applied": False, "failureReason": reason, "failedChange": number}
        return {"applied": True}

    def _make(self, step: Payload) -> None:
        match step.text("kind"):
            case "create":
                path = self._inside(step.text("uri"))
                path.parent.mkdir(parents=True, exist_ok=True)
                path.touch(exist_ok=False)
            case "rename":
                self._rename(self._inside(step.text("oldUri")), self._inside(step.text("newUri")))
            case "delete":
                path = self._inside(step.text("uri"))
                path.unlink()
                self._closed(path)
            case "":
                document = step.payload("textDocument")
                self._edit(self._inside(document.text("uri")), document.get("version"), step.payloads("edits"))
            case kind:
                raise Refused(f"there is no way to {kind} a file")

    def _rename(self, path: Path, new_path: Path) -> None:
        new_path.parent.mkdir(parents=True, exist_ok=True)
        move(path, new_path)
        if path in self._open:
            text, _ = self._open[path]
            self._closed(path)
            self._opened(new_path, Buffer(new_path.as_uri(), language_of(new_path.name), text))

    def _edit(self, path: Path, version: Any, edits: Sequence[Payload]) -> None:
        content = path.read_bytes()
        mark, text = (_MARK if content.startswith(_MARK) else b""), _decoded(content.removeprefix(_MARK))
        known = self._open.get(path)
        if known is not None and known != (text, version):
            raise Refused(f"{path.name} has changed since it was opened")
        new_text = _edited(text, edits)
        expected = self._shown.pop(path, None)
        if expected is not None and expected != new_text:
            raise Refused(f"{path.name} has changed since you were asked")
        put_in_place(path, mark + new_text.encode())
        if known is not None:
            self._open[path] = new_text, known[1] + 1
            document = {"uri": path.as_uri(), "version": known[1] + 1}
            change = {"textDocument": document, "contentChanges": [{"text": new_text}]}
            self._notify("textDocument/didChange", change)

    def _opened(self, path: Path, buffer: Buffer) -> None:
        self._open[path] = buffer.text, 1
        self._notify("textDocument/didOpen", {"textDocument": buffer.item})

    def _closed(self, path: Path) -> None:
        if self._open.pop(path, None):
            self._notify("textDocument/didClose", {"textDocument": {"uri": path.as_uri()}})

    def _inside(self, uri: str) -> Path:
        path = path_of(uri)
        if path.is_symlink() or not path.resolve().is_relative_to(self._folder):
            raise Refused(f"{path} is not a file of {self._folder}")
        return path


def path_of(uri: str) -> Path:
    """The file of an address."""
    return Path(url2pathname(urlsplit(uri).path))


def _decoded(content: bytes) -> str:
    try:
        return content.decode()
    except UnicodeDecodeError:
        raise Refused("the file is not UTF-8 text") from None


def _edited(text: str, edits: Sequence[Payload]) -> str:
    """The text after edits that do not overlap, whose positions are in UTF-8."""
    lines = split(text)
    starts = [0]
    for line in lines:
        starts.append(starts[-1] + len(line))

    def offset(position: Payload) -> int:
        line, character = position.number("line"), position.number("character")
        if not isinstance(line, int) or not isinstance(character, int) or not 0 <= line <= len(lines) or character < 0:
            raise Refused("an edit is outside of the file")
        before = body(lines[line]).encode()[:character] if line < len(lines) else b""
        if len(before) < character:
            raise Refused("an edit is outside of the file")
        return starts[line] + len(_decoded(before))

    places = [
        (offset(edit.payload("range").payload("start")), offset(edit.payload("range").payload("end")), edit)
        for edit in edits
    ]
    end = len(text)
    # From the end, so that earlier places stay true.
    for start, stop, edit in sorted(places, key=lambda place: place[:2], reverse=True):
        if not start <= stop <= end:
            raise Refused("the edits overlap")
        text, end = text[:start] + edit.text("newText") + text[stop:], start
    return text


def move(path: Path, new_path: Path) -> None:
    """Give a file or folder another name, never over another one, also when that appears in the same moment."""
    if os.path.lexists(new_path):
        raise Refused(f"{new_path} is already there")
    try:
        if path.is_dir() or not _linked(path, new_path):
            path.rename(new_path)
    except FileExistsError:
        raise Refused(f"{new_path} is already there") from None
    except OSError as error:
        if error.errno != errno.EXDEV:
            raise
        raise Refused(f"{new_path} is on another file system than {path}, which must be moved by hand") from None


def _linked(path: Path, new_path: Path) -> bool:
    """A second name and then only that one: a rename would take the place of whatever is there."""
    try:
        new_path.hardlink_to(path)
    except OSError as error:
        if error.errno in _NO_LINKS:
            return False
        raise
    path.unlink()
    return True


def put_in_place(path: Path, content: bytes) -> None:
    """Put a new content in the place of a file; whoever reads it meanwhile reads the old one or the new one."""
    _sweep(path)
    descriptor, name = tempfile.mkstemp(dir=path.parent, prefix=_beginning(path))
    try:
        with held(Path(name)):
            with os.fdopen(descriptor, "wb") as file:
                file.write(content)
                file.flush()
                os.fsync(file.fileno())
            Path(name).chmod(path.stat().st_mode & 0o7777)
            Path(name).replace(path)
    except BaseException:
        with suppress(OSError):
            Path(name).unlink()
        raise


def _beginning(path: Path) -> str:
    return f".{path.name}.ollm-"


def _sweep(path: Path) -> None:
    """Remove what a killed process was about to put in this place."""
    with suppress(OSError):
        for left in [one for one in path.parent.iterdir() if one.name.startswith(_beginning(path))]:
            with suppress(OSError), held(left) as is_left:
                if is_left:
                    left.unlink()
