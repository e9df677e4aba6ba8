"""What a rule says about something that a tool wants to do."""

from __future__ import annotations

from enum import StrEnum
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable


class Decision(StrEnum):
    """From the mildest to the strictest."""

    ALLOW = "allow"
    ASK = "ask"
    DENY = "deny"


_BY_STRICTNESS = list(Decision)


def strictest(decisions: Iterable[Decision], default: Decision) -> Decision:
    """The strictest of some decisions; the default when there is none."""
    return max(decisions, key=_BY_STRICTNESS.index, default=default)
