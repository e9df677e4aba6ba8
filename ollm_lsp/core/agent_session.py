"""An exchange that a CLI agent keeps by itself."""

from __future__ import annotations

from dataclasses import dataclass, field

from ollm_lsp.core.usage import Usage


@dataclass(frozen=True, slots=True)
class AgentSession:
    """The agent's name for an exchange, and the tokens that it has taken so far: some agents count from its start."""

    id: str
    counted: Usage = field(default_factory=Usage)
