"""ReAct as a provider: a model without tools answers a request with tools."""

from __future__ import annotations

import asyncio
from contextlib import aclosing
from typing import TYPE_CHECKING

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ollm_lsp.core.call_repair import RepairingProvider
from ollm_lsp.core.errors import IncompleteAnswer, MalformedAnswer, ServerFailed
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
from ollm_lsp.core.messages import Message, Role
from ollm_lsp.core.model import Capabilities
from ollm_lsp.core.ports import CountsTokens
from ollm_lsp.core.react import ReactProvider, can_afford, suited
from ollm_lsp.core.react_prompt import as_text
from ollm_lsp.core.request import ChatRequest
from ollm_lsp.core.tokens import estimate, estimate_tools
from ollm_lsp.core.tool import ToolCall, ToolChoice, ToolResult, ToolSpec
from ollm_lsp.core.turn import Turn
from ollm_lsp.core.usage import Cost, Usage
from tests.core.test_react_parser import ACTION, EVERY, read
from tests.core.values import patient
from tests.support.scripted_provider import Hang, ScriptedProvider, Step

if TYPE_CHECKING:
    from ollm_lsp.core.foreign_json import JsonObject

TOOLS = tuple(ToolSpec(name, f"The tool {name}.", {"required": ["path"]}) for name in ("read_file", "list"))
REQUEST = ChatRequest("m", (Message.system("Be brief."), Message.user("why?")), TOOLS)
STOP, USE, LENGTH = (Finished(reason) for reason in (FinishReason.STOP, FinishReason.TOOL_USE, FinishReason.LENGTH))
CALL = ToolCalled(ToolCall("written_0", "read_file", {"path": "a"}))
BAD = "Thought: so\nAction: read_file\nAction Input: a.py\n"


def following(first: tuple[Step, ...], *then: tuple[Step, ...]) -> ScriptedProvider:
    """A provider with one script for each request."""
    return ScriptedProvider(*first, then=then)


def fits(schema: JsonObject, arguments: JsonObject) -> str | None:
    assert schema == {"required": ["path"]}
    return None if "path" in arguments else "'path' is missing."


def said(*texts: str, end: Finished = STOP) -> tuple[Step, ...]:
    return (*map(TextDelta, texts), end)


async def events_of(*scripts: tuple[Step, ...], request: ChatRequest = REQUEST) -> list[ProviderEvent]:
    inner = following(*scripts)
    events = [event async for event in ReactProvider(inner, fits).stream(request)]
    assert inner.closed == inner.opened == len(scripts)
    return events


def without_usage(events: list[ProviderEvent]) -> list[ProviderEvent]:
    return [event for event in events if not isinstance(event, UsageReported)]


def turn_of(events: list[ProviderEvent]) -> Turn:
    turn = Turn()
    for event in events:
        turn.add(event)
    return turn


@pytest.mark.prop("core-18")
async def test_a_call_ends_the_turn_for_its_tool() -> None:
    events = await events_of(said("Thought: I look.\n", ACTION))
    assert events == [ReasoningDelta("I look."), CALL, USE]


@pytest.mark.prop("core-21")
async def test_a_final_answer_ends_the_turn() -> None:
    events = await events_of(said("Thought: I know.\nFinal ", "Answer: 4", f"2\n{ACTION}"))
    assert events == [ReasoningDelta("I know."), TextDelta("4"), TextDelta(f"2\n{ACTION}"), STOP]


async def test_a_plain_answer_is_an_answer() -> None:
    assert await events_of(said("It is 42.")) == [TextDelta("It is 42."), STOP]


async def test_a_call_written_in_another_way_is_a_call() -> None:
    assert await events_of(said('{"name": "read_file", "arguments": {"path": "a"}}')) == [CALL, USE]


async def test_the_model_is_asked_without_tools_and_told_of_them() -> None:
    inner = following(said("Final Answer: x"))
    async for _ in ReactProvider(inner).stream(REQUEST):
        pass
    assert inner.requests == [as_text(REQUEST)]
    assert inner.requests[0].tools == ()


async def test_the_stream_is_closed_at_an_observation_of_the_model_s_own() -> None:
    inner = following((TextDelta(f"{ACTION}\nObserv"), TextDelta("ation: empty"), TextDelta("x"), Hang()))
    events = [event async for event in ReactProvider(inner).stream(REQUEST)]
    assert without_usage(events) == [CALL, USE]
    assert inner.closed == 1


