"""Framing: JSON-RPC messages with their headers, as LSP sends them over a stream."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any, cast

if TYPE_CHECKING:
    import asyncio

_LONGEST_MESSAGE = 1 << 28


class FramingError(Exception):
    """What came is not LSP."""


def encode(message: dict[str, Any]) -> bytes:
    """The message with its header; JSON without Unicode, so that a lone surrogate cannot break it."""
    body = json.dumps({"jsonrpc": "2.0", **message}, separators=(",", ":")).encode()
    return b"Content-Length: %d\r\n\r\n%b" % (len(body), body)


async def read_message(reader: asyncio.StreamReader) -> dict[str, Any] | None:
    """The next message, or nothing when the stream has ended, be it within a message."""
    length = await _read_headers(reader)
    if length is None:
        return None
    try:
        message = json.loads(await reader.readexactly(length))
    except EOFError:
        return None
    except (ValueError, RecursionError) as error:
        raise FramingError(f"a message that is not JSON ({error})") from None
    if not isinstance(message, dict):
        raise FramingError("a message that is not an object")
    return cast("dict[str, Any]", message)


async def _read_headers(reader: asyncio.StreamReader) -> int | None:
    length: int | None = None
    while True:
        try:
            line = await reader.readline()
        except ValueError:
            raise FramingError("a header without end") from None
        if not line.endswith(b"\n"):
            return None
        if not line.strip():
            if length is None:
                raise FramingError("a message without Content-Length")
            return length
        name, colon, value = line.partition(b":")
        if not colon:
            raise FramingError(repr(line[:80].decode(errors="replace").strip()))
        if name.strip().lower() == b"content-length":
            length = _length(value)


def _length(value: bytes) -> int:
    digits = value.strip()
    if not digits.isdigit() or int(digits) > _LONGEST_MESSAGE:
        raise FramingError(f"a length of {digits[:20].decode(errors='replace')!r}")
    return int(digits)
