"""The documents that the editor has open: their unsaved text is the truth."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass
from typing import TYPE_CHECKING

from ollm_lsp.lsp import uris
from ollm_lsp.lsp.buffer import TextBuffer

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from ollm_lsp.lsp.buffer import PositionEncoding
    from ollm_lsp.lsp.protocol import ContentChange, TextDocumentItem


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
        self._encoding = encoding
        self._open: dict[str, Document] = {}
        self._changed = asyncio.Event()

    def open(self, item: TextDocumentItem) -> None:
        buffer = TextBuffer(item.text, self._encoding)
        self._use(uris.key(item.uri), Document(item.uri, item.language_id, item.version, buffer))

    def change(self, uri: str, version: int, changes: Sequence[ContentChange]) -> bool:
        """Apply the changes in their order; false when the document is not open."""
        key = uris.key(uri)
        document = self._open.get(key)
        if document is None:
            return False
        for change in changes:
            if change.range is None:
                document.buffer.replace_all(change.text)
            else:
                document.buffer.edit(change.range, change.text)
        document.version = version
        self._use(key, document)
        return True

    def close(self, uri: str) -> None:
        self._open.pop(uris.key(uri), None)
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
