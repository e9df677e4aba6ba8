"""Plays the bytes of an answer through the framer and the decoder of a wire."""

from __future__ import annotations

import json
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cache
from typing import TYPE_CHECKING, Any, TypeAlias
from unittest.mock import patch

from ollm_lsp.core.errors import ProviderError
from ollm_lsp.core.events import Finished, FinishReason, ReasoningDelta, TextDelta, ToolCalled, UsageReported
from ollm_lsp.core.foreign_json import decode
from ollm_lsp.core.tool import ToolCall
from ollm_lsp.core.usage import Usage
from ollm_lsp.providers.framing import NdjsonFramer, SseFramer
from ollm_lsp.providers.wire import anthropic_messages, faults, google_generate, ollama_chat, openai_chat
from ollm_lsp.providers.wire.codec import Answer
from tests.support.scale import IS_LARGE

if TYPE_CHECKING:
    from collections.abc import Callable, Generator, Iterable

    from ollm_lsp.core.events import ProviderEvent

Wire: TypeAlias = "Callable[[], Answer[Any]]"


def openai() -> Answer[Any]:
    return Answer(SseFramer(), openai_chat.Decoder())


def ollama() -> Answer[Any]:
    return Answer(NdjsonFramer(), ollama_chat.Decoder())


def anthropic() -> Answer[Any]:
    return Answer(SseFramer(), anthropic_messages.Decoder())


def google() -> Answer[Any]:
    return Answer(SseFramer(), google_generate.Decoder())


@dataclass(frozen=True)
class Outcome:
    """The events, and how it ended when it did not end well."""

    events: tuple[ProviderEvent, ...]
    error: type[ProviderError] | None = None
    message: str = ""

    @property
    def acts(self) -> bool:
        """Whether anything in it makes the chat do something, or take the answer for complete."""
        return any(isinstance(event, Finished | ToolCalled) for event in self.events)


STOP = Finished(FinishReason.STOP)
LENGTH = Finished(FinishReason.LENGTH)
TOOL_USE = Finished(FinishReason.TOOL_USE)
FILTERED = Finished(FinishReason.CONTENT_FILTER)


def said(*texts: str) -> tuple[ProviderEvent, ...]:
    return tuple(map(TextDelta, texts))


def thought(*texts: str) -> tuple[ProviderEvent, ...]:
    return tuple(map(ReasoningDelta, texts))


def counted(given: int = 0, taken: int = 0, cached: int = 0, written: int = 0) -> UsageReported:
    return UsageReported(Usage(given, taken, cached, written))


def called(call_id: str, name: str, **arguments: Any) -> ToolCalled:
    return ToolCalled(ToolCall(call_id, name, arguments))


def play(wire: Wire, chunks: Iterable[bytes]) -> Outcome:
    """What a provider makes of these chunks, when the connection ends after them."""
    answer = wire()
    events: list[ProviderEvent] = []
    try:
        for chunk in chunks:
            events.extend(answer.feed(chunk))  # keeps what comes before an error
            if answer.finished:
                return Outcome(tuple(events))
        events.extend(answer.close())
    except ProviderError as error:
        return Outcome(tuple(events), type(error), error.message if error.remedy else "no remedy")
    return Outcome(tuple(events))


def sse(*frames: Any, end: str = "\n\n") -> bytes:
    """An event stream with these frames; what is no text becomes JSON."""
    texts = [frame if isinstance(frame, str) else json.dumps(frame) for frame in frames]
    return "".join(f"data: {text}{end}" for text in texts).encode()


def ndjson(*lines: Any) -> bytes:
    return "".join((line if isinstance(line, str) else json.dumps(line)) + "\n" for line in lines).encode()


@contextmanager
def quick_json() -> Generator[None]:
    """The same frame is decoded only once, however often it is played."""
    with patch.object(faults, "decode", cache(decode)):
        yield


def _places(raw: bytes) -> list[int]:
    """Where a recording is cut: everywhere when the tests are large, else at every tenth byte and all over its end."""
    size = len(raw) + 1
    return sorted({*range(0, size, 1 if IS_LARGE else 10), *range(max(0, size - 100), size)})


def assert_cuts_change_nothing(wire: Wire, raw: bytes) -> None:
    """Every cut into two chunks, and every byte alone, gives the same events."""
    whole = play(wire, [raw])
    assert play(wire, [raw[at : at + 1] for at in range(len(raw))]) == whole
    with quick_json():
        for at in _places(raw):
            assert play(wire, [raw[:at], raw[at:]]) == whole, f"cut at byte {at}"


def assert_complete_only_after(wire: Wire, raw: bytes, terminal: bytes) -> None:
    """A stream that breaks off anywhere before the end of its terminal frame is incomplete and does nothing."""
    whole = play(wire, [raw])
    assert whole.error is None
    signal = raw.index(terminal) + len(terminal)
    end_of_frame = min(at for at in (raw.find(b"\r", signal), raw.find(b"\n", signal)) if at >= 0)
    with quick_json():
        outcomes = [(at, play(wire, [raw[:at]])) for at in _places(raw)]
    for at, broken in outcomes:
        if at < end_of_frame:
            assert broken.error is not None, f"cut at byte {at}"
            assert broken.error.code == "incomplete", f"cut at byte {at}"
            assert not broken.acts, f"cut at byte {at}"
            assert broken.events == whole.events[: len(broken.events)], f"cut at byte {at}"
        else:
            # Only the usage, which may come after the terminal frame, can be missing.
            assert broken.error is None, f"cut at byte {at}"
            missing = [event for event in whole.events if event not in broken.events]
            assert all(isinstance(event, UsageReported) for event in missing), f"cut at byte {at}"
            assert broken.events == tuple(event for event in whole.events if event not in missing)


def assert_never_acts(wire: Wire, raw: bytes) -> None:
    """A stream that fails in the end calls no tool and finishes nothing, wherever it breaks off before that."""
    with quick_json():
        outcomes = [(at, play(wire, [raw[:at]])) for at in _places(raw)]
    for at, broken in outcomes:
        assert broken.error is not None, f"cut at byte {at}"
        assert not broken.acts, f"cut at byte {at}"
