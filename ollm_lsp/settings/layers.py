"""Layers: the sources of settings as read, and what they give together."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from ollm_lsp.settings.problems import Problem
    from ollm_lsp.settings.resolved import Settings

EDITOR = "editor settings"
"""The source of what comes from the editor over LSP."""


@dataclass(frozen=True, slots=True)
class Layer:
    """What one source says; `raw` is whatever was found there and may be any value at all."""

    source: str
    raw: object = None


@dataclass(frozen=True, slots=True)
class Resolution:
    """Settings that always work, and the problems of those that were left out."""

    settings: Settings
    problems: tuple[Problem, ...] = ()
    broken: Problem | None = None
    """Set when the user's own file cannot be read at all, so that nobody knows what they want."""
