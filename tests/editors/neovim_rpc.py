"""Neovim's own remote interface: Lua is run inside the editor, and what it returns comes back."""

from __future__ import annotations

import asyncio
from contextlib import asynccontextmanager
from importlib import import_module
from typing import TYPE_CHECKING, Any

from tests.editors import patience

if TYPE_CHECKING:
    from collections.abc import AsyncGenerator
    from pathlib import Path

msgpack: Any = import_module("msgpack")  # it has no types
_REQUEST, _RESPONSE = 0, 1


class Failed(Exception):
    """Lua has raised an error."""


class Rpc:
    """One connection."""

    def __init__(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self._reader = reader
        self._writer = writer
        self._waiting: dict[int, asyncio.Future[Any]] = {}
        self._number = 0

    async def lua(self, code: str, *arguments: Any) -> Any:
        """What the code returns; it finds the arguments in `...`."""
        self._number += 1
        answer = asyncio.get_running_loop().create_future()
        self._waiting[self._number] = answer
        message = [_REQUEST, self._number, "nvim_exec_lua", [code, list(arguments)]]
        self._writer.write(msgpack.packb(message))
        try:
            return await asyncio.wait_for(answer, patience.PATIENCE)
        except TimeoutError:
            raise Failed(f"Neovim does not answer: {code}") from None

    async def read(self) -> None:
        """Take answers until the editor ends."""
        unpacker = msgpack.Unpacker(strict_map_key=False)
        while data := await self._reader.read(1 << 16):
            unpacker.feed(data)
            for kind, *rest in unpacker:
                if kind == _RESPONSE:
                    number, error, result = rest
                    answer = self._waiting.pop(number)
                    if error is None:
                        answer.set_result(result)
                    else:
                        answer.set_exception(Failed(error[1]))
        for answer in self._waiting.values():
            answer.cancel()


@asynccontextmanager
async def connected(socket: Path) -> AsyncGenerator[Rpc]:
    """A connection to a Neovim that listens there."""
    reader, writer = await asyncio.open_unix_connection(socket)
    rpc = Rpc(reader, writer)
    reading = asyncio.ensure_future(rpc.read())
    try:
        yield rpc
    finally:
        reading.cancel()
        writer.close()
