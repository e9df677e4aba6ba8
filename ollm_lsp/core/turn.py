"""One model response as it grows."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, assert_never

from ollm_lsp.core.events import (
    Activity,
    Finished,
    FinishReason,
    ProviderEvent,
    ReasoningDelta,
    ReasoningSigned,
    SessionReported,
    TextDelta,
    ToolCalled,
    ToolChanged,
    UsageReported,
    Warned,
)
from ollm_lsp.core.messages import Message, Reasoning, Role, Text
from ollm_lsp.core.usage import Usage

if TYPE_CHECKING:
    from ollm_lsp.core.messages import Part
    from ollm_lsp.core.tool import ToolCall
    from ollm_lsp.core.usage import Cost


_BLOCK = 1_024
"""So many deltas are joined at once. As strings of their own they would take ten times the memory of their text."""


@dataclass(slots=True)
class _Growing:
    kind: type[Text | Reasoning]
    signature: str | None = None
    _blocks: list[str] = field(default_factory=list[str])
    _deltas: list[str] = field(default_factory=list[str])

    def add(self, delta: str) -> None:
        self._deltas.append(delta)
        if len(self._deltas) == _BLOCK:
            self._blocks.append("".join(self._deltas))
            self._deltas.clear()

    @property
    def part(self) -> Text | Reasoning | None:
        text = _well_formed("".join((*self._blocks, *self._deltas)))
        if self.signature is not None:
            return Reasoning(text, self.signature)
        return self.kind(text) if text else None


class Turn:
    """Collects a provider's events into a message. The message is made when it is asked for."""

    def __init__(self) -> None:
        self.usage = Usage()
        self.cost: Cost | None = None
        """What the provider itself says."""
        self.finish: FinishReason | None = None
        self._parts: list[_Growing | Reasoning | ToolCall] = []

    def add(self, event: ProviderEvent) -> None:
        match event:
            case TextDelta(text):
                self._grow(Text, text)
            case ReasoningDelta(text):
                self._grow(Reasoning, text)
            case ReasoningSigned(signature, is_redacted):
                self._sign(signature, is_redacted=is_redacted)
            case ToolCalled(call):
                self._parts.append(call)
            case UsageReported(usage, cost):
                self.usage, self.cost = usage, cost
            case Finished(reason):
                self.finish = reason
            case ToolChanged() | SessionReported() | Activity() | Warned():
                pass
            case _:
                assert_never(event)

    def _grow(self, kind: type[Text | Reasoning], delta: str) -> None:
        self._growing(kind).add(delta)

    def _sign(self, signature: str, *, is_redacted: bool) -> None:
        if is_redacted:
            self._parts.append(Reasoning("", signature, is_redacted=True))
        else:
            self._growing(Reasoning).signature = signature

    def _growing(self, kind: type[Text | Reasoning]) -> _Growing:
        """The part that a delta continues: the last one, if it is of that kind and not yet signed."""
        last = self._parts[-1] if self._parts else None
        if isinstance(last, _Growing) and last.kind is kind and last.signature is None:
            return last
        self._parts.append(begun := _Growing(kind))
        return begun

    @property
    def message(self) -> Message | None:
        """The assistant's message so far, or nothing when the model has said nothing."""
        parts: list[Part] = []
        for part in self._parts:
            kept = part.part if isinstance(part, _Growing) else part
            if kept is not None:
                parts.append(kept)
        return Message(Role.ASSISTANT, tuple(parts)) if parts else None


def _well_formed(text: str) -> str:
    """The text as UTF-8 can hold it: halves of a character from two deltas are joined, a lone half is replaced."""
    return text.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "replace")
