"""Permissions: what the user is asked before a tool does something, and what they say."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from ollm_lsp.core.change import Proposal
    from ollm_lsp.core.tool import ToolKind


class Option(StrEnum):
    """The answers that there are."""

    ALLOW_ONCE = "allow_once"
    ALLOW_SESSION = "allow_session"
    ALLOW_ALWAYS = "allow_always"
    REJECT_ONCE = "reject_once"
    REJECT_ALWAYS = "reject_always"

    @property
    def allows(self) -> bool:
        return self in (Option.ALLOW_ONCE, Option.ALLOW_SESSION, Option.ALLOW_ALWAYS)


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
    """The answer. The feedback is for the model; the briefing is that of a release as the user changed it."""

    allowed: bool
    feedback: str | None = None
    briefing: str | None = None


@dataclass(frozen=True, slots=True)
class Reply:
    """What the user chose, what they add for the model, and the briefing if they changed it.

    Whoever says nothing says no.
    """

    option: Option = Option.REJECT_ONCE
    feedback: str | None = None
    briefing: str | None = None


@dataclass(frozen=True, slots=True)
class Offered:
    """The reply to a proposal, and what of it the user wants: all of it, or the parts that they accepted.

    With `asks_later` nobody was asked yet: the editor will ask when it is to make the changes.
    """

    reply: Reply
    proposal: Proposal
    asks_later: bool = False
