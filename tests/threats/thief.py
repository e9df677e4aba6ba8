"""Somebody who waits on a port of this machine to be called, and counts every connection, even one without a byte."""

from __future__ import annotations

import asyncio
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import AsyncGenerator


@dataclass
class Thief:
    """Where it waits, and what it got."""

    port: int = 0
    calls: int = 0
    loot: bytearray = field(default_factory=bytearray)

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.port}"


@asynccontextmanager
async def waiting_thief() -> AsyncGenerator[Thief]:
    thief = Thief()

    async def take(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        thief.calls += 1
        thief.loot += await reader.read(65536)
        writer.close()

    async with await asyncio.start_server(take, "127.0.0.1", 0) as server:
        thief.port = server.sockets[0].getsockname()[1]
        yield thief
