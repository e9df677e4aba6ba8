"""Ollama's own wire: a truth table of endings, tool calls."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ollm_lsp.core.errors import IncompleteAnswer, MalformedAnswer, ProviderError, ServerFailed
from ollm_lsp.providers.wire.faults import MAX_CALLS
from tests.providers.replay import (
    LENGTH,
    STOP,
    TOOL_USE,
    Outcome,
    called,
    counted,
    ndjson,
    ollama,
    play,
    said,
    thought,
)
from tests.providers.values import arguments, hostile_arguments

if TYPE_CHECKING:
    from ollm_lsp.core.events import ProviderEvent


def line(done: Any = False, **message: Any) -> dict[str, Any]:
    return {"model": "m", "message": {"role": "assistant", **message}, "done": done}


def call(name: str = "f", arguments: Any = None, **more: Any) -> dict[str, Any]:
    return line(content="", tool_calls=[{"function": {"name": name, "arguments": arguments or {}}, **more}])


HI = line(content="Hi")
DONE = line(True, content="") | {"done_reason": "stop", "prompt_eval_count": 3, "eval_count": 2}
COUNTED = counted(3, 2)

COMPLETE: dict[str, tuple[list[Any], tuple[ProviderEvent, ...]]] = {
    "done": ([HI, DONE], (*said("Hi"), COUNTED, STOP)),
    "done with the last text": ([DONE | line(True, content="Hi")], (*said("Hi"), COUNTED, STOP)),
    "done and no reason": ([HI, line(True)], (*said("Hi"), counted(), STOP)),
    "done and no message": ([HI, {"done": True}], (*said("Hi"), counted(), STOP)),
    "done and an unknown reason": ([HI, DONE | {"done_reason": "unload"}], (*said("Hi"), COUNTED, STOP)),
    "done and loaded after text": ([HI, DONE | {"done_reason": "load"}], (*said("Hi"), COUNTED, STOP)),
    "done and a reason that is no text": ([HI, DONE | {"done_reason": 7}], (*said("Hi"), COUNTED, STOP)),
    "an empty answer": ([DONE], (COUNTED, STOP)),
    "length": ([HI, DONE | {"done_reason": "length"}], (*said("Hi"), COUNTED, LENGTH)),
    "senseless usage": ([DONE | {"prompt_eval_count": -1, "eval_count": "9"}], (counted(), STOP)),
    "a prompt that was cached has no count": ([line(True) | {"eval_count": 2}], (counted(0, 2), STOP)),
    "null message": ([HI, {"message": None, "done": False}, DONE], (*said("Hi"), COUNTED, STOP)),
    "null fields": ([line(content=None, thinking=None, tool_calls=None), HI, DONE], (*said("Hi"), COUNTED, STOP)),
    "unknown fields": ([line(content="Hi", x=1) | {"y": {}}, {}, DONE], (*said("Hi"), COUNTED, STOP)),
    "thoughts and text at once": (
        [line(thinking="Hm", content="Hi"), DONE],
        (*thought("Hm"), *said("Hi"), COUNTED, STOP),
    ),
    "null error": ([HI | {"error": None}, DONE], (*said("Hi"), COUNTED, STOP)),
    "blank lines": ([HI, "", " ", DONE], (*said("Hi"), COUNTED, STOP)),
    "whatever follows the end": ([HI, DONE, "garbage", HI], (*said("Hi"), COUNTED, STOP)),
    "a call": ([call("f", {"x": 1}, id="a"), DONE], (called("a", "f", x=1), COUNTED, TOOL_USE)),
    "a call in the last line": ([DONE | call("f", id="a") | {"done": True}], (called("a", "f"), COUNTED, TOOL_USE)),
    "calls without ids": (
        [call("f"), call("g"), DONE],
        (called("call_0", "f"), called("call_1", "g"), COUNTED, TOOL_USE),
    ),
    "calls in one line": (
        [line(tool_calls=[{"function": {"name": name}} for name in "fg"]), DONE],
        (called("call_0", "f"), called("call_1", "g"), COUNTED, TOOL_USE),
    ),
    "arguments as text": ([call("f", '{"x": "é"}', id="a"), DONE], (called("a", "f", x="é"), COUNTED, TOOL_USE)),
    "null arguments": (
        [line(tool_calls=[{"id": "a", "function": {"name": "f", "arguments": None}}]), DONE],
        (called("a", "f"), COUNTED, TOOL_USE),
    ),
    "a call before the token limit": ([call("f"), DONE | {"done_reason": "length"}], (COUNTED, LENGTH)),
    "a call after text": ([HI, call("f", id="a"), DONE], (*said("Hi"), called("a", "f"), COUNTED, TOOL_USE)),
}


@pytest.mark.threat("F7")
@pytest.mark.prop("core-28")
@pytest.mark.parametrize(("lines", "events"), COMPLETE.values(), ids=COMPLETE)
def test_an_answer_that_ends_well_gives_its_events_and_one_finish(
    lines: list[Any], events: tuple[ProviderEvent, ...]
) -> None:
    assert play(ollama, [ndjson(*lines)]) == Outcome(events)


def test_one_object_without_a_line_end_is_a_whole_answer() -> None:
    assert play(ollama, [ndjson(DONE | line(True, content="Hi"))[:-1]]) == Outcome((*said("Hi"), COUNTED, STOP))


BROKEN: dict[str, tuple[list[Any], tuple[ProviderEvent, ...], type[ProviderError], str]] = {
    "nothing at all": ([], (), IncompleteAnswer, "ended before"),
    "text without an end": ([HI], said("Hi"), IncompleteAnswer, "ended before"),
    "a call without an end": ([call("f")], (), IncompleteAnswer, "ended before"),
    "done of null": ([HI, line(None)], said("Hi"), IncompleteAnswer, "ended before"),
    "done that is no boolean": ([HI, line("true"), line(1)], said("Hi"), IncompleteAnswer, "ended before"),
    "a reason without done": ([HI, HI | {"done_reason": "stop"}], said("Hi", "Hi"), IncompleteAnswer, "ended before"),
    "error at once": ([{"error": "model runner has unexpectedly stopped"}], (), ServerFailed, "unexpectedly stopped"),
    "error after text": ([HI, {"error": "out of memory"}], said("Hi"), ServerFailed, "out of memory"),
    "error after a call": ([call("f"), {"error": "out of memory"}], (), ServerFailed, "out of memory"),
    "error with done": ([HI, DONE | {"error": "no"}], said("Hi"), ServerFailed, "no"),
    "error as an object": ([{"error": {"message": "no"}}], (), ServerFailed, "no"),
    "only loaded": ([DONE | {"done_reason": "load"}], (), ServerFailed, "was loaded and said nothing"),
    "only unloaded": ([DONE | {"done_reason": "unload"}], (), ServerFailed, "was unloaded and said nothing"),
    "empty error": ([HI, {"error": ""}], said("Hi"), ServerFailed, "reports"),
    "HTML": (["<!doctype html>", "<html>"], (), MalformedAnswer, "<!doctype html>"),
    "server-sent events": (["data: {}", ""], (), MalformedAnswer, "data: {}"),
    "two objects in a line": ([json.dumps(HI) + json.dumps(DONE), HI], (), MalformedAnswer, "not a chat answer"),
    "an object on two lines": (['{"done":', "true}"], (), MalformedAnswer, "not a chat answer"),
    "a number": (["1", HI], (), MalformedAnswer, "unexpected shape"),
    "null": (["null", HI], (), MalformedAnswer, "unexpected shape"),
    "a list": (["[]", HI], (), MalformedAnswer, "unexpected shape"),
    "the same key twice": (['{"done":false,"done":true}', HI], (), MalformedAnswer, "same key twice"),
    "depth": (["[" * 5_000, HI], (), MalformedAnswer, "nested too deeply"),
    "a tool without a name": ([call("", {}), DONE], (), MalformedAnswer, "name of a tool"),
    "a tool that is null": ([line(tool_calls=[None]), DONE], (), MalformedAnswer, "name of a tool"),
    "arguments that are a list": ([call("f", [1]), DONE], (), MalformedAnswer, "not a JSON object"),
}


@pytest.mark.threat("F5", "F6", "F11", "F14")
@pytest.mark.prop("core-28")
@pytest.mark.prop("eng-7")
@pytest.mark.parametrize(("lines", "events", "error", "words"), BROKEN.values(), ids=BROKEN)
def test_an_answer_that_ends_badly_gives_an_error_and_never_a_finish(
    lines: list[Any], events: tuple[ProviderEvent, ...], error: type[ProviderError], words: str
) -> None:
    outcome = play(ollama, [ndjson(*lines)])
    assert (outcome.events, outcome.error) == (events, error)
    assert words in outcome.message
    assert len(outcome.message) < 400


@pytest.mark.threat("T12", "F13")
@pytest.mark.parametrize("document", hostile_arguments.values(), ids=hostile_arguments)
@pytest.mark.parametrize("as_text", [False, True], ids=["as an object", "as text"])
def test_arguments_that_two_parsers_could_read_differently_are_refused(document: str, as_text: bool) -> None:
    value = json.dumps(document) if as_text else document
    head = '{"message":{"tool_calls":[{"function":{"name":"f","arguments":'
    outcome = play(ollama, [ndjson(f'{head}{value}}}}}]}},"done":true}}', HI)])
    if document == "null" and not as_text:
        assert outcome.events[0] == called("call_0", "f")  # no arguments at all
    else:
        assert (outcome.events, outcome.error) == ((), MalformedAnswer)


def test_an_answer_with_too_many_calls_is_refused() -> None:
    assert len(play(ollama, [ndjson(*[call()] * MAX_CALLS, DONE)]).events) == MAX_CALLS + 2
    outcome = play(ollama, [ndjson(*[call()] * (MAX_CALLS + 1), DONE)])
    assert (outcome.events, outcome.error) == ((), MalformedAnswer)


@pytest.mark.threat("F12")
@settings(max_examples=100, deadline=None)
@given(st.lists(st.tuples(st.sampled_from(["f", "read_file"]), arguments), min_size=1, max_size=4), st.booleans())
def test_any_calls_arrive_exactly_and_in_order(calls: list[tuple[str, dict[str, Any]]], as_text: bool) -> None:
    lines = [
        call(name, json.dumps(values) if as_text else values, id=f"id{number}")
        for number, (name, values) in enumerate(calls)
    ]
    expected = [called(f"id{number}", name, **values) for number, (name, values) in enumerate(calls)]
    assert play(ollama, [ndjson(*lines, DONE)]) == Outcome((*expected, COUNTED, TOOL_USE))


def test_what_the_model_works_on_counts_as_progress() -> None:
    answer = ollama()
    sizes = [answer.size]
    for frame in (line(content=""), HI, line(thinking="Hmm"), call("f", {"x": 1}), {}, DONE):
        list(answer.feed(ndjson(frame)))
        sizes.append(answer.size)
    assert sizes == [0, 0, 2, 5, 5 + len('{"x": 1}'), 13, 13]
