"""Messages survive the way through a stream, and what is no message is refused."""

from __future__ import annotations

import asyncio

import pytest

from ollm_lsp.terminal.framing import FramingError, encode, read_message


def reader_of(content: bytes) -> asyncio.StreamReader:
    reader = asyncio.StreamReader(limit=1 << 16)
    reader.feed_data(content)
    reader.feed_eof()
    return reader


async def test_what_is_encoded_can_be_read() -> None:
    reader = reader_of(encode({"id": 1, "method": "é漢\ud800"}) + encode({"id": 2, "result": "x" * 200_000}))
    assert await read_message(reader) == {"jsonrpc": "2.0", "id": 1, "method": "é漢\ud800"}
    assert await read_message(reader) == {"jsonrpc": "2.0", "id": 2, "result": "x" * 200_000}
    assert await read_message(reader) is None


async def test_header_names_may_be_written_in_any_case() -> None:
    head = b"content-TYPE: application/vscode-jsonrpc\r\nCONTENT-length: 2\r\n\r\n{}"
    assert await read_message(reader_of(head)) == {}


@pytest.mark.parametrize("end", range(len(encode({"id": 1}))))
async def test_a_message_cut_anywhere_is_the_end(end: int) -> None:
    assert await read_message(reader_of(encode({"id": 1})[:end])) is None


@pytest.mark.parametrize(
    "content",
    [
        b"Traceback (most recent call last)\n",
        b"\r\n",
        b"Content-Length: two\r\n\r\n{}",
        b"Content-Length: -2\r\n\r\n{}",
        b"Content-Length: 99999999999\r\n\r\n{}",
        b"Content-Length: 2\r\n\r\n[]",
        b"Content-Length: 2\r\n\r\n{]",
        b"Content-Length: 2\r\n\r\n\xff\xff",
        b"Content-Length: 100000\r\n\r\n" + b"[" * 100_000,
        b"x" * 200_000 + b"\n",
    ],
)
async def test_what_is_not_lsp_is_refused(content: bytes) -> None:
    with pytest.raises(FramingError):
        await read_message(reader_of(content))
