"""The Messages wire: endings, blocks, and answers without loss."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import pytest
from anthropic.types import RawMessageStreamEvent
from hypothesis import given
from hypothesis import strategies as st
from pydantic import TypeAdapter

from ollm_lsp.core.errors import (
    AuthenticationFailed,
    IncompleteAnswer,
    MalformedAnswer,
    ModelNotFound,
    ProviderError,
    RateLimited,
    ServerFailed,
    TimedOut,
)
from ollm_lsp.core.events import FinishReason, ReasoningSigned, ToolCalled
from ollm_lsp.core.messages import Message, Reasoning, Role, Text
from ollm_lsp.core.tool import ToolCall
from ollm_lsp.core.turn import Turn
from ollm_lsp.providers.wire.faults import MAX_CALLS
from tests.core.values import patient
from tests.providers import sendable
from tests.providers.recorded import ANTHROPIC, Recording
from tests.providers.replay import (
    FILTERED,
    LENGTH,
    STOP,
    TOOL_USE,
    Outcome,
    anthropic,
    called,
    counted,
    play,
    said,
    sse,
    thought,
)
from tests.providers.values import arguments, foreign_json, hostile_arguments

if TYPE_CHECKING:
    from collections.abc import Sequence

    from ollm_lsp.core.events import ProviderEvent
    from ollm_lsp.core.messages import Part


@pytest.mark.parametrize("recording", [it for it in ANTHROPIC if "llama_cpp" not in it.path], ids=str)
def test_anthropic_itself_would_know_the_events_that_are_written_by_hand(recording: Recording) -> None:
    event_type = TypeAdapter[Any](RawMessageStreamEvent)
    lines = [line.removeprefix("data: ") for line in recording.raw.decode().splitlines() if line.startswith("data: ")]
    kinds = [event_type.validate_json(line).type for line in lines if '"type":"ping"' not in line]
    assert (kinds[0], kinds[-1]) == ("message_start", "message_stop")


def start(index: Any = 0, **block: Any) -> dict[str, Any]:
    return {"type": "content_block_start", "index": index, "content_block": block}


def delta(kind: str, index: Any = 0, **more: Any) -> dict[str, Any]:
    return {"type": "content_block_delta", "index": index, "delta": {"type": kind, **more}}


def end(index: Any = 0) -> dict[str, Any]:
    return {"type": "content_block_stop", "index": index}


def stopped(reason: Any = "end_turn", **usage: Any) -> dict[str, Any]:
    return {"type": "message_delta", "delta": {"stop_reason": reason, "stop_sequence": None}, "usage": usage}


def begun(**usage: Any) -> dict[str, Any]:
    return {"type": "message_start", "message": {"role": "assistant", "content": [], "usage": usage}}


HI = delta("text_delta", text="Hi")
LAST = {"type": "message_stop"}
PING = {"type": "ping"}
CALL = [start(1, type="tool_use", id="c", name="f", input={}), delta("input_json_delta", 1, partial_json='{"x":1}')]
CALLED = called("c", "f", x=1)


def failed(kind: str, message: str = "No.") -> dict[str, Any]:
    return {"type": "error", "error": {"type": kind, "message": message}}


COMPLETE: dict[str, tuple[list[Any], tuple[ProviderEvent, ...]]] = {
    "text": ([start(type="text", text=""), HI, end(), stopped(), LAST], (*said("Hi"), STOP)),
    "text in the start of a block": ([start(type="text", text="Oh"), HI, LAST], (*said("Oh", "Hi"), STOP)),
    "only the end": ([LAST], (STOP,)),
    "no stop reason": ([HI, LAST], (*said("Hi"), STOP)),
    "a stop reason that is no text": ([HI, stopped(1), LAST], (*said("Hi"), STOP)),
    "an unknown stop reason": ([HI, stopped("eos"), LAST], (*said("Hi"), STOP)),
    "stop_sequence": ([HI, stopped("stop_sequence"), LAST], (*said("Hi"), STOP)),
    "max_tokens": ([HI, stopped("max_tokens"), LAST], (*said("Hi"), LENGTH)),
    "the context is full": ([HI, stopped("model_context_window_exceeded"), LAST], (*said("Hi"), LENGTH)),
    "pause_turn": ([HI, stopped("pause_turn"), LAST], (*said("Hi"), LENGTH)),
    "refusal": ([HI, stopped("refusal"), LAST], (*said("Hi"), FILTERED)),
    "pings": ([PING, HI, PING, stopped(), PING, LAST], (*said("Hi"), STOP)),
    "news": ([{"type": "news"}, HI, {"x": 1}, {}, stopped(), LAST], (*said("Hi"), STOP)),
    "blocks and deltas of other kinds": (
        [start(type="server_tool_use", id="s", name="w"), delta("citations_delta"), HI, delta("x"), LAST],
        (*said("Hi"), STOP),
    ),
    "arguments of a block that is no call": (
        [HI, delta("input_json_delta", 5, partial_json="{"), LAST],
        (*said("Hi"), STOP),
    ),
    "null everywhere": (
        [
            {"type": "message_start", "message": None},
            {"type": "content_block_start", "index": None, "content_block": None},
            {"type": "content_block_delta", "index": 0, "delta": None},
            {"type": "message_delta", "delta": None, "usage": None},
            LAST,
        ],
        (STOP,),
    ),
    "thoughts with a signature": (
        [
            start(type="thinking", thinking="", signature=""),
            delta("thinking_delta", thinking="Hm"),
            delta("signature_delta", signature="s1"),
            end(),
            HI,
            LAST,
        ],
        (*thought("Hm"), ReasoningSigned("s1"), *said("Hi"), STOP),
    ),
    "thoughts whose words are left out": (
        [start(type="thinking", thinking=""), delta("signature_delta", signature="s1"), end(), LAST],
        (ReasoningSigned("s1"), STOP),
    ),
    "a signature in the start of a block": (
        [start(type="thinking", thinking="Hm", signature="s1"), end(), LAST],
        (*thought("Hm"), ReasoningSigned("s1"), STOP),
    ),
    "the last signature counts": (
        [delta("signature_delta", signature="s1"), delta("signature_delta", signature="s2"), end(), LAST],
        (ReasoningSigned("s2"), STOP),
    ),
    "a signature whose block never ends": (
        [delta("thinking_delta", thinking="Hm"), delta("signature_delta", signature="s1"), start(1, type="text"), LAST],
        (*thought("Hm"), ReasoningSigned("s1"), STOP),
    ),
    "a signature before nothing but the end": (
        [delta("signature_delta", signature="s"), LAST],
        (ReasoningSigned("s"), STOP),
    ),
    "an empty signature": (
        [delta("thinking_delta", thinking="Hm"), delta("signature_delta", signature=""), end(), LAST],
        (*thought("Hm"), STOP),
    ),
    "redacted thoughts": (
        [start(type="redacted_thinking", data="d1"), end(), start(1, type="redacted_thinking", data=""), end(1), LAST],
        (ReasoningSigned("d1", is_redacted=True), STOP),
    ),
    "a call": ([*CALL, end(1), stopped("tool_use"), LAST], (CALLED, TOOL_USE)),
    "a call ended with end_turn": ([*CALL, end(1), stopped(), LAST], (CALLED, TOOL_USE)),
    "a call whose block never ends": ([*CALL, stopped("tool_use"), LAST], (CALLED, TOOL_USE)),
    "a call cut by max_tokens": ([*CALL, end(1), stopped("max_tokens"), LAST], (LENGTH,)),
    "a call cut by the context": ([*CALL, stopped("model_context_window_exceeded"), LAST], (LENGTH,)),
    "a call stopped by a refusal": ([*CALL, end(1), stopped("refusal"), LAST], (FILTERED,)),
    "tool_use without a call": ([HI, stopped("tool_use"), LAST], (*said("Hi"), TOOL_USE)),
    "what follows a call keeps its place": (
        [*CALL, start(2, type="thinking", thinking="Hm", signature="s"), end(2), HI, stopped("tool_use"), LAST],
        (CALLED, *thought("Hm"), ReasoningSigned("s"), *said("Hi"), TOOL_USE),
    ),
    "what follows a call that is cut is kept": ([*CALL, HI, stopped("max_tokens"), LAST], (*said("Hi"), LENGTH)),
    "usage in sum": (
        [begun(input_tokens=3, output_tokens=1), HI, stopped(output_tokens=9), LAST],
        (counted(3, 1), *said("Hi"), counted(3, 9), STOP),
    ),
    "usage with a cache": (
        [
            begun(input_tokens=3, cache_read_input_tokens=50, cache_creation_input_tokens=7, output_tokens=1),
            stopped(output_tokens=9),
            LAST,
        ],
        (counted(60, 1, 50, 7), counted(60, 9, 50, 7), STOP),
    ),
    "usage at the end only": ([stopped(input_tokens=3, output_tokens=9), LAST], (counted(3, 9), STOP)),
    "usage that ends with nothing": (
        [begun(input_tokens=3, output_tokens=1), stopped(input_tokens=0, output_tokens=9), LAST],
        (counted(3, 1), counted(3, 9), STOP),
    ),
    "senseless usage": ([begun(input_tokens=-1, output_tokens="9"), LAST], (counted(0, 0), STOP)),
    "whatever follows the end": ([HI, LAST, "garbage", HI], (*said("Hi"), STOP)),
}


@pytest.mark.threat("F7")
@pytest.mark.prop("core-28")
@pytest.mark.prop("krk-6")
@pytest.mark.parametrize(("frames", "events"), COMPLETE.values(), ids=COMPLETE)
def test_an_answer_that_ends_well_gives_its_events_and_one_finish(
    frames: list[Any], events: tuple[ProviderEvent, ...]
) -> None:
    assert play(anthropic, [sse(*frames)]) == Outcome(events)


BROKEN: dict[str, tuple[list[Any], tuple[ProviderEvent, ...], type[ProviderError], str]] = {
    "nothing at all": ([], (), IncompleteAnswer, "ended before"),
    "text without an end": ([HI], said("Hi"), IncompleteAnswer, "ended before"),
    "a stop reason without the end": ([HI, stopped()], said("Hi"), IncompleteAnswer, "ended before"),
    "a call without the end": ([*CALL, end(1), stopped("tool_use")], (), IncompleteAnswer, "ended before"),
    "overloaded": ([HI, failed("overloaded_error", "Overloaded")], said("Hi"), ServerFailed, "Overloaded"),
    "rate limit": ([failed("rate_limit_error")], (), RateLimited, "No."),
    "authentication": ([failed("authentication_error")], (), AuthenticationFailed, "No."),
    "billing": ([failed("billing_error")], (), RateLimited, "No."),
    "model": ([failed("not_found_error", "model: x")], (), ModelNotFound, "model: x"),
    "time": ([failed("timeout_error")], (), TimedOut, "No."),
    "an error of another kind": ([failed("odd_error")], (), ServerFailed, "No."),
    "an error without anything": ([{"type": "error"}], (), ServerFailed, "error"),
    "an error without a type": ([HI, {"error": {"message": "lost it"}}], said("Hi"), ServerFailed, "lost it"),
    "an error as text": ([{"error": "lost it"}], (), ServerFailed, "lost it"),
    "no JSON": ([HI, "garbage"], said("Hi"), MalformedAnswer, "garbage"),
    "a list": (["[]"], (), MalformedAnswer, "unexpected shape"),
    "a call without a name": ([start(type="tool_use", id="c"), LAST], (), MalformedAnswer, "cannot be read"),
    "a call with half its arguments": (
        [start(type="tool_use", id="c", name="f"), delta("input_json_delta", partial_json='{"x'), stopped(), LAST],
        (),
        MalformedAnswer,
        "'f'",
    ),
    "a good call and a bad one": (
        [*CALL, start(2, type="tool_use", id="d", name="g"), delta("input_json_delta", 2, partial_json="["), LAST],
        (),
        MalformedAnswer,
        "'g'",
    ),
}


@pytest.mark.threat("F5", "F6", "F14")
@pytest.mark.prop("core-28")
@pytest.mark.prop("eng-7")
@pytest.mark.parametrize(("frames", "events", "error", "words"), BROKEN.values(), ids=BROKEN)
def test_an_answer_that_ends_badly_gives_an_error_and_never_a_finish(
    frames: list[Any], events: tuple[ProviderEvent, ...], error: type[ProviderError], words: str
) -> None:
    outcome = play(anthropic, [sse(*frames)])
    assert (outcome.events, outcome.error) == (events, error)
    assert words in outcome.message
    assert len(outcome.message) < 400


def test_an_event_without_a_type_has_that_of_its_name() -> None:
    raw = b'event: content_block_delta\ndata: {"delta":{"type":"text_delta","text":"Hi"}}\n\n'
    assert play(anthropic, [raw, b"event: message_stop\ndata: {}\n\n"]) == Outcome((*said("Hi"), STOP))


def pieces(*blocks: tuple[dict[str, Any], list[str]]) -> Outcome:
    frames: list[Any] = []
    for index, (block, texts) in enumerate(blocks):
        frames += [start(index, type="tool_use", **block)]
        frames += [delta("input_json_delta", index, partial_json=text) for text in texts]
        frames += [end(index)]
    return play(anthropic, [sse(*frames, stopped("tool_use"), LAST)])


CALLS: dict[str, tuple[dict[str, Any], list[str], ToolCall]] = {
    "in pieces": ({"id": "a", "name": "f", "input": {}}, ["", '{"x"', ":[1]}"], ToolCall("a", "f", {"x": [1]})),
    "no arguments": ({"id": "a", "name": "f", "input": {}}, [], ToolCall("a", "f", {})),
    "empty arguments": ({"id": "a", "name": "f"}, ["", ""], ToolCall("a", "f", {})),
    "arguments at once": ({"id": "a", "name": "f", "input": {"x": "é"}}, [], ToolCall("a", "f", {"x": "é"})),
    "pieces count more": ({"id": "a", "name": "f", "input": {"x": 1}}, ["{}"], ToolCall("a", "f", {})),
    "no id": ({"name": "f"}, ["{}"], ToolCall("call_0", "f", {})),
}


@pytest.mark.threat("F12")
@pytest.mark.prop("krk-6")
@pytest.mark.parametrize(("block", "texts", "call"), CALLS.values(), ids=CALLS)
def test_the_pieces_of_a_tool_call_are_put_together(block: dict[str, Any], texts: list[str], call: ToolCall) -> None:
    assert pieces((block, texts)) == Outcome((ToolCalled(call), TOOL_USE))


@pytest.mark.threat("T12", "F13")
@pytest.mark.parametrize("document", hostile_arguments.values(), ids=hostile_arguments)
def test_arguments_that_two_parsers_could_read_differently_are_refused(document: str) -> None:
    outcome = pieces(({"id": "a", "name": "f"}, ["{}"]), ({"id": "b", "name": "g"}, [document]))
    assert (outcome.events, outcome.error) == ((), MalformedAnswer)
    assert "'g'" in outcome.message


@pytest.mark.threat("T30")
def test_an_answer_with_too_many_calls_is_refused() -> None:
    assert len(pieces(*[({"name": "f"}, ["{}"])] * MAX_CALLS).events) == MAX_CALLS + 1
    outcome = pieces(*[({"name": "f"}, ["{}"])] * (MAX_CALLS + 1))
    assert (outcome.events, outcome.error) == ((), MalformedAnswer)


def test_what_the_model_works_on_counts_as_progress_also_inside_a_tool_call() -> None:
    answer = anthropic()
    sizes: list[int] = []
    for frame in (begun(), PING, HI, delta("thinking_delta", thinking="Hmm"), *CALL, HI, stopped(output_tokens=3)):
        list(answer.feed(sse(frame)))
        sizes.append(answer.size)
    assert sizes == [0, 0, 2, 5, 6, 13, 15, 15]


_kinds = st.sampled_from(
    ["message_start", "content_block_start", "content_block_delta", "content_block_stop", "message_delta", "error"]
)


@pytest.mark.prop("core-28")
@patient
@given(
    st.lists(foreign_json("type index content_block delta text thinking signature usage error name id input") | _kinds)
)
def test_any_json_at_all_gives_events_or_a_typed_error(frames: list[Any]) -> None:
    frames = [{"type": frame, "delta": frames[0], "index": 0} if isinstance(frame, str) else frame for frame in frames]
    outcome = play(anthropic, [sse(*frames)])
    assert outcome.error is not None or frames == [] or outcome.events[-1] == STOP
    assert not outcome.acts or outcome.error is None


def streamed(message: Message) -> list[Any]:
    """The events with which Anthropic would have said this."""
    frames: list[Any] = []
    for index, part in enumerate(message.parts):
        match part:
            case Text(text):
                frames += [start(index, type="text", text=""), delta("text_delta", index, text=text)]
            case Reasoning("", signature, True):
                frames += [start(index, type="redacted_thinking", data=signature)]
            case Reasoning(text, signature):
                frames += [start(index, type="thinking", thinking="", signature="")]
                frames += [delta("thinking_delta", index, thinking=text)]
                frames += [delta("signature_delta", index, signature=signature or "")]
            case ToolCall(call_id, name, given):
                text = json.dumps(given)
                frames += [start(index, type="tool_use", id=call_id, name=name, input={})]
                frames += [delta("input_json_delta", index, partial_json=piece) for piece in (text[:5], text[5:])]
            case _:
                raise AssertionError(part)
        frames.append(end(index))
    return frames


def _answer(parts: Sequence[Part]) -> Message:
    """A message of these parts, without those that would grow into one with the part before."""
    kept = [part for index, part in enumerate(parts) if index == 0 or type(part) is not type(parts[index - 1])]
    return Message(Role.ASSISTANT, tuple(kept))


_calls = st.builds(ToolCall, sendable.tool_names, sendable.tool_names, arguments)
_answers = st.lists(st.one_of(sendable.thoughts, st.builds(Text, sendable.words), _calls), min_size=1, max_size=5).map(
    _answer
)


@pytest.mark.prop("core-12")
@pytest.mark.prop("krk-6")
@patient
@given(_answers)
def test_any_answer_is_kept_exactly_as_it_was_said(message: Message) -> None:
    turn = Turn()
    for event in play(anthropic, [sse(*streamed(message), stopped("end_turn"), LAST)]).events:
        turn.add(event)
    assert turn.message == message
    calls = any(isinstance(part, ToolCall) for part in message.parts)
    assert turn.finish is (FinishReason.TOOL_USE if calls else FinishReason.STOP)
