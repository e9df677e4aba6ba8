"""Prices: what a model's tokens cost, in whole numbers, and the most that a request can cost."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Final, Protocol

from ollm_lsp.core.usage import Cost, Usage

if TYPE_CHECKING:
    from collections.abc import Mapping

MILLION: Final = 1_000_000


class Prices(Protocol):
    """Somebody who knows what a usage costs; every provider does. An unknown cost is one that is not `known`."""

    def cost(self, model: str, usage: Usage) -> Cost: ...


@dataclass(frozen=True, slots=True)
class Price:
    """Micro-dollars for a million tokens. Without a price of their own, tokens of the cache cost what others do."""

    input: int
    output: int
    cache_read: int | None = None
    cache_write: int | None = None

    def cost(self, usage: Usage) -> Cost:
        """What a usage costs, rounded up to the next micro-dollar."""
        read, written = usage.cache_read_tokens, usage.cache_write_tokens
        exact = max(0, usage.input_tokens - read - written) * self.input + usage.output_tokens * self.output
        exact += read * (self.input if self.cache_read is None else self.cache_read)
        exact += written * (self.input if self.cache_write is None else self.cache_write)
        return Cost(-(-exact // MILLION))


UNKNOWN_PRICE: Final = Price(input=150 * MILLION, output=600 * MILLION)
"""What counts for a model whose price nobody knows: as much as the dearest model of any vendor takes."""


@dataclass(frozen=True, slots=True)
class PriceList:
    """The prices of one provider: what the user says, then what the vendor takes, then the dearest there is.

    The user names a model as `provider:model` or just `model`. What is counted for an unknown price is never zero, and
    says that it is not `known`.
    """

    provider: str
    vendor: Prices
    own: Mapping[str, Price]

    def cost(self, model: str, usage: Usage) -> Cost:
        price = self.own.get(f"{self.provider}:{model}") or self.own.get(model)
        if price is not None:
            return price.cost(usage)
        cost = self.vendor.cost(model, usage)
        return cost if cost.known else Cost(UNKNOWN_PRICE.cost(usage).micros, known=False)

    def most(self, model: str, input_tokens: int, output_tokens: int) -> Cost:
        """The most that a request can cost, whatever the vendor does with its cache."""
        ways = (
            Usage(input_tokens, output_tokens),
            Usage(input_tokens, output_tokens, cache_read_tokens=input_tokens),
            Usage(input_tokens, output_tokens, cache_write_tokens=input_tokens),
        )
        return max((self.cost(model, way) for way in ways), key=lambda cost: cost.micros)
