"""LSP messages over this process's standard input and output."""

from __future__ import annotations

import asyncio
import logging
import os
import stat
import sys
import threading
from typing import TYPE_CHECKING, BinaryIO, Protocol

if TYPE_CHECKING:
    from collections.abc import Callable

MAX_HEADER = 64 * 1024
MAX_MESSAGE = 256 * 1024 * 1024
HIGH_WATER = 1024 * 1024
"""Bytes that may wait for a slow client before a stream is paused."""

logger = logging.getLogger(__name__)


class FramingError(Exception):
    """The input is not a sequence of LSP messages; nothing after it can be trusted."""


class Writer(Protocol):
    """Where messages go."""

    def write(self, data: bytes) -> None: ...

    async def drain(self) -> None:
        """Wait while the client is behind."""
        ...

    def close(self) -> None: ...


def take_over() -> tuple[BinaryIO, BinaryIO]:
    """Private copies of standard input and output.

    From now on whatever prints goes to standard error, and children read nothing: the protocol is ours alone.
    """
    incoming, outgoing = os.dup(0), os.dup(1)
    silence = os.open(os.devnull, os.O_RDONLY)
    os.dup2(silence, 0)
    os.close(silence)
    os.dup2(2, 1)
    return os.fdopen(incoming, "rb", buffering=0), os.fdopen(outgoing, "wb", buffering=0)


async def connect(incoming: BinaryIO, outgoing: BinaryIO) -> tuple[asyncio.StreamReader, Writer]:
    """Connect the event loop to both ends: directly where it can wait for them, else by threads."""
    loop = asyncio.get_running_loop()
    reader = asyncio.StreamReader(limit=MAX_HEADER, loop=loop)
    if _can_be_awaited(incoming):
        await loop.connect_read_pipe(lambda: asyncio.StreamReaderProtocol(reader), incoming)
    else:
        threading.Thread(target=_pump, args=(incoming, reader, loop), daemon=True).start()
    if not _can_be_awaited(outgoing):
        return reader, ThreadWriter(outgoing, loop)
    flow = _Flow()
    transport, _ = await loop.connect_write_pipe(lambda: flow, outgoing)
    transport.set_write_buffer_limits(high=HIGH_WATER)
    return reader, PipeWriter(transport, flow)


def _can_be_awaited(stream: BinaryIO) -> bool:
    """Pipes and sockets on POSIX. Files and devices are always ready, and Windows cannot wait for its pipes."""
    mode = os.fstat(stream.fileno()).st_mode
    return sys.platform != "win32" and (stat.S_ISFIFO(mode) or stat.S_ISSOCK(mode))


async def read_messages(reader: asyncio.StreamReader, receive: Callable[[bytes], None]) -> None:
    """Hand over each message's body until the input ends."""
    while (length := await _read_header(reader)) is not None:
        try:
            body = await reader.readexactly(length)
        except asyncio.IncompleteReadError:
            return
        try:
            receive(body)
        except Exception:
            logger.exception("A message could not be handled")


async def _read_header(reader: asyncio.StreamReader) -> int | None:
    """The length of the next message, or nothing at the end of the input."""
    try:
        header = await reader.readuntil(b"\r\n\r\n")
    except asyncio.IncompleteReadError:
        return None
    except asyncio.LimitOverrunError:
        raise FramingError("a message header without end") from None
    for line in header.split(b"\r\n"):
        name, _, value = line.partition(b":")
        if name.strip().lower() == b"content-length":
            text = value.strip()
            digits = text.lstrip(b"0") or b"0"
            if not text.isdigit() or len(digits) > 12 or int(digits) > MAX_MESSAGE:
                raise FramingError("a message of impossible length")
            return int(digits)
    raise FramingError("a message header without Content-Length")


class _Flow(asyncio.BaseProtocol):
    """Knows whether the client is behind."""

    def __init__(self) -> None:
        self.ready = asyncio.Event()
        self.ready.set()

    def pause_writing(self) -> None:
        self.ready.clear()

    def resume_writing(self) -> None:
        self.ready.set()

    def connection_lost(self, exc: Exception | None) -> None:  # noqa: ARG002 (asyncio's signature)
        self.ready.set()


class PipeWriter:
    """Writes through the event loop: a client that does not read never blocks the server."""

    def __init__(self, transport: asyncio.WriteTransport, flow: _Flow) -> None:
        self._transport = transport
        self._flow = flow

    def write(self, data: bytes) -> None:
        if not self._transport.is_closing():
            self._transport.write(data)

    async def drain(self) -> None:
        await self._flow.ready.wait()

    def close(self) -> None:
        self._transport.close()


class ThreadWriter:
    """Writes from a thread, where the event loop cannot."""

    def __init__(self, stream: BinaryIO, loop: asyncio.AbstractEventLoop) -> None:
        self._stream = stream
        self._loop = loop
        self._waiting: list[bytes] = []
        self._size = 0
        self._closed = False
        self._work = threading.Condition()
        self._drained = asyncio.Event()
        self._drained.set()
        self._thread = threading.Thread(target=self._run, daemon=True)
        self._thread.start()

    def write(self, data: bytes) -> None:
        with self._work:
            self._waiting.append(data)
            self._size += len(data)
            if self._size > HIGH_WATER:
                self._drained.clear()
            self._work.notify()

    async def drain(self) -> None:
        await self._drained.wait()

    def close(self) -> None:
        """Write what is waiting, for a second at most."""
        with self._work:
            self._closed = True
            self._work.notify()
        self._thread.join(1.0)

    def _run(self) -> None:
        while True:
            with self._work:
                while not self._waiting and not self._closed:
                    self._work.wait()
                if not self._waiting:
                    return
                data, self._waiting, self._size = b"".join(self._waiting), [], 0
            try:
                view = memoryview(data)
                while view:
                    view = view[self._stream.write(view) :]
            except OSError:
                return
            finally:
                self._loop.call_soon_threadsafe(self._drained.set)


def _pump(incoming: BinaryIO, reader: asyncio.StreamReader, loop: asyncio.AbstractEventLoop) -> None:
    """Feed the reader from a thread. The loop may be gone when the input ends."""
    try:
        while data := incoming.read(MAX_HEADER):
            loop.call_soon_threadsafe(reader.feed_data, data)
        loop.call_soon_threadsafe(reader.feed_eof)
    except (OSError, RuntimeError):
        return
