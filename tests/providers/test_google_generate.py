"""Google's wire: endings, parts, and answers without loss."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest
from google.genai import types
from hypothesis import given
from hypothesis import strategies as st

from ollm_lsp.core.errors import (
    AuthenticationFailed,
    ContentFiltered,
    IncompleteAnswer,
    MalformedAnswer,
    ModelNotFound,
    ProviderError,
    RateLimited,
    ServerFailed,
)
from ollm_lsp.core.events import FinishReason, ReasoningSigned
from ollm_lsp.core.messages import Message, Reasoning, Role, Text
from ollm_lsp.core.request import ChatRequest
from ollm_lsp.core.tool import ToolCall
from ollm_lsp.core.turn import Turn
from ollm_lsp.providers.wire.faults import MAX_CALLS
from ollm_lsp.providers.wire.google_generate import encode
from tests.core.values import patient
from tests.providers import sendable
from tests.providers.recorded import GOOGLE, Recording, signed
from tests.providers.replay import (
    FILTERED,
    LENGTH,
    STOP,
    TOOL_USE,
    Outcome,
    called,
    counted,
    google,
    play,
    said,
    sse,
    thought,
)
from tests.providers.values import arguments, foreign_json

if TYPE_CHECKING:
    from collections.abc import Sequence

    from ollm_lsp.core.events import ProviderEvent
    from ollm_lsp.core.messages import Part


@pytest.mark.parametrize("recording", GOOGLE, ids=str)
def test_google_itself_would_know_the_recorded_events(recording: Recording) -> None:
    lines = [line.removeprefix("data: ") for line in recording.raw.decode().splitlines() if line.startswith("data: ")]
    chunks = [types.GenerateContentResponse.model_validate_json(line) for line in lines]
    reasons = [candidate.finish_reason for chunk in chunks for candidate in chunk.candidates or []]
    assert reasons[:-1] == [None] * (len(chunks) - 1)
    assert reasons[-1] in {types.FinishReason.STOP, types.FinishReason.MAX_TOKENS, types.FinishReason.SAFETY}


def piece(*parts: Any, finish: Any = None, **more: Any) -> dict[str, Any]:
    candidate: dict[str, Any] = {"content": {"role": "model", "parts": list(parts)}}
    return {"candidates": [candidate | ({"finishReason": finish} if finish is not None else {})], **more}


def call(name: str = "f", **more: Any) -> dict[str, Any]:
    return {"functionCall": {"id": "c", "name": name, "args": {"x": 1}} | more}


HI = piece({"text": "Hi"})
LAST = piece(finish="STOP")
CALL = piece(call())
CALLED = called("c", "f", x=1)
FILTERS = ["SAFETY", "RECITATION", "LANGUAGE", "BLOCKLIST", "PROHIBITED_CONTENT", "SPII", "IMAGE_SAFETY"]

COMPLETE: dict[str, tuple[list[Any], tuple[ProviderEvent, ...]]] = {
    "text": ([HI, LAST], (*said("Hi"), STOP)),
    "text with the reason": ([piece({"text": "Hi"}, finish="STOP")], (*said("Hi"), STOP)),
    "a reason with every event": ([piece({"text": "A"}, finish="STOP"), HI, LAST], (*said("A", "Hi"), STOP)),
    "the last reason counts": ([piece({"text": "A"}, finish="STOP"), piece(finish="MAX_TOKENS")], (*said("A"), LENGTH)),
    "a reason without content": ([HI, {"candidates": [{"finishReason": "STOP"}]}], (*said("Hi"), STOP)),
    "an unknown reason": ([HI, piece(finish="BORED")], (*said("Hi"), STOP)),
    "MAX_TOKENS": ([HI, piece(finish="MAX_TOKENS")], (*said("Hi"), LENGTH)),
    "CONTINUATION": ([HI, piece(finish="CONTINUATION")], (*said("Hi"), LENGTH)),
    **{reason: ([HI, piece(finish=reason)], (*said("Hi"), FILTERED)) for reason in FILTERS},
    "thoughts": ([piece({"text": "Hm", "thought": True}), HI, LAST], (*thought("Hm"), *said("Hi"), STOP)),
    "thoughts with a signature": (
        [piece({"text": "Hm", "thought": True, "thoughtSignature": "cw=="}), HI, LAST],
        (*thought("Hm"), ReasoningSigned("cw=="), *said("Hi"), STOP),
    ),
    "text with a signature": (
        [piece({"text": "Hi", "thoughtSignature": "cw=="}), LAST],
        (*said("Hi"), ReasoningSigned("cw=="), STOP),
    ),
    "a signature alone": (
        [HI, piece({"thoughtSignature": "cw=="}), LAST],
        (*said("Hi"), ReasoningSigned("cw=="), STOP),
    ),
    "several parts at once": (
        [piece({"text": "Hm", "thought": True}, {"text": "Hi"}, call(), finish="STOP")],
        (*thought("Hm"), *said("Hi"), CALLED, TOOL_USE),
    ),
    "a call": ([CALL, LAST], (CALLED, TOOL_USE)),
    "a signed call": (
        [piece(call() | {"thoughtSignature": "cw=="}), LAST],
        (signed("c", "f", "cw==", x=1), TOOL_USE),
    ),
    "calls without ids": (
        [piece(call(id=None), call(id=""), responseId="r"), piece(call("g", args=None, id=None), responseId="r"), LAST],
        (
            called("unnamed-r-0", "f", x=1),
            called("unnamed-r-1", "f", x=1),
            called("unnamed-r-2", "g"),
            TOOL_USE,
        ),
    ),
    "a call cut by MAX_TOKENS": ([HI, CALL, piece(finish="MAX_TOKENS")], (*said("Hi"), LENGTH)),
    "a call stopped by SAFETY": ([CALL, piece(finish="SAFETY")], (FILTERED,)),
    "what follows a call keeps its place": (
        [CALL, piece({"thoughtSignature": "cw=="}, {"text": "Hi"}), LAST],
        (CALLED, ReasoningSigned("cw=="), *said("Hi"), TOOL_USE),
    ),
    "what follows a call that is cut is kept": ([CALL, HI, piece(finish="MAX_TOKENS")], (*said("Hi"), LENGTH)),
    "usage": (
        [
            HI,
            LAST
            | {
                "usageMetadata": {
                    "promptTokenCount": 10,
                    "cachedContentTokenCount": 4,
                    "candidatesTokenCount": 3,
                    "thoughtsTokenCount": 2,
                    "toolUsePromptTokenCount": 1,
                    "totalTokenCount": 16,
                }
            },
        ],
        (*said("Hi"), counted(11, 5, 4), STOP),
    ),
    "usage alone after the end": (
        [HI, LAST, {"usageMetadata": {"promptTokenCount": 3}}],
        (*said("Hi"), counted(3), STOP),
    ),
    "senseless usage": ([HI, LAST | {"usageMetadata": {"promptTokenCount": "3"}}], (*said("Hi"), counted(0), STOP)),
    "feedback without a block": ([HI | {"promptFeedback": {"safetyRatings": []}}, LAST], (*said("Hi"), STOP)),
    "a second candidate is not ours": (
        [{"candidates": [HI["candidates"][0], {"content": {"parts": [{"text": "no"}]}}]}, LAST],
        (*said("Hi"), STOP),
    ),
    "null everywhere": (
        [
            {"candidates": None, "usageMetadata": None, "promptFeedback": None, "error": None},
            {"candidates": [None]},
            {"candidates": [{"content": None, "finishReason": None}]},
            {"candidates": [{"content": {"parts": None}}]},
            piece(None, {"text": None, "thoughtSignature": None}),
            LAST,
        ],
        (STOP,),
    ),
    "parts of other kinds": (
        [piece({"executableCode": {"code": "1"}}, {"inlineData": {"data": ""}}, {"text": "Hi"}), LAST],
        (*said("Hi"), STOP),
    ),
}


@pytest.mark.threat("F7")
@pytest.mark.prop("core-28")
@pytest.mark.prop("krk-6")
@pytest.mark.parametrize(("frames", "events"), COMPLETE.values(), ids=COMPLETE)
def test_an_answer_that_ends_well_gives_its_events_and_one_finish(
    frames: list[Any], events: tuple[ProviderEvent, ...]
) -> None:
    assert play(google, [sse(*frames)]) == Outcome(events)


def failed(number: int, status: str, message: str = "No.") -> dict[str, Any]:
    return {"error": {"code": number, "message": message, "status": status}}


BROKEN: dict[str, tuple[list[Any], tuple[ProviderEvent, ...], type[ProviderError], str]] = {
    "nothing at all": ([], (), IncompleteAnswer, "ended before"),
    "text without an end": ([HI], said("Hi"), IncompleteAnswer, "ended before"),
    "a call without an end": ([CALL], (), IncompleteAnswer, "ended before"),
    "usage without an end": (
        [HI | {"usageMetadata": {"promptTokenCount": 1}}],
        (*said("Hi"), counted(1)),
        IncompleteAnswer,
        "ended",
    ),
    "an unspecified reason": ([HI, piece(finish="FINISH_REASON_UNSPECIFIED")], said("Hi"), IncompleteAnswer, "ended"),
    "a reason that is no text": ([HI, piece(finish=1)], said("Hi"), IncompleteAnswer, "ended before"),
    "a blocked prompt": ([{"promptFeedback": {"blockReason": "SAFETY"}}], (), ContentFiltered, "SAFETY"),
    "a blocked prompt with words": (
        [{"promptFeedback": {"blockReason": "OTHER", "blockReasonMessage": "Not that."}}],
        (),
        ContentFiltered,
        "Not that.",
    ),
    "OTHER": ([HI, piece(finish="OTHER")], said("Hi"), ServerFailed, "OTHER"),
    "a call that Google cannot read": (
        [{"candidates": [{"finishReason": "MALFORMED_FUNCTION_CALL", "finishMessage": "print(f())"}]}],
        (),
        MalformedAnswer,
        "print(f())",
    ),
    "a call of a tool that is not there": ([piece(finish="UNEXPECTED_TOOL_CALL")], (), MalformedAnswer, "UNEXPECTED"),
    "too many calls for Google": ([CALL, piece(finish="TOO_MANY_TOOL_CALLS")], (), MalformedAnswer, "TOO_MANY"),
    "quota": ([HI, failed(429, "RESOURCE_EXHAUSTED")], said("Hi"), RateLimited, "No."),
    "overloaded": ([failed(503, "UNAVAILABLE", "The model is overloaded.")], (), ServerFailed, "overloaded"),
    "permission": ([failed(403, "PERMISSION_DENIED")], (), AuthenticationFailed, "No."),
    "model": ([failed(404, "NOT_FOUND")], (), ModelNotFound, "No."),
    "an error as text": ([{"error": "lost it"}], (), ServerFailed, "lost it"),
    "no JSON": ([HI, "garbage"], said("Hi"), MalformedAnswer, "garbage"),
    "a list": (["[]"], (), MalformedAnswer, "unexpected shape"),
    "a call without a name": ([piece(call("")), LAST], (), MalformedAnswer, "cannot be read"),
    "a call that is nothing": ([piece({"functionCall": None}), LAST], (), MalformedAnswer, "cannot be read"),
    "arguments that are a list": ([piece(call(args=[1])), LAST], (), MalformedAnswer, "'f'"),
    "arguments with NUL": ([piece(call(args={"x": "\x00"})), LAST], (), MalformedAnswer, "NUL"),
    "arguments with half a character": ([piece(call(args={"x": "\ud800"})), LAST], (), MalformedAnswer, "surrogate"),
    "the same key twice": (['{"candidates":[],"candidates":[]}', LAST], (), MalformedAnswer, "twice"),
}


@pytest.mark.threat("F5", "F6", "F14")
@pytest.mark.prop("core-28")
@pytest.mark.prop("eng-7")
@pytest.mark.parametrize(("frames", "events", "error", "words"), BROKEN.values(), ids=BROKEN)
def test_an_answer_that_ends_badly_gives_an_error_and_never_a_finish(
    frames: list[Any], events: tuple[ProviderEvent, ...], error: type[ProviderError], words: str
) -> None:
    outcome = play(google, [sse(*frames)])
    assert (outcome.events, outcome.error) == (events, error)
    assert words in outcome.message
    assert len(outcome.message) < 400


@pytest.mark.threat("T30")
def test_an_answer_with_too_many_calls_is_refused() -> None:
    assert len(play(google, [sse(piece(*[call()] * MAX_CALLS, finish="STOP"))]).events) == MAX_CALLS + 1
    outcome = play(google, [sse(piece(*[call()] * (MAX_CALLS + 1), finish="STOP"))])
    assert (outcome.events, outcome.error) == ((), MalformedAnswer)


def test_what_the_model_works_on_counts_as_progress() -> None:
    answer = google()
    sizes: list[int] = []
    for frame in ({}, HI, piece({"text": "Hmm", "thought": True}), piece({"thoughtSignature": "cw=="}), CALL, LAST):
        list(answer.feed(sse(frame)))
        sizes.append(answer.size)
    assert sizes == [0, 2, 5, 5, 14, 14]


_parts = foreign_json("text thought thoughtSignature functionCall name args id")
_chunks = foreign_json(
    "candidates content parts finishReason usageMetadata error promptFeedback blockReason responseId"
)


@pytest.mark.prop("core-28")
@patient
@given(st.lists(_chunks | st.builds(piece, _parts, finish=st.none() | st.just("STOP") | _parts), max_size=3))
def test_any_json_at_all_gives_events_or_a_typed_error(frames: list[Any]) -> None:
    outcome = play(google, [sse(*frames)])
    assert (outcome.error is None) == (outcome.events[-1:] in {(STOP,), (TOOL_USE,)})
    assert not outcome.acts or outcome.error is None


def _answer(parts: Sequence[Part]) -> Message:
    """A message of these parts, without those that would grow into one with the part before."""
    chosen = [part for index, part in enumerate(parts) if index == 0 or type(part) is not type(parts[index - 1])]
    return Message(Role.ASSISTANT, tuple(chosen))


_marks = st.builds(Reasoning, sendable.texts, sendable.signatures)
_calls = st.builds(ToolCall, sendable.tool_names, sendable.tool_names, arguments, st.none() | sendable.signatures)
_answers = st.lists(st.one_of(_marks, st.builds(Text, sendable.words), _calls), min_size=1, max_size=5).map(_answer)


@pytest.mark.prop("core-12")
@pytest.mark.prop("krk-6")
@patient
@given(_answers)
def test_any_answer_is_kept_and_goes_back_exactly_as_it_came(message: Message) -> None:
    parts = encode(ChatRequest("m", (message,)))["contents"][0]["parts"]
    turn = Turn()
    for event in play(google, [sse(*(piece(part) for part in parts), LAST)]).events:
        turn.add(event)
    assert turn.message == message
    calls = any(isinstance(part, ToolCall) for part in message.parts)
    assert turn.finish is (FinishReason.TOOL_USE if calls else FinishReason.STOP)
