"""The server in the test's own process: the same bytes, handlers and services, where a test can set its times."""

from __future__ import annotations

import asyncio
from contextlib import asynccontextmanager
from typing import TYPE_CHECKING, Any, cast

from ollm_lsp.app import App
from ollm_lsp.lsp import stdio
from ollm_lsp.lsp.server import Server, register
from ollm_lsp.lsp.session import Session
from tests.support.editor import Editor

if TYPE_CHECKING:
    from collections.abc import AsyncGenerator, Mapping

    from ollm_lsp.lsp.session import Services


class NearProcess:
    """What an `Editor` talks to. `gone` is a client that has closed the connection."""

    def __init__(self, services: Services) -> None:
        self.stdout = asyncio.StreamReader(limit=1 << 26)
        self.stdin = self
        self.is_gone = False
        self._is_closed = False
        self._input = asyncio.StreamReader(limit=1 << 26)
        self._services = services
        rpc = Server().rpc
        self.session = Session(rpc, _Writer(self), services)
        rpc.set_writer(self.session.writer)  # pyright: ignore[reportArgumentType] (as in the server itself)
        register(rpc, self.session)
        self._serving = asyncio.ensure_future(self._serve(rpc.receive))

    def write(self, data: bytes) -> None:
        if not self._is_closed:
            self._input.feed_data(data)

    def close(self) -> None:
        self._is_closed = True
        self._input.feed_eof()

    async def wait(self) -> int:
        await self._serving
        return self.session.exit_status

    async def _serve(self, receive: Any) -> None:
        await stdio.read_messages(self._input, receive)
        self.is_gone = True
        await self.session.stop_all()
        await self._services.close()
        self.stdout.feed_eof()


class _Writer:
    def __init__(self, process: NearProcess) -> None:
        self._process = process

    def write(self, data: bytes) -> None:
        if not self._process.is_gone:
            self._process.stdout.feed_data(data)

    async def drain(self) -> None:
        await asyncio.sleep(0)

    def close(self) -> None: ...


@asynccontextmanager
async def near_editor(environ: Mapping[str, str], services: Services | None = None) -> AsyncGenerator[Editor]:
    """An editor whose server runs in this process; it is gone afterwards."""
    running = Editor(cast("Any", NearProcess(services or App(environ))))
    try:
        yield running
    finally:
        await running.close()
