"""The documents that the editor has open: their unsaved text is the truth."""

from __future__ import annotations

import asyncio
from contextlib import contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING, TypeAlias

from ollm_lsp.lsp import uris
from ollm_lsp.lsp.buffer import TextBuffer

if TYPE_CHECKING:
    from collections.abc import Callable, Generator, Sequence

    from ollm_lsp.core.splices import Splice
    from ollm_lsp.lsp.buffer import PositionEncoding
    from ollm_lsp.lsp.standard import ContentChange, TextDocumentItem


Follower: TypeAlias = "Callable[[Sequence[str], Sequence[Splice]], None]"
"""Hears the texts of a document before, between and after its changes, and the changes; none when it is closed."""


@dataclass(slots=True)
class Document:
    """One open document."""

    uri: str
    language_id: str
    version: int
    buffer: TextBuffer

    @property
    def path(self) -> str:
        return uris.display_path(self.uri)


class Documents:
    """All open documents, the one used last at the end."""

    def __init__(self, encoding: PositionEncoding) -> None:
        self.encoding = encoding
        self._open: dict[str, Document] = {}
        self._changed = asyncio.Event()
        self._followers: dict[str, Follower] = {}

    def open(self, item: TextDocumentItem) -> None:
        buffer = TextBuffer(item.text, self.encoding)
        self._use(uris.key(item.uri), Document(item.uri, item.language_id, item.version, buffer))

    def change(self, uri: str, version: int, changes: Sequence[ContentChange]) -> bool:
        """Apply the changes in their order; false when the document is not open."""
        key = uris.key(uri)
        document = self._open.get(key)
        if document is None:
            return False
        follower = self._followers.get(key)
        states: list[str] = [document.buffer.text] if follower else []
        splices: list[Splice] = []
        for change in changes:
            if follower:
                splices.append(_splice(document.buffer, change))
            if change.range is None:
                document.buffer.replace_all(change.text)
            else:
                document.buffer.edit(change.range, change.text)
            if follower:
                states.append(document.buffer.text)
        document.version = version
        if follower:
            follower(states, splices)
        self._use(key, document)
        return True

    @contextmanager
    def following(self, uri: str, follower: Follower) -> Generator[None]:
        """Let one follower at a time hear every change of a document, before anybody else knows of it."""
        self._followers[uris.key(uri)] = follower
        try:
            yield
        finally:
            del self._followers[uris.key(uri)]

    def close(self, uri: str) -> None:
        self._open.pop(uris.key(uri), None)
        if follower := self._followers.get(uris.key(uri)):
            follower((), ())
        self._tell()

    def get(self, uri: str) -> Document | None:
        return self._open.get(uris.key(uri))

    def recent(self) -> list[Document]:
        """All open documents, the one used last first."""
        return list(reversed(self._open.values()))

    def _use(self, key: str, document: Document) -> None:
        self._open.pop(key, None)
        self._open[key] = document
        self._tell()

    async def until(self, condition: Callable[[], bool], *, seconds: float) -> bool:
        """Wait for something that the documents' changes make true; whether it came to be in that time."""
        try:
            async with asyncio.timeout(seconds):
                while not condition():
                    await self._changed.wait()
        except TimeoutError:
            return condition()
        return True

    def _tell(self) -> None:
        """Wake whoever waits for a change, without a trace for who comes later."""
        self._changed.set()
        self._changed = asyncio.Event()


def _splice(buffer: TextBuffer, change: ContentChange) -> Splice:
    """A change by offsets; of a whole new text, what differs."""
    from ollm_lsp.core.splices import Splice, one_splice  # noqa: PLC0415 (start-up time)

    if change.range is None:
        return one_splice(buffer.text, change.text)
    start, end = buffer.offsets(change.range)
    return Splice(start, end, change.text)
