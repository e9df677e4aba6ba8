"""A provider whose every request is paid: the most it can cost is reserved before it, and settled after it."""

from __future__ import annotations

import logging
from contextlib import aclosing
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Final

from ollm_lsp.core.errors import (
    AuthenticationFailed,
    ConnectionFailed,
    ContextOverflow,
    ModelNotFound,
    OllmError,
    RateLimited,
    StoreFailed,
    Unsupported,
)
from ollm_lsp.core.events import Finished, UsageReported, is_speech
from ollm_lsp.core.ledger import Call, CallKind
from ollm_lsp.core.price import PriceList
from ollm_lsp.core.provider_around import ProviderAround
from ollm_lsp.core.tokens import most
from ollm_lsp.core.usage import FREE, Cost, Usage

if TYPE_CHECKING:
    from collections.abc import AsyncGenerator, Mapping

    from ollm_lsp.core.budget import Limits
    from ollm_lsp.core.events import ProviderEvent
    from ollm_lsp.core.ledger import Reservation
    from ollm_lsp.core.ports import Ledger, Provider
    from ollm_lsp.core.price import Price
    from ollm_lsp.core.request import ChatRequest

_UNCHARGED: Final = (
    AuthenticationFailed, ConnectionFailed, ContextOverflow, ModelNotFound, RateLimited, Unsupported,
)  # fmt: skip
"""Before the model has said anything, these mean that it was never asked."""
_CANCELLED: Final = "cancelled"

_log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class Terms:
    """On which terms a provider is used; `name` is what the user calls it."""

    kind: CallKind
    name: str
    limits: Limits
    max_tokens: int
    prices: Mapping[str, Price] = field(default_factory=dict[str, "Price"])
    conversation_id: str | None = None
    is_logged: bool = True


class PaidProvider(ProviderAround):
    """In everything the provider inside, but nothing is sent that the budget does not cover."""

    def __init__(self, inner: Provider, ledger: Ledger, terms: Terms) -> None:
        super().__init__(inner)
        self._ledger = ledger
        self._terms = terms
        self._prices = PriceList(terms.name, inner, terms.prices)

    @property
    def is_plan(self) -> bool:
        """Whether a plan of the user covers it."""
        return self._terms.kind is CallKind.PLAN

    def cost(self, model: str, usage: Usage) -> Cost:
        """What a usage costs by the user's own prices, else the vendor's; a plan covers it."""
        return FREE if self.is_plan else self._prices.cost(model, usage)

    def most(self, request: ChatRequest) -> Cost:
        """The most that a request can cost; nothing of it depends on an estimate."""
        if self.is_plan:
            return FREE
        return self._prices.most(request.model, most(request), self._max_tokens(request))

    async def stream(self, request: ChatRequest) -> AsyncGenerator[ProviderEvent]:
        terms = self._terms
        request = replace(request, max_tokens=self._max_tokens(request))
        call = Call(terms.kind, terms.name, request.model, terms.conversation_id)
        reserved = await self._ledger.reserve(call, self.most(request), terms.limits, is_logged=terms.is_logged)
        bill = _Bill(reserved)
        try:
            async with aclosing(self._inner.stream(request)) as events:
                async for event in events:
                    bill.add(event)
                    if isinstance(event, UsageReported):
                        # What is shown is what the ledger says, whatever an agent thinks that it costs.
                        event = replace(event, cost=self.cost(request.model, event.usage))  # noqa: PLW2901
                        await self._cover(bill, request.model)
                    yield event
        except OllmError as error:
            bill.fail(error)
            raise
        finally:
            await self._settle(bill, request.model)

    def _max_tokens(self, request: ChatRequest) -> int:
        return min(request.max_tokens or self._terms.max_tokens, self._terms.max_tokens)

    async def _cover(self, bill: _Bill, model: str) -> None:
        """Stop a call that takes more than was reserved, unless the budget has the rest too."""
        spent = self.cost(model, bill.usage).micros
        if spent > bill.reserved.micros:
            bill.reserved = await self._ledger.enlarge(bill.reserved, spent, self._terms.limits)

    async def _settle(self, bill: _Bill, model: str) -> None:
        try:
            await self._ledger.settle(bill.reserved, bill.usage, self._final(bill, model), bill.error)
        except StoreFailed as error:
            # The answer is there nevertheless, and what was reserved for it stays spent.
            _log.warning("The cost of a call could not be written: %s", error)

    def _final(self, bill: _Bill, model: str) -> Cost:
        if self.is_plan or bill.is_free:
            return FREE
        counted = self.cost(model, bill.usage)
        if bill.error is None and bill.has_usage:
            return counted
        # Whoever ends early does not tell what it took: it is never taken as free.
        return Cost(max(bill.reserved.micros, counted.micros), known=False)


@dataclass(slots=True)
class _Bill:
    """What one call has taken so far; one that has not finished is taken as cancelled."""

    reserved: Reservation
    usage: Usage = field(default_factory=Usage)
    has_usage: bool = False
    has_spoken: bool = False
    error: str | None = _CANCELLED
    is_free: bool = False

    def add(self, event: ProviderEvent) -> None:
        if isinstance(event, UsageReported):
            self.usage, self.has_usage = event.usage, True
        self.has_spoken = self.has_spoken or is_speech(event)
        if isinstance(event, Finished):
            self.error = None

    def fail(self, error: OllmError) -> None:
        self.error = error.code
        self.is_free = isinstance(error, _UNCHARGED) and not self.has_spoken and not self.has_usage
