"""The ledger in SQLite: every call to an external provider, and the sums that its limits are about.

A reservation is a row, written and on the disk before the call begins, in the same transaction that checks the limits:
whatever runs side by side, in this process or in another one, sees it. The settlement puts what the call really cost in
its place. A row that nobody settled counts with all that was reserved, so that a crash never makes money appear.
All amounts are whole micro-dollars.
"""

from __future__ import annotations

import asyncio
import time
from dataclasses import replace
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any, Final
from uuid import uuid4

from ollm_lsp.core.budget import Account, Balance
from ollm_lsp.core.ledger import Call, CallKind, LedgerLine, Reservation
from ollm_lsp.core.usage import Cost, Usage
from ollm_lsp.settings.redactor import redactor
from ollm_lsp.store.database import BUSY_TIMEOUT, Database
from ollm_lsp.store.worker import Worker

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from pathlib import Path
    from sqlite3 import Connection

    from ollm_lsp.core.budget import Limits

MIGRATIONS: Final = (
    (
        """
        CREATE TABLE call (
            number INTEGER PRIMARY KEY,
            id TEXT NOT NULL UNIQUE,
            session TEXT NOT NULL,
            day TEXT NOT NULL,
            is_open INTEGER NOT NULL,
            cost_micros INTEGER NOT NULL,
            cost_known INTEGER NOT NULL
        )
        """,
        "CREATE INDEX call_day ON call (day)",
        "CREATE INDEX call_session ON call (session)",
        """
        CREATE TABLE detail (
            call INTEGER PRIMARY KEY REFERENCES call (number) ON DELETE CASCADE,
            began REAL NOT NULL,
            kind TEXT NOT NULL,
            provider TEXT NOT NULL,
            model TEXT NOT NULL,
            conversation_id TEXT,
            input_tokens INTEGER NOT NULL DEFAULT 0,
            output_tokens INTEGER NOT NULL DEFAULT 0,
            cache_read_tokens INTEGER NOT NULL DEFAULT 0,
            cache_write_tokens INTEGER NOT NULL DEFAULT 0,
            error TEXT
        )
        """,
    ),
)
"""`call` has what the limits need; `detail` is there only for calls that the user wants to be logged."""
LARGEST_INTEGER: Final = 2**63 - 1
"""That SQLite knows; a client may ask for more lines than that."""


