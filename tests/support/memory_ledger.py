"""A ledger that is gone with the test."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING
from uuid import uuid4

from ollm_lsp.core.budget import Account, Balance
from ollm_lsp.core.ledger import LedgerLine, Reservation
from ollm_lsp.core.usage import Cost, Usage

if TYPE_CHECKING:
    from collections.abc import Sequence

    from ollm_lsp.core.budget import Limits
    from ollm_lsp.core.ledger import Call


class MemoryLedger:
    """Lines by the ids of their reservations."""

    def __init__(self) -> None:
        self.lines: dict[str, LedgerLine] = {}

    async def reserve(self, call: Call, most: Cost, limits: Limits, *, is_logged: bool = True) -> Reservation:
        (await self.account()).admit(limits, most.micros)
        reservation = Reservation(uuid4().hex, call, most.micros, 0.0, is_logged)
        self.lines[reservation.id] = LedgerLine(0.0, call, Usage(), most, is_settled=False)
        return reservation

    async def enlarge(self, reservation: Reservation, micros: int, limits: Limits) -> Reservation:
        (await self.account()).admit(limits, micros, held=reservation.micros)
        self.lines[reservation.id] = replace(self.lines[reservation.id], cost=Cost(micros))
        return replace(reservation, micros=micros)

    async def settle(self, reservation: Reservation, usage: Usage, cost: Cost, error: str | None = None) -> None:
        self.lines[reservation.id] = LedgerLine(0.0, reservation.call, usage, cost, error)

    async def release(self, reservation: Reservation) -> None:
        del self.lines[reservation.id]

    async def account(self) -> Account:
        spent, reserved = (
            sum(line.cost.micros for line in self.lines.values() if line.is_settled is is_settled)
            for is_settled in (True, False)
        )
        return Account(Balance(spent, reserved), Balance(spent, reserved))

    async def history(self, limit: int = 100) -> Sequence[LedgerLine]:
        return list(reversed(self.lines.values()))[:limit]

    async def close(self) -> None: ...
