"""Two closed unions: what a model says (`ProviderEvent`) and what a chat does (`ChatEvent`).

A provider's stream ends with exactly one `Finished`, or it raises a `ProviderError`. A chat always ends with
exactly one `Ended`.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from typing import TYPE_CHECKING, TypeAlias

if TYPE_CHECKING:
    from ollm_lsp.core.errors import OllmError
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
    """The provider's count for one response; a later report replaces an earlier one."""

    usage: Usage


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


ProviderEvent: TypeAlias = (
    TextDelta | ReasoningDelta | ReasoningSigned | ToolCalled | UsageReported | Activity | Warned | Finished
)


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
    """

    id: str
    call: ToolCall
    kind: ToolKind
    title: str
    locations: tuple[Location, ...]
    status: ToolStatus
    result: ToolResult | None = None


@dataclass(frozen=True, slots=True)
class UsageChanged:
    """Totals of the chat so far, and how full the model's context was in its newest turn."""

    usage: Usage
    cost: Cost
    context_tokens: int
    context_limit: int | None


@dataclass(frozen=True, slots=True)
class Failed:
    """The chat cannot go on."""

    error: OllmError


@dataclass(frozen=True, slots=True)
class Ended:
    """The chat is over. Always last, exactly once."""

    reason: FinishReason


ChatEvent: TypeAlias = (
    Started | TurnStarted | TextDelta | ReasoningDelta | ToolChanged | UsageChanged | Activity | Warned | Failed | Ended
)
