"""How a CLI agent is: there, new enough, logged in."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class AgentHealth:
    """What a check found. An agent that is not `available` has an error and a remedy."""

    available: bool
    version: str | None = None
    auth_required: bool = False
    error: str | None = None
    remedy: str | None = None
    code: str | None = None
    """Of the error that a request would be."""
