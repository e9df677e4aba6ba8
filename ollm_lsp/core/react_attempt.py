"""One answer of a model that uses ReAct: usable, or to be corrected."""

from __future__ import annotations

from typing import TYPE_CHECKING, assert_never

from ollm_lsp.core.errors import MalformedAnswer
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
from ollm_lsp.core.react_action import Misstep
from ollm_lsp.core.react_parser import ReactParser
from ollm_lsp.core.tokens import CHARS_PER_TOKEN, estimate
from ollm_lsp.core.usage import Usage
from ollm_lsp.core.written_call import call_ids

if TYPE_CHECKING:
    from collections.abc import Iterable

    from ollm_lsp.core.ports import Fits
    from ollm_lsp.core.react_parser import ReactEvent
    from ollm_lsp.core.request import ChatRequest
    from ollm_lsp.core.tool import ToolCall

_UNFINISHED = "There is neither an Action nor a Final Answer."
_WHOLE = (FinishReason.STOP, FinishReason.TOOL_USE)


class Attempt:
    """Turns what a model writes into events. Calls wait for the end, because an answer cut by its length makes none."""

    def __init__(self, request: ChatRequest, fits: Fits, previous: Attempt | None = None) -> None:
        self.taken = call_ids(request.messages)
        self.text_gap = "\n\n" if previous and (previous.has_answered or previous.text_gap) else ""
        self.thought_gap = "\n" if previous and (previous.thoughts or previous.thought_gap) else ""
        """What stands between the words of the answers before it and its own."""
        self.has_answered = False
        self.thoughts: list[str] = []
        self._schemas = {tool.name: tool.parameters for tool in request.tools}
        self._fits = fits
        self._parser = ReactParser(self._schemas, self.taken)
        self._reason: FinishReason | None = None
        self._spent = previous.usage if previous else Usage()
        self._usage: Usage | None = None
        self._size = 0
        self._calls: list[ToolCall] = []
        self._misstep: Misstep | None = None

    @property
    def is_over(self) -> bool:
        """Whether nothing that may still come counts."""
        return self._parser.is_over

    @property
    def written(self) -> str:
        """What the model will be shown of it when it is corrected."""
        return self._parser.written

    @property
    def usage(self) -> Usage:
        """What this answer and those before it took."""
        return self._spent + (self._usage or Usage())

    def take(self, event: ProviderEvent) -> list[ProviderEvent]:
        """What the user may see of an event."""
        match event:
            case TextDelta(text):
                self._size += len(text)
                return self._shown(self._parser.feed(text))
            case ToolCalled(call):
                self._calls.append(call)
                return []
            case UsageReported(usage):
                self._usage = usage
                return [UsageReported(self.usage)]
            case Finished(reason):
                self._reason = reason
                return []
            case ReasoningDelta() | ReasoningSigned() | ToolChanged() | SessionReported() | Activity() | Warned():
                return [event]
            case _:
                assert_never(event)

    def close(self, asked: ChatRequest) -> list[ProviderEvent]:
        """What the end of the stream adds: the last words, and if they are usable, the calls and the end itself."""
        events: list[ProviderEvent] = []
        if self.is_over:
            self._reason = FinishReason.STOP
            if self._usage is None:
                # Providers count at the end, for which nobody waited.
                self._usage = Usage(estimate(asked.messages), -(-self._size // CHARS_PER_TOKEN))
                events.append(UsageReported(self.usage))
        events += self._shown(self._parser.close())
        if self._reason is None or self.problem is not None:
            return events
        if self._reason not in _WHOLE:
            return [*events, Finished(self._reason)]
        reason = FinishReason.TOOL_USE if self._calls else FinishReason.STOP
        return [*events, *map(ToolCalled, self._calls), Finished(reason)]

    @property
    def problem(self) -> str | None:
        """What the model has to do better, in words for the model."""
        if self._reason not in _WHOLE:
            return None
        if self._misstep:
            return self._misstep.problem
        for call in self._calls:
            wrong = self._fits(self._schemas.get(call.name, {}), call.arguments)
            if wrong is not None:
                return f"The Action Input does not fit the tool {call.name}: {wrong.rstrip('.')}."
        is_unfinished = self.thoughts and not self._calls and not self.has_answered
        return _UNFINISHED if is_unfinished else None

    def give_up(self, problem: str) -> list[ProviderEvent]:
        """The end after the last correction: thoughts without an answer are the answer."""
        if problem == _UNFINISHED:
            return [TextDelta("".join(self.thoughts)), Finished(FinishReason.STOP)]
        raise MalformedAnswer(
            f"The model called a tool in a way that cannot be used, also after it was corrected. {problem}",
            remedy="Ask again, or choose a model that is better with tools.",
        )

    def _shown(self, read: Iterable[ReactEvent]) -> list[ProviderEvent]:
        events: list[ProviderEvent] = []
        for event in read:
            match event:
                case TextDelta(text):
                    events.append(TextDelta(self.text_gap + text))
                    self.has_answered, self.text_gap = True, ""
                case ReasoningDelta(text):
                    events.append(ReasoningDelta(self.thought_gap + text))
                    self.thoughts.append(text)
                    self.thought_gap = ""
                case ToolCalled(call):
                    self._calls.append(call)
                case Misstep():
                    self._misstep = event
                case _:
                    assert_never(event)
        return events
