"""All CLI agents that there are."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ollm_lsp.core.errors import SettingsError
from ollm_lsp.providers.agents.claude import CLAUDE
from ollm_lsp.providers.agents.codex import CODEX
from ollm_lsp.providers.agents.gemini import GEMINI

if TYPE_CHECKING:
    from ollm_lsp.providers.agents.description import Description

AGENTS = {agent.tool: agent for agent in (CLAUDE, GEMINI, CODEX)}


def described(tool: str) -> Description:
    """The description of a tool by its name in the settings."""
    if found := AGENTS.get(tool):
        return found
    raise SettingsError(f"There is no CLI agent '{tool}'.", remedy=f"Use one of: {', '.join(AGENTS)}.")
