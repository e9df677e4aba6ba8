"""The budget: what may still be spent, said before a call and not after it. Pure.

The most that a call can cost is reserved before it begins, so that calls side by side cannot spend the same money, and
settled with what it really cost when it has ended. A reservation that nobody settles stays spent.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from typing import TYPE_CHECKING, Final

from ollm_lsp.core.errors import BudgetExceeded
from ollm_lsp.core.money import in_dollars

if TYPE_CHECKING:
    from collections.abc import Iterator

_SETTINGS: Final = {"request": "maxCostPerRequest", "session": "maxCostPerSession", "day": "maxCostPerDay"}


class Span(StrEnum):
    """What a limit is for."""

    REQUEST = "request"
    SESSION = "session"
    DAY = "day"


@dataclass(frozen=True, slots=True)
class Limits:
    """The most that may be spent, in micro-dollars; nothing means that there is no such limit."""

    request: int | None = None
    session: int | None = 10_000_000
    day: int | None = None


@dataclass(frozen=True, slots=True)
class Balance:
    """What has been spent, and what is reserved for calls that have not ended; both are gone for others."""

    spent: int = 0
    reserved: int = 0

    @property
    def gone(self) -> int:
        return self.spent + self.reserved


@dataclass(frozen=True, slots=True)
class Account:
    """Where the money stands: since the start of this server, and today with all servers together."""

    session: Balance
    day: Balance

    def tightest(self, limits: Limits) -> tuple[Span, int, Balance] | None:
        """The limit of which the least is left, with what is gone of it; nothing when nothing limits the sum."""
        found = [(span, limit, balance) for span, limit, balance in self._sums(limits)]
        return min(found, key=lambda one: one[1] - one[2].gone, default=None)

    def remaining(self, limits: Limits) -> int | None:
        """What the next request may cost at most; nothing when nothing limits it, and never less than zero."""
        left = [limit - balance.gone for _, limit, balance in self._sums(limits)]
        left += [limits.request] if limits.request is not None else []
        return max(0, min(left)) if left else None

    def admit(self, limits: Limits, micros: int, held: int = 0) -> None:
        """Refuse what would break a limit. Of the amount, `held` is reserved already."""
        if limits.request is not None and micros > limits.request:
            raise _exceeded(Span.REQUEST, limits.request, Balance(), micros)
        if micros <= held:
            return
        for span, limit, balance in self._sums(limits):
            # What is free stays free when the budget is used up, or even overdrawn.
            if micros - held > max(0, limit - balance.gone):
                raise _exceeded(span, limit, balance, micros - held)

    def _sums(self, limits: Limits) -> Iterator[tuple[Span, int, Balance]]:
        if limits.session is not None:
            yield Span.SESSION, limits.session, self.session
        if limits.day is not None:
            yield Span.DAY, limits.day, self.day


def _exceeded(span: Span, limit: int, balance: Balance, wanted: int) -> BudgetExceeded:
    setting = f"kraken.{_SETTINGS[span]}"
    if span is Span.REQUEST:
        message = f"This may cost up to {in_dollars(wanted)}, and a request may cost {in_dollars(limit)}."
    else:
        left = in_dollars(max(0, limit - balance.gone))
        whose = "this session" if span is Span.SESSION else "today"
        message = f"This may cost {in_dollars(wanted)}, and of the {in_dollars(limit)} for {whose} {left} are left."
        if balance.reserved:
            message += f" {in_dollars(balance.reserved)} are reserved for requests that still run."
    return BudgetExceeded(
        message,
        remedy=f"Ask for less, lower maxTokens, or raise {setting} in ~/.ollm/config.yaml.",
        span=span,
        limit=limit,
        spent=balance.spent,
        reserved=balance.reserved,
        wanted=wanted,
    )
