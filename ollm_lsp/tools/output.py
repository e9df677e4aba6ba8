"""The output of a program, of which only the beginning and the end are kept when it is long."""

from __future__ import annotations

from collections import deque
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from asyncio import StreamReader

MAX_HEAD = 10_000
MAX_TAIL = 20_000
"""Bytes. Most of it is from the end, where programs say what went wrong."""
_PIECE = 1 << 16


class Output:
    """What a stream has brought so far."""

    def __init__(self) -> None:
        self._head = b""
        self._tail: deque[bytes] = deque()
        self._in_tail = 0
        self._total = 0

    async def take(self, stream: StreamReader) -> None:
        while piece := await stream.read(_PIECE):
            self.add(piece)

    def add(self, piece: bytes) -> None:
        self._total += len(piece)
        fits = MAX_HEAD - len(self._head)
        self._head += piece[:fits]
        if rest := piece[fits:]:
            self._tail.append(rest)
            self._in_tail += len(rest)
            while self._in_tail - len(self._tail[0]) >= MAX_TAIL:
                self._in_tail -= len(self._tail.popleft())

    @property
    def text(self) -> str:
        """All of it, or its beginning and its end around a line that says what is missing."""
        tail = b"".join(self._tail)[-MAX_TAIL:]
        missing = self._total - len(self._head) - len(tail)
        gap = f"\n[{missing:,} bytes left out]\n".encode() if missing else b""
        return (self._head + gap + tail).decode(errors="replace")
