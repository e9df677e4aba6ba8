"""Tool-call repair: calls that a model wrote as text, or under a slightly wrong name, become calls.

The rules and their limits are told in docs/tool-calls.md.
"""

from __future__ import annotations

from contextlib import aclosing
from dataclasses import replace
from typing import TYPE_CHECKING, assert_never

from ollm_lsp.core.errors import ProviderError
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
from ollm_lsp.core.fit import any_object
from ollm_lsp.core.provider_around import ProviderAround
from ollm_lsp.core.written_call import CallWatch, call_ids, offered, written_calls

if TYPE_CHECKING:
    from collections.abc import AsyncGenerator, Iterable, Sequence

    from ollm_lsp.core.ports import Fits, Provider
    from ollm_lsp.core.request import ChatRequest
    from ollm_lsp.core.tool import ToolSpec


class RepairingProvider(ProviderAround):
    """A provider whose model can call tools, and sometimes does it wrongly."""

    def __init__(self, inner: Provider, fits: Fits = any_object) -> None:
        super().__init__(inner)
        self._fits = fits

    def stream(self, request: ChatRequest) -> AsyncGenerator[ProviderEvent]:
        events = super().stream(request)
        if not request.tools:
            return events
        return repaired(events, request.tools, self._fits, taken=call_ids(request.messages))


async def repaired(
    events: AsyncGenerator[ProviderEvent],
    tools: Sequence[ToolSpec],
    fits: Fits = any_object,
    *,
    taken: Iterable[str] = (),
) -> AsyncGenerator[ProviderEvent]:
    """The events of a provider's stream; a text that is nothing but calls becomes these calls.

    `taken` are the ids of the calls that the conversation has already. Text is held back only while it could still
    become a call.
    """
    repair = _Repair(tools, fits, taken)
    async with aclosing(events) as stream:
        try:
            async for event in stream:
                for said in repair.take(event):
                    yield said
        except ProviderError:
            for delta in repair.give_up():
                yield delta
            raise
    for delta in repair.give_up():
        yield delta


class _Repair:
    """Keeps the text that could still become a call."""

    def __init__(self, tools: Sequence[ToolSpec], fits: Fits, taken: Iterable[str]) -> None:
        self._tools = tools
        self._names = [tool.name for tool in tools]
        self._fits = fits
        self._taken = taken
        self._watch = CallWatch(self._names)
        self._held: list[TextDelta] = []
        self._is_open = bool(tools)

    def take(self, event: ProviderEvent) -> list[ProviderEvent]:
        """What may be passed on now that this has come."""
        match event:
            case TextDelta(text):
                self._held.append(event)
                is_held = self._is_open and self._watch.feed(text)
                return [] if is_held else self.give_up()
            case ReasoningDelta() | ReasoningSigned():
                # Thoughts come before a call, not in the middle of it.
                return [*self.give_up(), event] if self._text.strip() else [*self._release(), event]
            case ToolCalled(call):
                name = offered(call.name, self._names) or call.name
                return [*self.give_up(), ToolCalled(replace(call, name=name))]
            case Finished(reason):
                return self._finish(reason)
            case ToolChanged() | UsageReported() | SessionReported() | Activity() | Warned():
                return [event]
            case _:
                assert_never(event)

    def give_up(self) -> list[ProviderEvent]:
        """All that is held: this answer is not a call."""
        self._is_open = False
        return self._release()

    def _release(self) -> list[ProviderEvent]:
        released, self._held = self._held, []
        return [*released]

    def _finish(self, reason: FinishReason) -> list[ProviderEvent]:
        is_whole = reason in (FinishReason.STOP, FinishReason.TOOL_USE)
        calls = written_calls(self._text, self._tools, self._fits, self._taken) if is_whole else []
        if not calls:
            return [*self.give_up(), Finished(reason)]
        self._held = []
        return [*map(ToolCalled, calls), Finished(FinishReason.TOOL_USE)]

    @property
    def _text(self) -> str:
        return "".join(delta.text for delta in self._held)
