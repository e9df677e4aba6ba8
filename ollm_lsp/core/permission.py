"""Permissions: what the user is asked before a tool does something, and what they say."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from ollm_lsp.core.tool import ToolKind


@dataclass(frozen=True, slots=True)
class PermissionRequest:
    """A question. `detail` is everything that will happen; `scope` is what a standing answer would be bound to."""

    tool: str
    kind: ToolKind
    title: str
    detail: str
    scope: str


@dataclass(frozen=True, slots=True)
class Verdict:
    """The answer. The feedback is for the model."""

    allowed: bool
    feedback: str | None = None
