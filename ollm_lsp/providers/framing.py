"""Bytes to frames: server-sent events and newline-delimited JSON, the same however the input was cut.

Invariants, guarded by tests/providers/test_framing.py:

- the frames depend on the bytes alone, never on where a chunk ends;
- only CR and LF end a line: U+2028, U+0085 and form feed are text;
- whole lines are decoded, so that a character cut in two stays one character;
- nothing longer than `max_line` bytes is kept, and every byte is searched once.

A framer that raised is spent: what it delivered stays valid, but it is not to be fed again.
"""

from __future__ import annotations

from typing import NamedTuple

from ollm_lsp.core.errors import MalformedAnswer

MAX_LINE = 32 * 1024 * 1024
"""How long a line, or the joined data of one event, may be, in bytes."""

_BOM = b"\xef\xbb\xbf"


class SseEvent(NamedTuple):
    """A server-sent event: its data lines joined by LF, and its name."""

    data: str
    event: str = "message"


class SseFramer:
    """Frames an event stream after the WHATWG rules; `id` and `retry` are accepted and ignored.

    There are two departures, both for the sake of JSON: an event whose data is empty is never delivered,
    and one that the end of input cut short is, because real servers leave out the last blank line.
    """

    __slots__ = ("_data", "_event", "_lines", "_max")

    def __init__(self, max_line: int = MAX_LINE) -> None:
        self._max = max_line
        self._lines = _LineSplitter(max_line)
        self._data: bytes | bytearray | None = None
        self._event = "message"

    def feed(self, chunk: bytes) -> list[SseEvent]:
        return self._read(self._lines.feed(chunk))

    def close(self) -> list[SseEvent]:
        return self._read([*self._lines.close(), b""])

    def _read(self, lines: list[bytes]) -> list[SseEvent]:
        events: list[SseEvent] = []
        data, event = self._data, self._event
        for line in lines:
            if not line:
                if data:
                    events.append(SseEvent(data.decode("utf-8", "replace"), event))
                data, event = None, "message"
                continue
            field, _, value = line.partition(b":")
            value = value.removeprefix(b" ")
            if field == b"data":
                data = value if data is None else self._join(data, value)
            elif field == b"event":
                event = value.decode("utf-8", "replace") or "message"
        self._data, self._event = data, event
        return events

    def _join(self, data: bytes | bytearray, value: bytes) -> bytearray:
        if len(data) + 1 + len(value) > self._max:
            raise _too_long("event", self._max)
        joined = data if isinstance(data, bytearray) else bytearray(data)
        joined += b"\n"
        joined += value
        return joined


class NdjsonFramer:
    """Frames lines of JSON; it skips blank lines and leaves the JSON to its reader."""

    __slots__ = ("_lines",)

    def __init__(self, max_line: int = MAX_LINE) -> None:
        self._lines = _LineSplitter(max_line)

    def feed(self, chunk: bytes) -> list[str]:
        return [line.decode("utf-8", "replace") for line in self._lines.feed(chunk) if line.strip()]

    def close(self) -> list[str]:
        return [line.decode("utf-8", "replace") for line in self._lines.close() if line.strip()]


class _LineSplitter:
    """Cuts bytes into lines at LF, CRLF and CR, and drops a byte order mark at the start of input."""

    __slots__ = ("_after_cr", "_at_start", "_max", "_pending")

    def __init__(self, max_line: int) -> None:
        self._max = max_line
        self._pending = bytearray()
        self._after_cr = False
        self._at_start = True

    def feed(self, chunk: bytes) -> list[bytes]:
        if self._after_cr and chunk:
            self._after_cr = False
            chunk = chunk.removeprefix(b"\n")  # that CR ended its line at once, so this LF ends none
        if b"\r" in chunk:
            self._after_cr = chunk.endswith(b"\r")
            chunk = chunk.replace(b"\r\n", b"\n").replace(b"\r", b"\n")
        lines = chunk.split(b"\n")
        unended = lines.pop()
        size = len(self._pending) + len(chunk)
        if lines and self._pending:
            lines[0] = b"".join((self._pending, lines[0]))
            self._pending.clear()
        if unended:
            self._pending += unended
        if size > self._max and max(map(len, (self._pending, *lines))) > self._max:
            raise _too_long("line", self._max)
        if self._at_start and lines:
            self._at_start = False
            lines[0] = lines[0].removeprefix(_BOM)
        return lines

    def close(self) -> list[bytes]:
        return self.feed(b"\n") if self._pending else []


def _too_long(what: str, limit: int) -> MalformedAnswer:
    return MalformedAnswer(
        f"The provider sent one {what} of more than {limit:,} bytes, which is the limit.",
        remedy="Check that the provider's address is that of a model server, or ask for a shorter answer.",
    )
