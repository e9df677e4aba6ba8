"""The Chat Completions wire: a truth table of endings, tool calls."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ollm_lsp.core.errors import (
    ContextOverflow,
    IncompleteAnswer,
    MalformedAnswer,
    ProviderError,
    RateLimited,
    ServerFailed,
)
from ollm_lsp.core.events import ToolCalled
from ollm_lsp.core.tool import ToolCall
from ollm_lsp.providers.wire.faults import MAX_CALLS
from tests.providers.replay import (
    FILTERED,
    LENGTH,
    STOP,
    TOOL_USE,
    Outcome,
    called,
    counted,
    openai,
    play,
    said,
    sse,
    thought,
)
from tests.providers.values import arguments, hostile_arguments

if TYPE_CHECKING:
    from ollm_lsp.core.events import ProviderEvent


def piece(delta: Any, finish: Any = None, **more: Any) -> dict[str, Any]:
    return {"choices": [{"index": 0, "delta": delta, "finish_reason": finish}], **more}


HI = piece({"content": "Hi"})
TOKENS: dict[str, Any] = {"prompt_tokens": 3, "completion_tokens": 2}
USAGE: dict[str, Any] = {"choices": [], "usage": TOKENS}
COUNTED = counted(3, 2)
OPEN_CALL = piece({"tool_calls": [{"index": 0, "id": "c", "function": {"name": "f", "arguments": "{}"}}]})
CALLED = called("c", "f")

COMPLETE: dict[str, tuple[list[Any], tuple[ProviderEvent, ...]]] = {
    "finish reason, usage, [DONE]": ([HI, piece({}, "stop"), USAGE, "[DONE]"], (*said("Hi"), COUNTED, STOP)),
    "finish reason, usage, no [DONE]": ([HI, piece({}, "stop"), USAGE], (*said("Hi"), COUNTED, STOP)),
    "finish reason and nothing more": ([HI, piece({}, "stop")], (*said("Hi"), STOP)),
    "finish reason with the last text": ([piece({"content": "Hi"}, "stop")], (*said("Hi"), STOP)),
    "[DONE] without a reason": ([HI, "[DONE]"], (*said("Hi"), STOP)),
    "[DONE] with spaces": ([HI, " [DONE] "], (*said("Hi"), STOP)),
    "[DONE] without a reason after a call": ([OPEN_CALL, "[DONE]"], (CALLED, TOOL_USE)),
    "an empty answer": ([piece({"role": "assistant"}), piece({}, "stop"), "[DONE]"], (STOP,)),
    "usage beside a choice": ([piece({"content": "Hi"}, "stop", usage=USAGE["usage"])], (*said("Hi"), COUNTED, STOP)),
    "usage of null": ([piece({"content": "Hi"}, "stop", usage=None), "[DONE]"], (*said("Hi"), STOP)),
    "usage before the end": ([USAGE, HI, piece({}, "stop"), "[DONE]"], (COUNTED, *said("Hi"), STOP)),
    "senseless usage": (
        [HI, piece({}, "stop"), {"usage": {"prompt_tokens": -1, "completion_tokens": "9"}}],
        (*said("Hi"), counted(0, 0), STOP),
    ),
    "null delta": ([HI, piece(None), piece(None, "stop")], (*said("Hi"), STOP)),
    "null choices": ([HI, {"choices": None}, piece({}, "stop")], (*said("Hi"), STOP)),
    "null in every field": (
        [piece({"content": None, "reasoning": None, "tool_calls": None, "refusal": None}), HI, piece({}, "stop")],
        (*said("Hi"), STOP),
    ),
    "no choices": ([HI, {"id": "x"}, {}, piece({}, "stop")], (*said("Hi"), STOP)),
    "ping": ([{"type": "ping"}, HI, piece({}, "stop")], (*said("Hi"), STOP)),
    "unknown fields": (
        [piece({"content": "Hi", "audio": {"id": 1}, "x": []}, obfuscation="aa", nvext={}), piece({}, "stop")],
        (*said("Hi"), STOP),
    ),
    "a second choice is not ours": (
        [{"choices": [HI["choices"][0], {"index": 1, "delta": {"content": "no"}}]}, piece({}, "stop")],
        (*said("Hi"), STOP),
    ),
    "refusal": ([piece({"refusal": "I cannot."}), piece({}, "stop")], (*said("I cannot."), FILTERED)),
    "refusal without an end of its own": ([piece({"refusal": "No."}), "[DONE]"], (*said("No."), FILTERED)),
    "refusal after text": ([HI, piece({"refusal": "No."}), piece({}, "stop")], (*said("Hi", "No."), FILTERED)),
    "refusal and text at once": (
        [piece({"content": "Hi", "refusal": "!"}), piece({}, "stop")],
        (*said("Hi!"), FILTERED),
    ),
    "refusal after a call": ([OPEN_CALL, piece({"refusal": "No."}), piece({}, "stop")], (*said("No."), FILTERED)),
    "refusal cut by length": ([piece({"refusal": "No"}), piece({}, "length")], (*said("No"), LENGTH)),
    "empty refusal": ([piece({"content": "Hi", "refusal": ""}), piece({}, "stop")], (*said("Hi"), STOP)),
    "reasoning_content": ([piece({"reasoning_content": "Hm"}), HI, "[DONE]"], (*thought("Hm"), *said("Hi"), STOP)),
    "reasoning": ([piece({"reasoning": "Hm"}), HI, "[DONE]"], (*thought("Hm"), *said("Hi"), STOP)),
    "both spellings of reasoning": (
        [piece({"reasoning_content": "Hm", "reasoning": "Hm"}), HI, "[DONE]"],
        (*thought("Hm"), *said("Hi"), STOP),
    ),
    "reasoning and its details": (
        [piece({"reasoning": "Hm", "reasoning_details": [{"type": "reasoning.text", "text": "Hm"}]}), HI, "[DONE]"],
        (*thought("Hm"), *said("Hi"), STOP),
    ),
    "details alone": (
        [
            piece(
                {
                    "reasoning_details": [
                        {"type": "reasoning.text", "text": "H", "signature": "s"},
                        {"type": "reasoning.summary", "summary": "m"},
                        {"type": "reasoning.encrypted", "data": "x"},
                        {"type": "reasoning.text", "text": None},
                        None,
                    ]
                }
            ),
            HI,
            "[DONE]",
        ],
        (*thought("Hm"), *said("Hi"), STOP),
    ),
    "content in parts": (
        [
            piece({"content": [{"type": "thinking", "thinking": [{"type": "text", "text": "Hm"}, 1]}, "?", None]}),
            piece({"content": [{"type": "text", "text": "H"}, {"type": "text", "text": "i"}, {"type": "image_url"}]}),
            "[DONE]",
        ],
        (*thought("Hm"), *said("Hi"), STOP),
    ),
    "cached tokens": (
        [piece({"content": "Hi"}, "stop"), {"usage": TOKENS | {"prompt_tokens_details": {"cached_tokens": 2}}}],
        (*said("Hi"), counted(3, 2, 2), STOP),
    ),
    "cached tokens of DeepSeek": (
        [piece({"content": "Hi"}, "stop"), {"usage": TOKENS | {"prompt_cache_hit_tokens": 1}}],
        (*said("Hi"), counted(3, 2, 1), STOP),
    ),
    "more cached tokens than there are": (
        [
            piece({"content": "Hi"}, "stop"),
            {"usage": TOKENS | {"prompt_tokens_details": {"cached_tokens": 2, "cache_write_tokens": 9}}},
        ],
        (*said("Hi"), counted(3, 2, 2, 1), STOP),
    ),
    "null details of usage": (
        [piece({"content": "Hi"}, "stop"), {"usage": TOKENS | {"prompt_tokens_details": None}}],
        (*said("Hi"), COUNTED, STOP),
    ),
    "reasoning and text at once": (
        [piece({"reasoning": "Hm", "content": "Hi"}), "[DONE]"],
        (*thought("Hm"), *said("Hi"), STOP),
    ),
    "length": ([HI, piece({}, "length"), "[DONE]"], (*said("Hi"), LENGTH)),
    "max_tokens": ([HI, piece({}, "max_tokens"), "[DONE]"], (*said("Hi"), LENGTH)),
    "model_length": ([HI, piece({}, "model_length"), "[DONE]"], (*said("Hi"), LENGTH)),
    "content filter": ([HI, piece({}, "content_filter"), "[DONE]"], (*said("Hi"), FILTERED)),
    "sensitive": ([HI, piece({}, "sensitive"), "[DONE]"], (*said("Hi"), FILTERED)),
    "an unknown reason": ([HI, piece({}, "eos"), "[DONE]"], (*said("Hi"), STOP)),
    "a call ended with tool_calls": ([OPEN_CALL, piece({}, "tool_calls"), "[DONE]"], (CALLED, TOOL_USE)),
    "a call ended with function_call": ([OPEN_CALL, piece({}, "function_call")], (CALLED, TOOL_USE)),
    "a call ended with stop": ([OPEN_CALL, piece({}, "stop"), "[DONE]"], (CALLED, TOOL_USE)),
    "a call cut by length": ([OPEN_CALL, piece({}, "length"), "[DONE]"], (LENGTH,)),
    "a call cut by max_tokens": ([OPEN_CALL, piece({}, "max_tokens"), "[DONE]"], (LENGTH,)),
    "a call stopped by a filter": ([OPEN_CALL, piece({}, "content_filter"), "[DONE]"], (FILTERED,)),
    "tool_calls without a call": ([HI, piece({}, "tool_calls"), "[DONE]"], (*said("Hi"), TOOL_USE)),
    "whatever follows [DONE]": ([HI, piece({}, "stop"), "[DONE]", "garbage", HI], (*said("Hi"), STOP)),
}


@pytest.mark.threat("F7")
@pytest.mark.prop("core-28")
@pytest.mark.prop("eng-5")
@pytest.mark.parametrize(("frames", "events"), COMPLETE.values(), ids=COMPLETE)
def test_an_answer_that_ends_well_gives_its_events_and_one_finish(
    frames: list[Any], events: tuple[ProviderEvent, ...]
) -> None:
    assert play(openai, [sse(*frames)]) == Outcome(events)


BROKEN: dict[str, tuple[list[Any], tuple[ProviderEvent, ...], type[ProviderError], str]] = {
    "nothing at all": ([], (), IncompleteAnswer, "ended before"),
    "text without an end": ([HI], said("Hi"), IncompleteAnswer, "ended before"),
    "a call without an end": ([OPEN_CALL], (), IncompleteAnswer, "ended before"),
    "usage without an end": ([HI, USAGE], (*said("Hi"), COUNTED), IncompleteAnswer, "ended before"),
    "null finish reason": ([HI, piece({}, None)], said("Hi"), IncompleteAnswer, "ended before"),
    "empty finish reason": ([HI, piece({}, "")], said("Hi"), IncompleteAnswer, "ended before"),
    "finish reason that is no text": ([HI, piece({}, 1)], said("Hi"), IncompleteAnswer, "ended before"),
    "only [DONE]": (["[DONE]"], (), IncompleteAnswer, "ended before"),
    "[DONE] after usage only": ([USAGE, "[DONE]"], (COUNTED,), IncompleteAnswer, "ended before"),
    "error with a code": (
        [HI, {"error": {"message": "Slow down", "type": "tokens", "code": "rate_limit_exceeded"}}],
        said("Hi"),
        RateLimited,
        "Slow down",
    ),
    "error with a status": ([{"error": {"message": "Slow down", "code": 429}}], (), RateLimited, "Slow down"),
    "error with a type": (
        [{"error": {"message": "No", "type": "exceed_context_size_error", "code": 400}}],
        (),
        ContextOverflow,
        "No",
    ),
    "error object": ([{"error": {"message": "CUDA out of memory"}}], (), ServerFailed, "CUDA out of memory"),
    "error object after text": ([HI, {"error": {"message": "lost it"}}], said("Hi"), ServerFailed, "lost it"),
    "error beside choices": ([HI, piece({}, "stop", error={"message": "no"})], said("Hi"), ServerFailed, "no"),
    "error as text": ([{"error": "overloaded"}], (), ServerFailed, "overloaded"),
    "error without a message": ([{"error": {"code": 502}}], (), ServerFailed, "502"),
    "error by its object": ([{"object": "error", "message": "bad", "code": 400}], (), ServerFailed, "bad"),
    "finish reason error": ([HI, piece({}, "error")], said("Hi"), ServerFailed, "'error'"),
    "finish reason abort": ([HI, piece({}, "abort"), "[DONE]"], said("Hi"), ServerFailed, "'abort'"),
    "a call before the server's trouble": (
        [OPEN_CALL, piece({}, "insufficient_system_resource"), "[DONE]"],
        (),
        ServerFailed,
        "insufficient_system_resource",
    ),
    "network_error": ([HI, piece({}, "network_error")], said("Hi"), ServerFailed, "network_error"),
    "no JSON": ([HI, "oops", HI], said("Hi"), MalformedAnswer, "oops"),
    "a number": (["1", HI], (), MalformedAnswer, "unexpected shape"),
    "null": (["null", HI], (), MalformedAnswer, "unexpected shape"),
    "a list": (["[]", HI], (), MalformedAnswer, "unexpected shape"),
    "the same key twice": (['{"choices":[],"choices":[]}', HI], (), MalformedAnswer, "same key twice"),
    "NaN": (['{"x":NaN}', HI], (), MalformedAnswer, "NaN"),
    "depth": (["[" * 5_000, HI], (), MalformedAnswer, "nested too deeply"),
    "digits": (["1" * 5_000, HI], (), MalformedAnswer, "not a chat answer"),
    "a tool without a name": (
        [piece({"tool_calls": [{"index": 0, "id": "c", "function": {"arguments": "{}"}}]}, "tool_calls"), "[DONE]"],
        (),
        MalformedAnswer,
        "cannot be read",
    ),
}


@pytest.mark.threat("F5", "F6", "F14")
@pytest.mark.prop("core-28")
@pytest.mark.prop("eng-7")
@pytest.mark.parametrize(("frames", "events", "error", "words"), BROKEN.values(), ids=BROKEN)
def test_an_answer_that_ends_badly_gives_an_error_and_never_a_finish(
    frames: list[Any], events: tuple[ProviderEvent, ...], error: type[ProviderError], words: str
) -> None:
    outcome = play(openai, [sse(*frames)])
    assert (outcome.events, outcome.error) == (events, error)
    assert words in outcome.message
    assert len(outcome.message) < 400


def test_an_event_that_is_named_error_is_one() -> None:
    outcome = play(openai, [sse(HI), b'event: error\ndata: {"message": "overloaded", "code": 529}\n\n'])
    assert (outcome.events, outcome.error) == (said("Hi"), ServerFailed)
    assert "overloaded" in outcome.message


def test_events_with_other_names_are_read_like_all_others() -> None:
    raw = b"event: chunk\n" + sse(HI) + b'event: ping\ndata: {"type": "ping"}\n\n' + sse(piece({}, "stop"))
    assert play(openai, [raw]) == Outcome((*said("Hi"), STOP))


def test_a_lone_surrogate_in_text_is_passed_on_for_the_turn_to_mend() -> None:
    raw = sse(
        '{"choices":[{"delta":{"content":"\\ud83d"}}]}', '{"choices":[{"delta":{"content":"\\ude00"}}]}', "[DONE]"
    )
    assert play(openai, [raw]).events == (*said("\ud83d", "\ude00"), STOP)


def pieces(*deltas: dict[str, Any]) -> Outcome:
    frames = [piece({"tool_calls": [delta]}) for delta in deltas]
    return play(openai, [sse(*frames, piece({}, "tool_calls"), "[DONE]")])


def part(index: int | None = None, call_id: str | None = None, name: str | None = None, text: Any = None) -> Any:
    function = {key: value for key, value in (("name", name), ("arguments", text)) if value is not None}
    optional = {key: value for key, value in (("index", index), ("id", call_id)) if value is not None}
    return {**optional, "type": "function", "function": function}


CALLS: dict[str, tuple[list[Any], tuple[ProviderEvent, ...]]] = {
    "interleaved by index": (
        [
            part(0, "a", "f", ""),
            part(1, "b", "g", ""),
            part(1, text='{"y"'),
            part(0, text='{"x":'),
            part(1, text=":2}"),
            part(0, text="1}"),
        ],
        (called("a", "f", x=1), called("b", "g", y=2)),
    ),
    "in the order of their indices": (
        [part(2, "c", "h", "{}"), part(0, "a", "f", "{}"), part(1, "b", "g", "{}")],
        (called("a", "f"), called("b", "g"), called("c", "h")),
    ),
    "arguments as an object": ([part(0, "a", "f", {"x": [1, "é"]})], (called("a", "f", x=[1, "é"]),)),
    "no arguments": ([part(0, "a", "f")], (called("a", "f"),)),
    "null arguments": ([{"index": 0, "id": "a", "function": {"name": "f", "arguments": None}}], (called("a", "f"),)),
    "late id": ([part(0, name="f", text='{"x":'), part(0, "a", text="1}")], (called("a", "f", x=1),)),
    "no id": ([part(0, name="f", text="{}"), part(1, name="g")], (called("call_0", "f"), called("call_1", "g"))),
    "name in pieces": ([part(0, "a", "read_"), part(0, name="file", text="{}")], (called("a", "read_file"),)),
    "empty id and name in later pieces": (
        [part(0, "a", "f", "{"), part(0, "", "", '"x":1'), part(0, "", "", "}")],
        (called("a", "f", x=1),),
    ),
    "the id in every piece": ([part(0, "a", "f", "{"), part(0, "a", text="}")], (called("a", "f"),)),
    "id and name in every piece": (
        [part(0, "a", "f", '{"x":{}'), part(0, "a", "", ',"y":1}')],
        (called("a", "f", x={}, y=1),),
    ),
    "a new id in every piece": ([part(0, "a", "f", '{"x":'), part(0, "b", text="1}")], (called("a", "f", x=1),)),
    "every call with index 0": (
        [part(0, "a", "f", '{"x":1}'), part(0, "b", "f", '{"x":2}'), part(0, "c", "g")],
        (called("a", "f", x=1), called("b", "f", x=2), called("c", "g")),
    ),
    "every call with index 0 and no id": (
        [part(0, name="f", text='{"x":1}'), part(0, name="g", text="{}")],
        (called("call_0", "f", x=1), called("call_1", "g")),
    ),
    "no index": (
        [part(None, "a", "f", '{"x":'), part(text="1}"), part(None, "b", "g", "{}")],
        (called("a", "f", x=1), called("b", "g")),
    ),
    "no index, interleaved by id": (
        [part(None, "a", "f", "{"), part(None, "b", "g", "{"), part(None, "a", text="}"), part(None, "b", text="}")],
        (called("a", "f"), called("b", "g")),
    ),
    "neither index nor id": (
        [part(name="f", text='{"x":'), part(text="1}"), part(name="g", text="{}")],
        (called("call_0", "f", x=1), called("call_1", "g")),
    ),
    "an index that is no number": (
        [part(None, "a", "f") | {"index": "0"}, part(None, text="{}") | {"index": "0"}],
        (called("a", "f"),),
    ),
}


@pytest.mark.threat("F12")
@pytest.mark.prop("eng-5")
@pytest.mark.parametrize(("deltas", "calls"), CALLS.values(), ids=CALLS)
def test_the_pieces_of_tool_calls_are_put_together(deltas: list[Any], calls: tuple[ProviderEvent, ...]) -> None:
    assert pieces(*deltas) == Outcome((*calls, TOOL_USE))


def test_several_pieces_in_one_event_are_put_together() -> None:
    both = [part(0, "a", "f", "{}"), part(1, "b", "g", '{"y":')]
    raw = sse(piece({"tool_calls": both}), piece({"tool_calls": [part(1, text="2}")]}), piece({}, "tool_calls"))
    assert play(openai, [raw]).events == (called("a", "f"), called("b", "g", y=2), TOOL_USE)


@st.composite
def streamed_calls(draw: st.DrawFn) -> tuple[list[Any], list[ToolCall]]:
    """Tool calls in pieces, in one of the manners that servers have."""
    count = draw(st.integers(1, 4))
    calls = [
        ToolCall(f"id{number}", draw(st.sampled_from(["f", "read_file", "été"])), draw(arguments))
        for number in range(count)
    ]
    manner = draw(st.sampled_from(["index", "late id", "index 0", "no index", "object"]))
    rows: list[list[Any]] = []
    for number, call in enumerate(calls):
        index = {"index 0": 0, "no index": None}.get(manner, number)
        text = json.dumps(call.arguments, ensure_ascii=draw(st.booleans()))
        cuts = sorted(draw(st.lists(st.integers(0, len(text)), max_size=5)))
        texts = [text[start:end] for start, end in zip([0, *cuts], [*cuts, len(text)], strict=True)]
        if manner == "object":
            row = [part(index, call.id, call.name, call.arguments)]
        elif manner == "late id":
            row = [part(index, None, call.name), *(part(index, None, None, it) for it in texts), part(index, call.id)]
        else:
            row = [part(index, call.id, call.name), *(part(index, None, None, it) for it in texts)]
        rows.append(row)
    if manner in {"index", "late id", "object"}:
        order = draw(st.permutations([number for number, row in enumerate(rows) for _ in row]))
        return [rows[number].pop(0) for number in order], calls
    return [delta for row in rows for delta in row], calls


@pytest.mark.threat("F12")
@pytest.mark.prop("eng-5")
@settings(max_examples=100, deadline=None)
@given(streamed_calls())
def test_any_calls_in_any_pieces_arrive_exactly_and_in_order(stream: tuple[list[Any], list[ToolCall]]) -> None:
    deltas, calls = stream
    assert pieces(*deltas).events == (*map(ToolCalled, calls), TOOL_USE)


@pytest.mark.threat("T12", "F13")
@pytest.mark.parametrize("document", hostile_arguments.values(), ids=hostile_arguments)
def test_arguments_that_two_parsers_could_read_differently_are_refused(document: str) -> None:
    outcome = pieces(part(0, "a", "f", document))
    assert (outcome.events, outcome.error) == ((), MalformedAnswer)
    assert "'f'" in outcome.message


@pytest.mark.parametrize("text", ["\\u0000", "\\ud800", "\\\\u0000", "NaN", '{"a":1,"a":2}'])
def test_arguments_may_hold_the_source_text_of_what_is_refused(text: str) -> None:
    assert pieces(part(0, "a", "f", json.dumps({"x": text}))).events == (called("a", "f", x=text), TOOL_USE)


@pytest.mark.threat("T12", "F13")
def test_one_hostile_call_among_good_ones_lets_none_run() -> None:
    outcome = pieces(part(0, "a", "f", "{}"), part(1, "b", "f", '{"x":1,"x":2}'))
    assert (outcome.events, outcome.error) == ((), MalformedAnswer)


@pytest.mark.threat("T30")
def test_an_answer_with_too_many_calls_is_refused() -> None:
    assert len(pieces(*(part(number, name="f") for number in range(MAX_CALLS))).events) == MAX_CALLS + 1
    outcome = pieces(*(part(number, name="f") for number in range(MAX_CALLS + 1)))
    assert (outcome.events, outcome.error) == ((), MalformedAnswer)


def test_what_the_model_works_on_counts_as_progress_also_inside_a_tool_call() -> None:
    answer = openai()
    sizes = [answer.size]
    for frame in (piece({"role": "assistant"}), HI, piece({"reasoning": "Hmm"}), OPEN_CALL, USAGE, {"type": "ping"}):
        list(answer.feed(sse(frame)))
        sizes.append(answer.size)
    assert sizes == [0, 0, 2, 5, 8, 8, 8]
