"""A turn: what the model said, whole and in order."""

from __future__ import annotations

import time

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from ollm_lsp.core.events import (
    Activity,
    Finished,
    FinishReason,
    ProviderEvent,
    ReasoningDelta,
    ReasoningSigned,
    TextDelta,
    ToolCalled,
    UsageReported,
    Warned,
)
from ollm_lsp.core.messages import Part, Reasoning, Role, Text
from ollm_lsp.core.tool import ToolCall
from ollm_lsp.core.turn import Turn
from ollm_lsp.core.usage import Usage
from tests.core.values import patient, reasons, said


def turn_of(*events: ProviderEvent) -> Turn:
    turn = Turn()
    for event in events:
        turn.add(event)
    return turn


def parts_of(events: list[ProviderEvent]) -> list[Part]:
    """The parts that events make: neighbours of a kind are one up to a signature, and what is empty is none."""
    parts: list[Part] = []
    is_open = False
    for event in events:
        last = parts[-1] if is_open else None
        match event:
            case TextDelta(text) if isinstance(last, Text):
                parts[-1] = Text(last.text + text)
            case ReasoningDelta(text) if isinstance(last, Reasoning):
                parts[-1] = Reasoning(last.text + text)
            case TextDelta(text) | ReasoningDelta(text):
                parts.append(Text(text) if isinstance(event, TextDelta) else Reasoning(text))
                is_open = True
            case ReasoningSigned(signature, is_redacted=False) if isinstance(last, Reasoning):
                parts[-1], is_open = Reasoning(last.text, signature), False
            case ReasoningSigned(signature, is_redacted):
                parts.append(Reasoning("", signature, is_redacted))
                is_open = False
            case ToolCalled(call):
                parts.append(call)
                is_open = False
            case _:
                pass
    return [part for part in parts if part not in (Text(""), Reasoning(""))]


@pytest.mark.prop("core-28")
@patient
@given(st.lists(said, max_size=30))
@example([TextDelta("")])
@example([TextDelta("a"), Activity("loading"), TextDelta("b")])
def test_the_deltas_joined_are_the_whole_and_the_parts_keep_their_order(events: list[ProviderEvent]) -> None:
    message = turn_of(*events).message
    assert list(message.parts if message else ()) == parts_of(events)
    assert (message.text if message else "") == "".join(event.text for event in events if isinstance(event, TextDelta))
    assert message is None or message.role is Role.ASSISTANT


@pytest.mark.prop("core-28")
@patient
@given(st.lists(said, max_size=20), st.data())
def test_a_message_that_is_asked_for_early_is_the_message_so_far(
    events: list[ProviderEvent], data: st.DataObject
) -> None:
    cut = data.draw(st.integers(0, len(events)))
    turn = turn_of(*events[:cut])
    early = turn.message
    assert early == turn_of(*events[:cut]).message
    for event in events[cut:]:
        turn.add(event)
    assert turn.message == turn_of(*events).message


@patient
@given(st.lists(said, max_size=20), reasons)
def test_the_last_usage_and_the_finish_reason_count(events: list[ProviderEvent], reason: FinishReason) -> None:
    turn = turn_of(*events)
    reported = [event.usage for event in events if isinstance(event, UsageReported)]
    assert turn.usage == (reported[-1] if reported else Usage())
    assert turn.finish is None
    turn.add(Finished(reason))
    assert turn.finish is reason


@pytest.mark.prop("core-6")
def test_tool_calls_without_text_are_a_message() -> None:
    calls = [ToolCall("1", "read", {"path": "a"}), ToolCall("2", "read", {"path": "b"})]
    message = turn_of(*map(ToolCalled, calls)).message
    assert message is not None
    assert message.parts == tuple(calls)


def test_a_model_that_says_nothing_has_no_message() -> None:
    assert turn_of(Activity("loading"), Warned("code", "message"), TextDelta(""), ReasoningDelta("")).message is None


@pytest.mark.threat("F2")
@patient
@given(st.lists(st.text("a😀\ud83d\ude00\udc00", max_size=3), max_size=8))
@example(["\ud83d", "\ude00"])
@example(["\ufeff", "a"])
def test_what_is_kept_can_be_sent_again_even_when_a_server_cuts_characters_in_two(deltas: list[str]) -> None:
    message = turn_of(*map(TextDelta, deltas)).message
    text = message.text if message else ""
    assert text.encode().decode() == text
    units = "".join(deltas).encode("utf-16-le", "surrogatepass")
    kept = text.encode("utf-16-le")
    assert len(kept) == len(units)
    for at in range(0, len(units), 2):
        assert kept[at : at + 2] in (units[at : at + 2], "\ufffd".encode("utf-16-le"))
    assert "😀" in text or "\ud83d\ude00" not in "".join(deltas)


@pytest.mark.threat("F18")
@pytest.mark.prop("core-28")
def test_four_times_as_many_deltas_take_about_four_times_as_long() -> None:
    def took(size: int) -> float:
        times: list[float] = []
        for _ in range(5):
            began = time.thread_time()
            turn = turn_of(*[TextDelta("x" * 50)] * size)
            assert turn.message is not None
            times.append(time.thread_time() - began)
        return min(times)

    assert took(40_000) <= 10 * took(10_000)
