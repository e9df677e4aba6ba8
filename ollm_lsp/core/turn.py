"""One model response as it grows."""

from __future__ import annotations

from typing import TYPE_CHECKING, TypeAlias, assert_never

from ollm_lsp.core.events import (
    Activity,
    Finished,
    FinishReason,
    ProviderEvent,
    ReasoningDelta,
    TextDelta,
    ToolCalled,
    UsageReported,
    Warned,
)
from ollm_lsp.core.messages import Message, Reasoning, Role, Text
from ollm_lsp.core.tool import ToolCall
from ollm_lsp.core.usage import Usage

if TYPE_CHECKING:
    from ollm_lsp.core.messages import Part

_Growing: TypeAlias = tuple[type[Text] | type[Reasoning], list[str]]


class Turn:
    """Collects a provider's events into a message. Deltas are joined once, when the message is asked for."""

    def __init__(self) -> None:
        self.usage = Usage()
        self.finish: FinishReason | None = None
        self._parts: list[_Growing | ToolCall] = []

    def add(self, event: ProviderEvent) -> None:
        match event:
            case TextDelta(text):
                self._grow(Text, text)
            case ReasoningDelta(text):
                self._grow(Reasoning, text)
            case ToolCalled(call):
                self._parts.append(call)
            case UsageReported(usage):
                self.usage = usage
            case Finished(reason):
                self.finish = reason
            case Activity() | Warned():
                pass
            case _:
                assert_never(event)

    def _grow(self, kind: type[Text | Reasoning], delta: str) -> None:
        if self._parts and not isinstance(last := self._parts[-1], ToolCall) and last[0] is kind:
            last[1].append(delta)
        else:
            self._parts.append((kind, [delta]))

    @property
    def message(self) -> Message | None:
        """The assistant's message so far, or nothing when the model has said nothing."""
        parts: list[Part] = []
        for part in self._parts:
            if isinstance(part, ToolCall):
                parts.append(part)
            elif text := _well_formed("".join(part[1])):
                parts.append(part[0](text))
        return Message(Role.ASSISTANT, tuple(parts)) if parts else None


def _well_formed(text: str) -> str:
    """The text as UTF-8 can hold it: halves of a character from two deltas are joined, a lone half is replaced."""
    return text.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "replace")
