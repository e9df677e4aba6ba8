"""A model of an editor with a disk: buffers with versions, bytes with encodings, and a user who types.

It is the view and the proposer of the editing tools. Edits are made as an editor makes them: by positions, on the
version that they name, in the buffer. Files are saved only when somebody saves.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, TypeAlias

from ollm_lsp.core.applied import Applied, Done, Rejected, Stale
from ollm_lsp.core.change import Change, CreateFile, DeleteFile, EditText, Proposal, RenameFile
from ollm_lsp.core.errors import OutsideWorkspace, StoreFailed
from ollm_lsp.core.snapshot import Snapshot
from ollm_lsp.core.splices import splices, spots
from ollm_lsp.lsp.buffer import Position, PositionEncoding, Range, TextBuffer
from ollm_lsp.tools.roots import Place
from ollm_lsp.tools.walk import Kind

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable

    from ollm_lsp.core.ports import ToolRun

Answer: TypeAlias = "Callable[[Proposal], Awaitable[Applied | None]]"
"""What the user says: nothing is a yes."""
FOLDER = Path("/work")
MARK = b"\xef\xbb\xbf"


@dataclass
class Buffer:
    """An open document. Its encoding is what the editor found when it opened the file."""

    text: str
    encoding: str
    version: int = 1
    is_dirty: bool = False


async def yes(_: Proposal) -> None:
    """A user who allows everything."""


@dataclass
class ModelEditor:
    """Files by path, open documents by path, and a record of everything that was proposed and made."""

    disk: dict[str, bytes] = field(default_factory=dict[str, bytes])
    folders: set[str] = field(default_factory=lambda: {""})
    buffers: dict[str, Buffer] = field(default_factory=dict[str, Buffer])
    answer: Answer = yes
    shown: list[str] = field(default_factory=list[str])
    made: list[str] = field(default_factory=list[str])
    """The digests of what was shown and of what was made."""

    # the user's side

    def open(self, path: str, encoding: str = "utf-8") -> Buffer:
        data = self.disk[path]
        encoding = "utf-8-sig" if encoding == "utf-8" and data.startswith(MARK) else encoding
        self.buffers[path] = Buffer(data.decode(encoding), encoding)
        return self.buffers[path]

    def type(self, path: str, start: int, end: int, text: str) -> None:
        buffer = self.buffers[path]
        buffer.text = buffer.text[:start] + text + buffer.text[end:]
        buffer.version += 1
        buffer.is_dirty = True

    def save(self, path: str) -> None:
        buffer = self.buffers[path]
        self.disk[path] = buffer.text.encode(buffer.encoding)
        buffer.is_dirty = False

    def save_all(self) -> None:
        for path in self.buffers:
            self.save(path)

    def change_on_disk(self, path: str, data: bytes) -> None:
        """Somebody else writes the file. A clean buffer is read again, a dirty one stays."""
        self.disk[path] = data
        buffer = self.buffers.get(path)
        if buffer and not buffer.is_dirty:
            buffer.text = data.decode(buffer.encoding)
            buffer.version += 1

    # the tools' side

    def place(self, written: str) -> Place:
        names = tuple(name for name in written.removeprefix(f"{FOLDER}/").split("/") if name)
        if ".." in names:
            raise OutsideWorkspace(f"'{written}' leads out.", remedy="Stay inside.")
        return Place(FOLDER, names)

    async def read(self, place: Place) -> Snapshot:
        return self.snapshot("/".join(place.names))

    async def kind(self, place: Place) -> Kind | None:
        path = "/".join(place.names)
        if path in self.buffers or path in self.disk:
            return Kind.FILE
        return Kind.FOLDER if path in self.folders else None

    def snapshot(self, path: str) -> Snapshot:
        uri = Place(FOLDER, (path,)).uri
        if buffer := self.buffers.get(path):
            return Snapshot(uri, buffer.text, buffer.version)
        try:
            return Snapshot(uri, self.disk[path].removeprefix(MARK).decode())
        except (KeyError, UnicodeDecodeError) as error:
            raise StoreFailed(f"'{path}' cannot be read ({error!r}).", remedy="Leave it.") from None

    async def propose(self, proposal: Proposal, run: ToolRun) -> Applied:
        self.shown.append(proposal.digest)
        with run.asking():
            refused = await self.answer(proposal)
        if refused is not None:
            return refused
        for change in proposal.changes:
            if not self._fits(change):
                return Stale(change.uri)
        self.made.append(proposal.digest)
        for change in proposal.changes:
            self._make(change)
        return Done()

    def _fits(self, change: Change) -> bool:
        """Whether the documents are what a change was computed on. A buffer is known by its version alone."""
        match change:
            case EditText(uri, base) | DeleteFile(uri, base):
                path = path_of(uri)
                if buffer := self.buffers.get(path):
                    return buffer.version == base.version
                return path in self.disk and base.version is None and self.snapshot(path).text == base.text
            case CreateFile(uri):
                return path_of(uri) not in self.disk
            case RenameFile(uri, new_uri):
                return path_of(uri) in self.disk and path_of(new_uri) not in self.disk

    def _make(self, change: Change) -> None:
        match change:
            case EditText(uri, base, text):
                path = path_of(uri)
                buffer = self.buffers.get(path) or self.open(path)
                assert buffer.text == base.text, "an edit was made on a text that it was not computed on"
                edited = TextBuffer(buffer.text, PositionEncoding.UTF16)
                for start, end, new in reversed(spots(base.text, splices(base.text, text))):
                    places = (Position(spot.line, len(spot.before.encode("utf-16-le")) // 2) for spot in (start, end))
                    edited.edit(Range(*places), new)
                self.type(path, 0, len(buffer.text), edited.text)
            case CreateFile(uri, text):
                self.disk[path_of(uri)] = text.encode()
            case RenameFile(uri, new_uri):
                path, new_path = path_of(uri), path_of(new_uri)
                self.disk[new_path] = self.disk.pop(path)
                if path in self.buffers:
                    self.buffers[new_path] = self.buffers.pop(path)
            case DeleteFile(uri):
                del self.disk[path_of(uri)]
                self.buffers.pop(path_of(uri), None)


def path_of(uri: str) -> str:
    """The path that an address of the model's workspace is for."""
    return uri.removeprefix(f"{FOLDER.as_uri()}/")


def no(feedback: str | None = None) -> Answer:
    """A user who allows nothing."""

    async def answer(_: Proposal) -> Rejected:
        return Rejected(feedback)

    return answer
