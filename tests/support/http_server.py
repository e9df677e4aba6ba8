"""A small HTTP/1.1 server whose every misbehaviour a test can choose. One request per connection."""

from __future__ import annotations

import asyncio
import json
import socket
import struct
from contextlib import suppress
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Self, TypeAlias

if TYPE_CHECKING:
    import ssl
    from collections.abc import Awaitable, Callable, Mapping

REASONS = {200: "OK", 204: "No Content", 307: "Temporary Redirect", 400: "Bad Request", 404: "Not Found"}


@dataclass(frozen=True)
class Request:
    """What a client asked. The names of headers are in lower case."""

    method: str
    path: str
    headers: Mapping[str, str]
    body: bytes
    raw_head: bytes

    @property
    def json(self) -> Any:
        return json.loads(self.body)


@dataclass
class Responder:
    """Answers one request. `gone` is set when the client has left."""

    _writer: asyncio.StreamWriter
    gone: asyncio.Event = field(default_factory=asyncio.Event)
    _is_chunked: bool = False

    async def head(self, status: int = 200, headers: Mapping[str, str] | None = None, *, chunked: bool = True) -> None:
        """Send the status line and the headers; the body follows in chunks, unless its length is in the headers."""
        self._is_chunked = chunked
        lines = [f"HTTP/1.1 {status} {REASONS.get(status, 'Some Reason')}", "Connection: close"]
        lines += [f"{name}: {value}" for name, value in (headers or {}).items()]
        lines += ["Transfer-Encoding: chunked"] if chunked else []
        await self.raw("\r\n".join([*lines, "", ""]).encode())

    async def write(self, data: bytes | str) -> None:
        """Send a piece of the body, as one chunk."""
        data = data.encode() if isinstance(data, str) else data
        await self.raw(b"%x\r\n%b\r\n" % (len(data), data) if self._is_chunked else data)

    async def end(self) -> None:
        await self.raw(b"0\r\n\r\n")

    async def whole(self, status: int, body: bytes | str, headers: Mapping[str, str] | None = None) -> None:
        """Send a complete answer."""
        data = body.encode() if isinstance(body, str) else body
        await self.head(status, {**(headers or {}), "Content-Length": str(len(data))}, chunked=False)
        await self.write(data)

    async def json(self, status: int, value: Any) -> None:
        await self.whole(status, json.dumps(value), {"Content-Type": "application/json; charset=utf-8"})

    async def raw(self, data: bytes) -> None:
        self._writer.write(data)
        await self._writer.drain()

    def reset(self) -> None:
        """Break the connection as a crashed server does."""
        connection: socket.socket = self._writer.get_extra_info("socket")
        connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
        self._writer.transport.abort()

    async def stall(self) -> None:
        """Say nothing more until the client leaves."""
        await self.gone.wait()


Handler: TypeAlias = "Callable[[Request, Responder], Awaitable[None]]"


def answering(*answers: tuple[str, int, Any]) -> Handler:
    """A handler with a JSON answer for each path, which has nothing anywhere else."""
    known = {path: (status, value) for path, status, value in answers}

    async def handle(request: Request, responder: Responder) -> None:
        await responder.json(*known.get(request.path, (404, {"error": {"message": "Not found"}})))

    return handle


class HttpServer:
    """Listens on a free port of this machine; `requests` and `responders` are in the order of arrival."""

    def __init__(self, handler: Handler, tls: ssl.SSLContext | None = None) -> None:
        self.handler = handler
        self._tls = tls
        self.requests: list[Request] = []
        self.responders: list[Responder] = []
        self._arrived = asyncio.Condition()
        self._tasks: set[asyncio.Task[Any]] = set()
        self._failures: list[Exception] = []

    @property
    def url(self) -> str:
        return f"{'https' if self._tls else 'http'}://127.0.0.1:{self.port}"

    async def arrived(self, count: int = 1) -> None:
        """Wait until so many requests have come."""
        async with self._arrived:
            await self._arrived.wait_for(lambda: len(self.requests) >= count)

    async def __aenter__(self) -> Self:
        self._server = await asyncio.start_server(self._serve, "127.0.0.1", 0, backlog=128, ssl=self._tls)
        self.port: int = self._server.sockets[0].getsockname()[1]
        return self

    async def __aexit__(self, *_: object) -> None:
        self._server.close()
        for task in self._tasks:
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)
        await self._server.wait_closed()
        if self._failures:
            raise self._failures[0]

    async def _serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        task = asyncio.current_task()
        assert task
        self._tasks.add(task)
        watching: asyncio.Task[None] | None = None
        try:
            request = await _read(reader)
            responder = Responder(writer)
            watching = asyncio.ensure_future(_watch(reader, responder.gone))
            async with self._arrived:
                self.requests.append(request)
                self.responders.append(responder)
                self._arrived.notify_all()
            await self.handler(request, responder)
        except (ConnectionError, EOFError, asyncio.CancelledError):
            pass  # the client left, or the test is over
        except Exception as error:  # noqa: BLE001 (a mistake in a test's handler must fail that test)
            self._failures.append(error)
        finally:
            writer.close()
            with suppress(ConnectionError):
                await writer.wait_closed()
            if watching is not None:
                watching.cancel()
            self._tasks.discard(task)


async def _read(reader: asyncio.StreamReader) -> Request:
    head = await reader.readuntil(b"\r\n\r\n")
    first, *lines = head.decode("latin-1").rstrip().split("\r\n")
    method, path, _ = first.split(" ")
    headers = {name.lower(): value.strip() for name, _, value in (line.partition(":") for line in lines)}
    body = await reader.readexactly(int(headers.get("content-length", "0")))
    return Request(method, path, headers, body, head)


async def _watch(reader: asyncio.StreamReader, gone: asyncio.Event) -> None:
    """A client that sends nothing more than its request is there until the end of its input."""
    with suppress(ConnectionError):
        while await reader.read(4096):
            pass
    gone.set()
