"""A TCP relay in front of a real server, so that a test sees when the client hangs up, and can pull the plug."""

from __future__ import annotations

import asyncio
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import AsyncGenerator


@dataclass
class Link:
    """One connection through the relay."""

    client: asyncio.StreamWriter
    server: asyncio.StreamWriter
    sent: bytearray = field(default_factory=bytearray)
    received: bytearray = field(default_factory=bytearray)
    hung_up: asyncio.Event = field(default_factory=asyncio.Event)

    def pull_the_plug(self) -> None:
        """End it as a crashed machine would, in the middle of whatever is being said."""
        self.client.transport.abort()
        self.server.transport.abort()


class Relay:
    """Listens on a port of its own and passes everything on."""

    def __init__(self, target: int) -> None:
        self.port = 0
        self.links: list[Link] = []
        self._target = target

    async def connect(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        upstream, server = await asyncio.open_connection("127.0.0.1", self._target)
        link = Link(writer, server)
        self.links.append(link)
        there = asyncio.ensure_future(self._pump(reader, server, link.sent))
        back = asyncio.ensure_future(self._pump(upstream, writer, link.received))
        try:
            await asyncio.wait([there, back], return_when=asyncio.FIRST_COMPLETED)
            if there.done():
                link.hung_up.set()
        finally:
            for task in (there, back):
                task.cancel()
            writer.close()
            server.close()

    async def _pump(self, source: asyncio.StreamReader, target: asyncio.StreamWriter, kept: bytearray) -> None:
        with suppress(ConnectionError):
            while data := await source.read(65536):
                kept += data
                target.write(data)
                await target.drain()


@asynccontextmanager
async def relay(target: int) -> AsyncGenerator[Relay]:
    """A relay to a port of this machine."""
    running = Relay(target)
    server = await asyncio.start_server(running.connect, "127.0.0.1", 0)
    running.port = server.sockets[0].getsockname()[1]
    try:
        yield running
    finally:
        server.close()
        for link in running.links:
            link.pull_the_plug()