async def test_the_tokens_of_a_closed_stream_are_estimated() -> None:
    text = f"{ACTION}\nObservation: "
    events = await events_of((TextDelta(text), Hang()))
    estimated = Usage(estimate(as_text(REQUEST).messages), -(-len(text) // 4))
    assert events == [UsageReported(estimated), CALL, USE]


async def test_the_tokens_that_were_counted_before_it_was_closed_count() -> None:
    events = await events_of((UsageReported(Usage(5, 6)), TextDelta(f"{ACTION}\nObservation: "), Hang()))
    assert events == [UsageReported(Usage(5, 6)), CALL, USE]


@pytest.mark.threat("F4")
@pytest.mark.prop("core-15")
@pytest.mark.parametrize("reason", [FinishReason.LENGTH, FinishReason.CONTENT_FILTER])
async def test_an_answer_that_was_cut_runs_nothing(reason: FinishReason) -> None:
    two = f"Thought: hm\n{ACTION}\nAction: list\nAction Input: {{"
    assert await events_of(said(two, end=Finished(reason))) == [ReasoningDelta("hm"), Finished(reason)]
    assert await events_of(said(ACTION, end=Finished(reason))) == [Finished(reason)]


async def test_a_stream_that_breaks_off_has_no_end() -> None:
    assert await events_of((TextDelta(f"Thought: hm\n{ACTION}"),)) == [ReasoningDelta("hm")]
    with pytest.raises(IncompleteAnswer):
        await ReactProvider(following((TextDelta(ACTION),))).complete(REQUEST)


async def test_a_failure_is_the_provider_s() -> None:
    inner = following((TextDelta("Thought: hm"), ServerFailed("It broke.", remedy="Mend it.")))
    with pytest.raises(ServerFailed):
        await ReactProvider(inner).complete(REQUEST)
    assert inner.closed == 1


WRONG = {
    "words": (BAD, "The Action Input is not a JSON object"),
    "no such tool": ("Action: write\nAction Input: {}", "There is no tool 'write'. The tools are: read_file, list."),
    "a misfit": ("Action: read_file\nAction Input: {}", "does not fit the tool read_file: 'path' is missing."),
    "a good call and a misfit": (f"{ACTION}\nAction: list", "does not fit the tool list: 'path' is missing."),
    "no end": ("Thought: hm", "There is neither an Action nor a Final Answer."),
    "an observation at once": ("Thought: hm\nObservation: x\n", "There is neither an Action nor a Final Answer."),
}


@pytest.mark.threat("F13")
@pytest.mark.prop("core-19")
@pytest.mark.prop("core-33")
@pytest.mark.parametrize("name", WRONG)
async def test_a_correction_is_asked_for_and_the_corrected_call_is_made(name: str) -> None:
    written, problem = WRONG[name]
    inner = following(said(written), said(ACTION))
    events = [event async for event in ReactProvider(inner, fits).stream(REQUEST)]
    assert [event for event in events if isinstance(event, ToolCalled | Finished)] == [CALL, USE]
    first, second = inner.requests
    *before, wrong, hint = second.messages
    assert tuple(before) == first.messages
    assert wrong.role is Role.ASSISTANT
    assert written.startswith(wrong.text)
    assert problem in hint.text


@pytest.mark.threat("F13")
@pytest.mark.prop("core-33")
async def test_after_two_corrections_it_is_an_error() -> None:
    inner = following(*[said(BAD)] * 3)
    events: list[ProviderEvent] = []

    async def listen() -> None:
        async for event in ReactProvider(inner).stream(REQUEST):
            events.append(event)  # noqa: PERF401 (what came before the error counts)

    with pytest.raises(MalformedAnswer) as error:
        await listen()
    assert "The Action Input is not a JSON object" in error.value.message
    assert error.value.remedy
    assert inner.opened == inner.closed == 3
    assert not any(isinstance(event, ToolCalled | Finished) for event in events)
    assert len(inner.requests[2].messages) == len(inner.requests[0].messages) + 4


async def test_thoughts_that_never_lead_to_an_answer_are_the_answer() -> None:
    turn = turn_of(await events_of(said("Thought: a"), said("Thought: b"), said("Thought: It is\n42.\n")))
    assert turn.message is not None
    assert turn.message.text == "It is\n42."
    assert turn.finish is FinishReason.STOP


async def test_usage_is_the_sum_of_all_attempts() -> None:
    def counted(text: str) -> tuple[Step, ...]:
        return TextDelta(text), UsageReported(Usage(10, 1)), UsageReported(Usage(10, 3)), STOP

    events = await events_of(counted("Thought: hm"), counted("Thought: hm"), counted(ACTION))
    reported = [event.usage for event in events if isinstance(event, UsageReported)]
    assert reported == [Usage(10, 1), Usage(10, 3), Usage(20, 4), Usage(20, 6), Usage(30, 7), Usage(30, 9)]


async def test_words_of_two_attempts_do_not_run_together() -> None:
    scripts = said(f"Sure.\n{BAD}"), said("Action: x\n"), said(f"Well.\nThought: hm\n{ACTION}")
    events = await events_of(*scripts)
    assert [event.text for event in events if isinstance(event, TextDelta)] == ["Sure.", "\n\nWell."]
    assert [event.text for event in events if isinstance(event, ReasoningDelta)] == ["so", "\nhm"]


async def test_other_events_pass() -> None:
    begun: list[ProviderEvent] = [Activity("loading"), ReasoningDelta("its own")]
    assert await events_of((*begun, *said("Final Answer: x"))) == [*begun, TextDelta("x"), STOP]


@pytest.mark.parametrize(
    "request_",
    [ChatRequest("m", REQUEST.messages), ChatRequest("m", REQUEST.messages, TOOLS, tool_choice=ToolChoice.NONE)],
)
async def test_without_tools_the_answer_is_not_read_for_calls(request_: ChatRequest) -> None:
    assert await events_of(said(ACTION), request=request_) == [TextDelta(ACTION), STOP]


async def test_a_history_with_calls_is_written_out_even_without_tools() -> None:
    call = Message(Role.ASSISTANT, (ToolCall("1", "list", {}),))
    result = Message(Role.TOOL, (ToolResult("1", "list", "a"),))
    inner = following(said("x"))
    async for _ in ReactProvider(inner).stream(ChatRequest("m", (*REQUEST.messages, call, result))):
        pass
    assert [message.role for message in inner.requests[0].messages] == ["system", "user", "assistant", "user"]


async def test_ids_are_not_those_of_earlier_calls() -> None:
    earlier = Message(Role.ASSISTANT, (ToolCall("written_1", "list", {}),))
    result = Message(Role.TOOL, (ToolResult("written_1", "list", "a"),))
    request = ChatRequest("m", (*REQUEST.messages, earlier, result), TOOLS)
    for written in (ACTION, '{"name": "read_file", "arguments": {"path": "a"}}'):
        (called, _) = await events_of(said(written), request=request)
        assert isinstance(called, ToolCalled)
        assert called.call.id != "written_1"


async def test_closing_the_stream_closes_the_provider_s() -> None:
    inner = following((TextDelta("Thought: hm"), Hang()))
    async with aclosing(ReactProvider(inner).stream(REQUEST)) as events:
        assert await anext(events) == ReasoningDelta("hm")
    assert inner.closed == 1


@pytest.mark.prop("core-5")
async def test_cancelling_closes_the_provider_s_stream() -> None:
    inner = following((Hang(),))
    asking = asyncio.create_task(ReactProvider(inner).complete(REQUEST))
    await inner.waiting.wait()
    asking.cancel()
    with pytest.raises(asyncio.CancelledError):
        await asking
    assert inner.closed == 1


@pytest.mark.prop("core-4")
@patient
@given(st.lists(st.sampled_from(EVERY), min_size=3, max_size=3), st.sampled_from([STOP, LENGTH, USE]))
async def test_whatever_the_model_writes_there_is_one_end_or_an_error(answers: list[str], end: Finished) -> None:
    inner = following(*(said(answer, end=end) for answer in answers))
    events: list[ProviderEvent] = []

    async def listen() -> None:
        async for event in ReactProvider(inner).stream(REQUEST):
            events.append(event)  # noqa: PERF401 (what came before an error counts)

    try:
        await listen()
    except MalformedAnswer:
        assert inner.opened == 3
        assert not any(isinstance(event, ToolCalled | Finished) for event in events)
    else:
        ends = [event for event in events if isinstance(event, Finished)]
        assert ends == events[-1:]
        calls = [event for event in events if isinstance(event, ToolCalled)]
        assert (ends == [USE]) == bool(calls)
        assert not calls or end is not LENGTH or any(read(answer).is_over for answer in answers)
    assert inner.closed == inner.opened


async def test_it_is_the_provider_that_it_wraps() -> None:
    inner = ScriptedProvider(name="llama", capabilities=Capabilities(vision=True, context_window=9), cost=Cost(3))
    provider = ReactProvider(inner)
    assert provider.name == "llama"
    assert await provider.capabilities("m") == Capabilities(tools=True, vision=True, context_window=9)
    assert provider.cost("m", Usage(1, 2)) == Cost(3)
    assert isinstance(provider, CountsTokens)
    assert await provider.count(REQUEST) is None
    await provider.close()
    assert inner.is_closed


async def test_it_counts_what_is_really_sent() -> None:
    class Counting(ScriptedProvider):
        async def count(self, request: ChatRequest) -> int:
            return len(request.messages[0].text)

    assert await ReactProvider(Counting()).count(REQUEST) == len(as_text(REQUEST).messages[0].text)


@pytest.mark.prop("eng-1")
def test_a_model_uses_tools_as_well_as_it_can() -> None:
    provider = ScriptedProvider()
    assert suited(provider, Capabilities(tools=True), tools_wanted=False) is provider
    assert suited(provider, Capabilities(), tools_wanted=False) is provider
    assert isinstance(suited(provider, Capabilities(tools=True), tools_wanted=True), RepairingProvider)
    assert isinstance(suited(provider, Capabilities(), tools_wanted=True), ReactProvider)


@patient
@given(st.integers(1, 100_000), st.booleans(), st.lists(st.text(max_size=400), max_size=12))
def test_tools_are_offered_where_they_leave_room_for_the_rest(window: int, is_native: bool, about: list[str]) -> None:
    tools = [ToolSpec(f"tool_{number}", text, {}) for number, text in enumerate(about)]
    share = 0.25 if is_native else 0.1
    assert can_afford(tools, Capabilities(tools=is_native), window) == (estimate_tools(tools) <= share * window)
