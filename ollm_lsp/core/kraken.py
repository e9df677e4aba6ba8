"""What can be told of the Kraken: its state, its providers and its budget."""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import StrEnum


class KrakenState(StrEnum):
    """Whether it can be released now."""

    READY = "ready"
    ACTIVE = "active"
    NONE = "none"
    OVER_BUDGET = "over_budget"


class KrakenKind(StrEnum):
    """How an external provider is reached."""

    CLI = "cli"
    API = "api"


@dataclass(frozen=True, slots=True)
class KrakenProvider:
    """An external provider, and whether it can be used. `problem` tells why not, `remedy` what to do."""

    name: str
    kind: KrakenKind
    model: str
    is_available: bool
    version: str | None = None
    needs_login: bool = False
    problem: str | None = None
    remedy: str | None = None
    context_window: int | None = None
    code: str | None = None
    """Of the error that a request to one that cannot be used would be, where it is known."""


@dataclass(frozen=True, slots=True)
class KrakenBudget:
    """Money in millionths of the currency. Without a limit nothing of it remains, and nothing has to."""

    limit: int | None = 0
    spent: int = 0
    reserved: int = 0
    remaining: int | None = 0
    currency: str = "USD"


@dataclass(frozen=True, slots=True)
class KrakenStatus:
    """All that can be told without asking anybody."""

    state: KrakenState = KrakenState.NONE
    providers: tuple[KrakenProvider, ...] = ()
    budget: KrakenBudget = field(default_factory=KrakenBudget)
