"""Grants in SQLite: the user's answers that stand for good, by a digest of everything that each covers."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING, Final

from ollm_lsp.store.database import BUSY_TIMEOUT, Database
from ollm_lsp.store.worker import Worker

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path
    from sqlite3 import Connection

    from ollm_lsp.core.grant import Grant

MIGRATIONS: Final = (
    (
        """
        CREATE TABLE grants (
            digest TEXT PRIMARY KEY,
            tool TEXT NOT NULL,
            scope TEXT NOT NULL,
            workspace TEXT NOT NULL,
            allows INTEGER NOT NULL,
            given REAL NOT NULL
        )
        """,
    ),
)
"""Tool, scope and workspace are there for people who look; only the digest decides."""


class SqliteGrants:
    """A `GrantStore` in one file."""

    def __init__(self, path: Path, clock: Callable[[], float] = time.time, busy_timeout: float = BUSY_TIMEOUT) -> None:
        self._worker = Worker(Database(path, busy_timeout, holds="permissions", migrations=MIGRATIONS), "grants")
        self._clock = clock

    async def answer(self, grant: Grant) -> bool | None:
        def work(connection: Connection) -> bool | None:
            row = connection.execute("SELECT allows FROM grants WHERE digest = ?", (grant.digest,)).fetchone()
            return None if row is None else bool(row[0])

        return await self._worker.read(work)

    async def keep(self, grant: Grant, *, allows: bool) -> None:
        row = (grant.digest, _plain(grant.tool), _plain(grant.scope), _plain(grant.workspace), allows, self._clock())

        def work(connection: Connection) -> None:
            connection.execute("INSERT OR REPLACE INTO grants VALUES (?, ?, ?, ?, ?, ?)", row)

        await self._worker.write(work)

    async def forget(self) -> int:
        def work(connection: Connection) -> int:
            return connection.execute("DELETE FROM grants").rowcount

        return await self._worker.write(work)

    async def close(self) -> None:
        await self._worker.close()


def _plain(text: str) -> str:
    """A text that SQLite can hold: names of files may have bytes that are no characters."""
    return text.encode("utf-8", "backslashreplace").decode()