class SqliteLedger:
    """A `Ledger` in one file. One instance is one session, in which the session's limit counts."""

    def __init__(self, path: Path, clock: Callable[[], float] = time.time, busy_timeout: float = BUSY_TIMEOUT) -> None:
        self._worker = Worker(Database(path, busy_timeout, holds="ledger", migrations=MIGRATIONS), "ledger")
        self._clock = clock
        self._session = uuid4().hex

    async def reserve(self, call: Call, most: Cost, limits: Limits, *, is_logged: bool = True) -> Reservation:
        now = self._clock()
        reservation = Reservation(uuid4().hex, call, most.micros, now, is_logged)

        def work(connection: Connection) -> None:
            _account(connection, self._session, _day(now)).admit(limits, most.micros)
            self._insert(connection, reservation, is_known=most.known)

        try:
            await self._worker.write(work)
        except asyncio.CancelledError:
            # It may be written nevertheless, and nobody would ever settle it.
            self._worker.hand_over(lambda connection: _release(connection, reservation))
            raise
        return reservation

    async def enlarge(self, reservation: Reservation, micros: int, limits: Limits) -> Reservation:
        def work(connection: Connection) -> None:
            _account(connection, self._session, _day(reservation.began)).admit(limits, micros, held=reservation.micros)
            connection.execute("UPDATE call SET cost_micros = ? WHERE id = ? AND is_open", (micros, reservation.id))

        await self._worker.write(work)
        return replace(reservation, micros=micros)

    async def settle(self, reservation: Reservation, usage: Usage, cost: Cost, error: str | None = None) -> None:
        def work(connection: Connection) -> None:
            row = connection.execute("SELECT is_open FROM call WHERE id = ?", (reservation.id,)).fetchone()
            if row is None:  # the file was moved away meanwhile
                self._insert(connection, reservation, is_known=cost.known)
            elif not row[0]:
                return  # the first settlement counts
            connection.execute(
                "UPDATE call SET is_open = 0, cost_micros = ?, cost_known = ? WHERE id = ?",
                (cost.micros, cost.known, reservation.id),
            )
            counts = (usage.input_tokens, usage.output_tokens, usage.cache_read_tokens, usage.cache_write_tokens)
            connection.execute(
                "UPDATE detail SET input_tokens = ?, output_tokens = ?, cache_read_tokens = ?, cache_write_tokens = ?, "
                "error = ? WHERE call = (SELECT number FROM call WHERE id = ?)",
                (*counts, error, reservation.id),
            )

        await self._worker.write(work)

    async def release(self, reservation: Reservation) -> None:
        await self._worker.write(lambda connection: _release(connection, reservation))

    async def account(self) -> Account:
        day = _day(self._clock())
        return await self._worker.read(lambda connection: _account(connection, self._session, day))

    async def history(self, limit: int = 100) -> Sequence[LedgerLine]:
        def work(connection: Connection) -> list[LedgerLine]:
            rows = connection.execute(
                "SELECT began, kind, provider, model, conversation_id, input_tokens, output_tokens, cache_read_tokens, "
                "cache_write_tokens, cost_micros, cost_known, error, is_open "
                "FROM call JOIN detail ON call = number ORDER BY number DESC LIMIT ?",
                (min(max(0, limit), LARGEST_INTEGER),),
            )
            return [_line(row) for row in rows]

        return await self._worker.read(work)

    async def close(self) -> None:
        await self._worker.close()

    def _insert(self, connection: Connection, reservation: Reservation, *, is_known: bool) -> None:
        call, micros, began = reservation.call, reservation.micros, reservation.began
        row = connection.execute(
            "INSERT INTO call (id, session, day, is_open, cost_micros, cost_known) VALUES (?, ?, ?, 1, ?, ?)",
            (reservation.id, self._session, _day(began), micros, is_known),
        )
        if reservation.is_logged:
            names = (_plain(call.provider), _plain(call.model), call.conversation_id and _plain(call.conversation_id))
            connection.execute(
                "INSERT INTO detail (call, began, kind, provider, model, conversation_id) VALUES (?, ?, ?, ?, ?, ?)",
                (row.lastrowid, began, call.kind.value, *names),
            )


def _release(connection: Connection, reservation: Reservation) -> None:
    connection.execute("DELETE FROM call WHERE id = ? AND is_open", (reservation.id,))


def _account(connection: Connection, session: str, day: str) -> Account:
    """Open rows of others count as spent: nobody can tell a server that still works from one that died."""
    sums = "SELECT session = ? AND is_open, sum(cost_micros) FROM call WHERE {} = ? GROUP BY 1"
    of_session = dict(connection.execute(sums.format("session"), (session, session)).fetchall())
    of_day = dict(connection.execute(sums.format("day"), (session, day)).fetchall())
    return Account(*(Balance(found.get(0, 0), found.get(1, 0)) for found in (of_session, of_day)))


def _line(row: tuple[Any, ...]) -> LedgerLine:
    began, kind, provider, model, conversation_id, *counts, micros, is_known, error, is_open = row
    return LedgerLine(
        began,
        Call(CallKind(kind), provider, model, conversation_id),
        Usage(*counts),
        Cost(micros, known=bool(is_known)),
        error,
        is_settled=not is_open,
    )


def _day(moment: float) -> str:
    """The day of the user's calendar."""
    return datetime.fromtimestamp(moment, UTC).astimezone().date().isoformat()


def _plain(text: str) -> str:
    """A text that SQLite can hold, without secrets."""
    return redactor.redact(text.encode("utf-8", "backslashreplace").decode())
