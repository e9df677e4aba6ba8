"""Tool-call repair in a stream: calls written as text are made, and every other answer is left as it is."""

from __future__ import annotations

from contextlib import aclosing
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ollm_lsp.core.call_repair import repaired
from ollm_lsp.core.errors import ServerFailed
from ollm_lsp.core.events import (
    Activity,
    Finished,
    FinishReason,
    ProviderEvent,
    ReasoningDelta,
    TextDelta,
    ToolCalled,
    UsageReported,
)
from ollm_lsp.core.messages import Message
from ollm_lsp.core.request import ChatRequest
from ollm_lsp.core.tool import ToolCall
from ollm_lsp.core.turn import Turn
from ollm_lsp.core.usage import Usage
from tests.core.test_written_call import BODY, CALLS, OTHERS, TOOLS
from tests.core.values import patient, reasons, said
from tests.support.scripted_provider import Hang, ScriptedProvider, Step

REQUEST = ChatRequest("m", (Message.user("why?"),))
STOP, USE = Finished(FinishReason.STOP), Finished(FinishReason.TOOL_USE)
CALLED = ToolCalled(ToolCall("written_0", "read_file", {"path": "a"}))


async def repair(*script: Step, taken: tuple[str, ...] = ()) -> list[ProviderEvent]:
    provider = ScriptedProvider(*script)
    events = [event async for event in repaired(provider.stream(REQUEST), TOOLS, taken=taken)]
    assert provider.closed == 1
    return events


def cut(text: str, *at: int) -> list[TextDelta]:
    return [TextDelta(text[begin:end]) for begin, end in pairwise(sorted({0, *at, len(text)}))]


def turn_of(events: list[ProviderEvent]) -> Turn:
    turn = Turn()
    for event in events:
        turn.add(event)
    return turn


@pytest.mark.parametrize("name", CALLS)
async def test_a_written_call_is_made_however_it_is_cut(name: str) -> None:
    text, calls = CALLS[name]
    for at in range(len(text)):
        *made, end = await repair(*cut(text, at), STOP)
        assert end == USE
        assert [(event.call.name, event.call.arguments) for event in made if isinstance(event, ToolCalled)] == calls
        assert len(made) == len(calls)


@pytest.mark.parametrize("name", OTHERS)
async def test_any_other_answer_comes_through_unchanged(name: str) -> None:
    for deltas in (cut(OTHERS[name]), cut(OTHERS[name], *range(len(OTHERS[name])))):
        assert await repair(*deltas, STOP) == [*deltas, STOP]


async def test_thoughts_may_come_before_a_call() -> None:
    thought, usage = ReasoningDelta("hm"), UsageReported(Usage(3, 4))
    events = await repair(thought, TextDelta("\n"), thought, TextDelta(BODY), usage, STOP)
    assert events == [thought, TextDelta("\n"), thought, usage, CALLED, USE]


async def test_thoughts_in_the_middle_of_a_call_make_it_text() -> None:
    script = [TextDelta(BODY[:5]), ReasoningDelta("hm"), TextDelta(BODY[5:]), STOP]
    assert await repair(*script) == script
    provider = ScriptedProvider(*script[:3], Hang())
    async with aclosing(repaired(provider.stream(REQUEST), TOOLS)) as events:
        assert [await anext(events) for _ in range(3)] == script[:3]


async def test_a_model_that_makes_calls_does_not_write_them() -> None:
    native = ToolCalled(ToolCall("1", "Grep", {}))
    assert await repair(TextDelta(BODY), native, USE) == [TextDelta(BODY), native, USE]
    assert await repair(native, TextDelta(BODY), USE) == [native, TextDelta(BODY), USE]


async def test_a_call_under_a_slightly_wrong_name_is_put_right() -> None:
    def native(name: str) -> ToolCalled:
        return ToolCalled(ToolCall("1", name, {}))

    assert await repair(native("Read-File"), USE) == [native("read_file"), USE]
    assert await repair(native("delete"), USE) == [native("delete"), USE]


@pytest.mark.threat("F4")
@pytest.mark.parametrize("reason", [FinishReason.LENGTH, FinishReason.CONTENT_FILTER])
async def test_an_answer_that_was_cut_makes_no_call(reason: FinishReason) -> None:
    assert await repair(TextDelta(BODY), Finished(reason)) == [TextDelta(BODY), Finished(reason)]


@pytest.mark.threat("F4")
async def test_a_stream_without_an_end_makes_no_call() -> None:
    assert await repair(TextDelta(BODY)) == [TextDelta(BODY)]


async def test_a_failure_comes_after_what_was_received() -> None:
    provider = ScriptedProvider(TextDelta(BODY), ServerFailed("It broke.", remedy="Mend it."))
    events: list[ProviderEvent] = []

    async def read() -> None:
        async for event in repaired(provider.stream(REQUEST), TOOLS):
            events.append(event)  # noqa: PERF401 (what came before the failure counts)

    with pytest.raises(ServerFailed):
        await read()
    assert events == [TextDelta(BODY)]
    assert provider.closed == 1


async def test_the_id_is_none_of_those_taken() -> None:
    (made, _) = await repair(TextDelta(BODY), STOP, taken=("written_0", "written_1"))
    assert isinstance(made, ToolCalled)
    assert made.call.id not in ("written_0", "written_1")


async def test_an_ordinary_answer_streams_at_once_and_closing_it_closes_the_provider_s() -> None:
    provider = ScriptedProvider(Activity("loading"), TextDelta("It"), TextDelta(" is"), Hang())
    async with aclosing(repaired(provider.stream(REQUEST), TOOLS)) as events:
        assert [await anext(events) for _ in range(3)] == [Activity("loading"), TextDelta("It"), TextDelta(" is")]
    assert provider.closed == 1


async def test_without_tools_nothing_is_a_call() -> None:
    provider = ScriptedProvider(TextDelta(BODY), STOP)
    assert [event async for event in repaired(provider.stream(REQUEST), ())] == [TextDelta(BODY), STOP]


@pytest.mark.prop("core-4")
@patient
@given(st.lists(said, max_size=12), reasons)
async def test_any_events_without_a_written_call_come_through(
    events: list[ProviderEvent], reason: FinishReason
) -> None:
    came = await repair(*events, Finished(reason))
    assert turn_of(came).message == turn_of(events).message
    assert turn_of(came).usage == turn_of(events).usage
    assert came[-1] == Finished(reason)
    assert len(came) == len(events) + 1
