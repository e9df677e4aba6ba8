"""Records: what a store tells of the conversations that it keeps. Times are seconds since 1970."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from ollm_lsp.core.usage import Cost

if TYPE_CHECKING:
    from collections.abc import Iterable

    from ollm_lsp.core.conversation import Response
    from ollm_lsp.core.messages import Message
    from ollm_lsp.core.model import ModelId


@dataclass(frozen=True, slots=True)
class Opening:
    """A response that a chat has begun."""

    id: str
    parent_id: str | None
    model: ModelId
    input: tuple[Message, ...]


@dataclass(frozen=True, slots=True)
class ResponseRecord:
    """A response and when it was made; without `ended`, whoever made it never came to its end."""

    response: Response
    began: float
    ended: float | None


@dataclass(frozen=True, slots=True)
class Summary:
    """A conversation in a list; `model` is the one that was asked last."""

    id: str
    title: str
    created: float
    updated: float
    model: ModelId
    cost: Cost
    responses: int


@dataclass(frozen=True, slots=True)
class ConversationRecord:
    """A whole conversation, its responses in the order in which they began."""

    id: str
    title: str
    created: float
    updated: float
    responses: tuple[ResponseRecord, ...]
    model: ModelId | None = None
    """The one that the user chose for it, where they did."""


def total(costs: Iterable[Cost]) -> Cost:
    """What everything costs together. Of several currencies only the first is counted, and that is said."""
    costs = list(costs)
    currency = costs[0].currency if costs else Cost().currency
    counted = [cost for cost in costs if cost.currency == currency]
    known = len(counted) == len(costs) and all(cost.known for cost in costs)
    return Cost(sum(cost.micros for cost in counted), currency, known)
