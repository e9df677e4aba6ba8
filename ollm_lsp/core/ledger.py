"""What the ledger holds: calls that cost money, from the reservation to what they really took."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from ollm_lsp.core.usage import Cost, Usage


class CallKind(StrEnum):
    """Who is paid for a call."""

    API = "api"
    CLI = "cli"
    PLAN = "plan"
    """An agent whose tokens a plan of the user covers: they are counted, and cost nothing more."""


@dataclass(frozen=True, slots=True)
class Call:
    """One request to an external provider."""

    kind: CallKind
    provider: str
    model: str
    conversation_id: str | None = None


@dataclass(frozen=True, slots=True)
class Reservation:
    """Money that is kept for one call, in micro-dollars."""

    id: str
    call: Call
    micros: int
    began: float
    is_logged: bool = True
    """Whether the call leaves a line with all that is known of it, or just its amount."""


@dataclass(frozen=True, slots=True)
class LedgerLine:
    """One call as the user reads it later.

    One that was never settled, because the server died or still works at it, counts with all that was reserved.
    """

    timestamp: float
    call: Call
    usage: Usage
    cost: Cost
    error: str | None = None
    is_settled: bool = True

    @property
    def success(self) -> bool:
        return self.is_settled and self.error is None
