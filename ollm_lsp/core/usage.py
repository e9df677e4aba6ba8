"""Token usage and what it costs."""

from __future__ import annotations

from dataclasses import dataclass, field


@dataclass(frozen=True, slots=True)
class Usage:
    """Tokens read and written, as the provider counted them.

    Those that it read from its cache, or wrote to it, are among the input tokens.
    """

    input_tokens: int = 0
    output_tokens: int = 0
    cache_read_tokens: int = 0
    cache_write_tokens: int = 0

    def __add__(self, other: Usage) -> Usage:
        return Usage(
            self.input_tokens + other.input_tokens,
            self.output_tokens + other.output_tokens,
            self.cache_read_tokens + other.cache_read_tokens,
            self.cache_write_tokens + other.cache_write_tokens,
        )

    def since(self, before: Usage) -> Usage:
        """What a counter has counted since it stood there; when it began anew meanwhile, all that it shows."""
        if self.input_tokens < before.input_tokens or self.output_tokens < before.output_tokens:
            return self
        return Usage(
            self.input_tokens - before.input_tokens,
            self.output_tokens - before.output_tokens,
            max(0, self.cache_read_tokens - before.cache_read_tokens),
            max(0, self.cache_write_tokens - before.cache_write_tokens),
        )


@dataclass(frozen=True, slots=True)
class Cost:
    """Money in millionths of the currency; `known` is false when nobody knows the price."""

    micros: int = 0
    currency: str = "USD"
    known: bool = True

    def __add__(self, other: Cost) -> Cost:
        if self.micros and other.micros and self.currency != other.currency:
            raise ValueError(f"{self.currency} and {other.currency} cannot be added.")
        currency = self.currency if self.micros else other.currency
        return Cost(self.micros + other.micros, currency, self.known and other.known)


@dataclass(slots=True)
class Spending:
    """What something has taken so far."""

    usage: Usage = field(default_factory=Usage)
    cost: Cost = field(default_factory=Cost)

    def add(self, usage: Usage, cost: Cost) -> None:
        self.usage += usage
        self.cost += cost


FREE = Cost()
UNKNOWN_COST = Cost(known=False)
