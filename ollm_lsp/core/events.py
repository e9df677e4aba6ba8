"""Two closed unions: what a model says (`ProviderEvent`) and what a chat does (`ChatEvent`).

A provider's stream ends with exactly one `Finished`, or it raises a `ProviderError`. A chat always ends with
exactly one `Ended`.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from typing import TYPE_CHECKING, TypeAlias

if TYPE_CHECKING:
    from ollm_lsp.core.agent_session import AgentSession
    from ollm_lsp.core.errors import OllmError
    from ollm_lsp.core.foreign_edit import ForeignEdit
    from ollm_lsp.core.model import ModelId
    from ollm_lsp.core.tool import Location, ToolCall, ToolKind, ToolResult, ToolStatus
    from ollm_lsp.core.usage import Cost, Usage


class FinishReason(StrEnum):
    """Why a model, or a whole chat, stopped."""

    STOP = "stop"
    LENGTH = "length"
    TOOL_USE = "tool_use"
    CONTENT_FILTER = "content_filter"
    CANCELLED = "cancelled"
    MAX_TURNS = "max_turns"
    ERROR = "error"


@dataclass(frozen=True, slots=True)
class TextDelta:
    """More of the answer."""

    text: str


@dataclass(frozen=True, slots=True)
class ReasoningDelta:
    """More of the model's thoughts."""

    text: str


@dataclass(frozen=True, slots=True)
class ReasoningSigned:
    """The provider's mark on the thoughts before it, or on thoughts that it does not show."""

    signature: str
    is_redacted: bool = False


@dataclass(frozen=True, slots=True)
class ToolCalled:
    """The model asks for a tool; the call is complete."""

    call: ToolCall


@dataclass(frozen=True, slots=True)
class UsageReported:
    """The provider's count for one response; a later report replaces an earlier one.

    `cost` is what the provider itself says that it takes, where it says so.
    """

    usage: Usage
    cost: Cost | None = None


@dataclass(frozen=True, slots=True)
class Activity:
    """What keeps the user waiting, such as a model being loaded; `percentage` where it can be known."""

    message: str
    percentage: int | None = None


@dataclass(frozen=True, slots=True)
class Warned:
    """Something the user should know although the chat goes on."""

    code: str
    message: str
    remedy: str | None = None


@dataclass(frozen=True, slots=True)
class Finished:
    """The model has said everything."""

    reason: FinishReason


@dataclass(frozen=True, slots=True)
class SessionReported:
    """By what name a CLI agent keeps the exchange, so that it can be asked to go on."""

    session: AgentSession


def is_speech(event: ProviderEvent) -> bool:
    """Whether the event is something that the model says: after that, nothing may be sent again."""
    return not isinstance(event, UsageReported | Activity | Warned)


@dataclass(frozen=True, slots=True)
class Started:
    """A chat begins."""

    conversation_id: str
    response_id: str
    model: ModelId


@dataclass(frozen=True, slots=True)
class TurnStarted:
    """The model is asked, for the `number`-th time in this chat."""

    number: int


@dataclass(frozen=True, slots=True)
class ToolChanged:
    """How far a tool call has come; a later event with the same `id` replaces an earlier one.

    The id is ours and no other call has it, while that of the `call` may come again in the next turn: some models
    count from zero each time. `result` is there once the call is settled.

    As a provider's event it tells of a tool that the provider, a CLI agent, runs by itself; `edits` are what it tells
    of the files that it changes.
    """

    id: str
    call: ToolCall
    kind: ToolKind
    title: str
    locations: tuple[Location, ...]
    status: ToolStatus
    result: ToolResult | None = None
    edits: tuple[ForeignEdit, ...] = ()


@dataclass(frozen=True, slots=True)
class UsageChanged:
    """Totals of the chat so far, and how full the model's context was in its newest turn."""

    usage: Usage
    cost: Cost
    context_tokens: int
    context_limit: int | None


@dataclass(frozen=True, slots=True)
class Escalated:
    """The model was not enough: the user is about to be asked whether an external one may answer instead."""

    reason: str
    provider: str
    model: str


@dataclass(frozen=True, slots=True)
class Failed:
    """The chat cannot go on."""

    error: OllmError


@dataclass(frozen=True, slots=True)
class Ended:
    """The chat is over. Always last, exactly once."""

    reason: FinishReason


ProviderEvent: TypeAlias = (
    TextDelta
    | ReasoningDelta
    | ReasoningSigned
    | ToolCalled
    | ToolChanged
    | UsageReported
    | SessionReported
    | Activity
    | Warned
    | Finished
)
ChatEvent: TypeAlias = (
    Started
    | TurnStarted
    | TextDelta
    | ReasoningDelta
    | ToolChanged
    | UsageChanged
    | Activity
    | Warned
    | Escalated
    | Failed
    | Ended
)
