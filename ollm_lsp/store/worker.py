"""Worker: a database with the one thread that uses it, beside the event loop."""

from __future__ import annotations

import asyncio
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from typing import TYPE_CHECKING, TypeVar

if TYPE_CHECKING:
    from collections.abc import Callable
    from sqlite3 import Connection

    from ollm_lsp.store.database import Database

Result = TypeVar("Result")


class Worker:
    """Whoever is cancelled while waiting leaves work that is done nevertheless: half a record helps nobody."""

    def __init__(self, database: Database, name: str) -> None:
        self._database = database
        self._thread = ThreadPoolExecutor(1, name)

    async def read(self, work: Callable[[Connection], Result]) -> Result:
        return await self._run(partial(self._database.read, work))

    async def write(self, work: Callable[[Connection], Result], *, is_durable: bool = True) -> Result:
        """When this returns, no crash undoes it, and if it is durable no loss of power does."""
        return await self._run(partial(self._database.write, work, is_durable=is_durable))

    def hand_over(self, work: Callable[[Connection], None]) -> None:
        """Write without anybody waiting: if it fails, so will the next that somebody waits for."""
        self._thread.submit(self._database.write, work)

    async def tidy(self) -> None:
        """Take what was deleted out of the file's log as well."""
        await self._run(self._database.tidy)

    async def close(self) -> None:
        """Finish what was begun, then let go of the file."""
        self._thread.submit(self._database.close)
        await asyncio.to_thread(self._thread.shutdown)

    async def _run(self, work: Callable[[], Result]) -> Result:
        return await asyncio.shield(asyncio.get_running_loop().run_in_executor(self._thread, work))
