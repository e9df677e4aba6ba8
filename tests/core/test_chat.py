"""The chat loop: every event in order, exactly one end, and nothing left open."""

from __future__ import annotations

import asyncio
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ollm_lsp.core.chat import CUT_OFF, STOPPED, ending
from ollm_lsp.core.conversation import Conversation
from ollm_lsp.core.errors import (
    ConnectionFailed,
    ContextOverflow,
    IncompleteAnswer,
    InternalError,
    OllmError,
    RateLimited,
    ServerFailed,
)
from ollm_lsp.core.events import (
    ChatEvent,
    Ended,
    Failed,
    Finished,
    FinishReason,
    ProviderEvent,
    ReasoningDelta,
    ReasoningSigned,
    SessionReported,
    Started,
    TextDelta,
    ToolCalled,
    ToolChanged,
    TurnStarted,
    UsageChanged,
    UsageReported,
    Warned,
)
from ollm_lsp.core.messages import Message, Reasoning, Role, Text
from ollm_lsp.core.repair import no_result
from ollm_lsp.core.tool import ToolCall, ToolKind, ToolStatus
from ollm_lsp.core.turn import Turn
from ollm_lsp.core.usage import Cost, Usage
from tests.core.values import patient, reasons, said, spoken
from tests.support.chat_run import ASKED, MODEL, Run, question
from tests.support.scripted_provider import Hang, Pause, RecordingSink, ScriptedProvider, Step

PRICE = Cost(micros=42)
BEGUN = [Started("c", "r", MODEL), TurnStarted(1)]
STORY: list[ProviderEvent] = [
    ReasoningDelta("hm"),
    TextDelta("Once "),
    UsageReported(Usage(3, 1)),
    TextDelta("more"),
    ToolCalled(ToolCall("1", "read", {"path": "a"})),
    UsageReported(Usage(3, 4)),
]

failures = st.sampled_from([ConnectionFailed, RateLimited, ServerFailed, IncompleteAnswer, InternalError]).map(
    lambda kind: kind("It broke.", remedy="Mend it.")
)
surprises: st.SearchStrategy[Exception] = st.sampled_from(
    [RuntimeError, KeyError, ValueError, OSError, TimeoutError, RecursionError, MemoryError, AssertionError]
).map(lambda kind: kind("sk-secret"))


def scripted(*script: Step, hold_at: int | None = None) -> Run:
    return Run(ScriptedProvider(*script, cost=PRICE), RecordingSink(hold_at=hold_at))


def forwarded(events: list[ProviderEvent], limit: int = 1_000) -> list[ChatEvent]:
    """What a chat says when a model says this in its first turn."""
    heard: list[ChatEvent] = []
    calls = 0
    for event in events:
        if isinstance(event, UsageReported):
            tokens = event.usage.input_tokens + event.usage.output_tokens
            heard.append(UsageChanged(event.usage, PRICE, tokens, limit))
        elif isinstance(event, ToolCalled):
            calls += 1
            name = event.call.name
            heard.append(ToolChanged(f"r.1.{calls}", event.call, ToolKind.OTHER, name, (), ToolStatus.PENDING))
        elif isinstance(event, ToolChanged):
            heard.append(replace(event, id=f"r.1.{event.id}"))
        elif not isinstance(event, Finished | ReasoningSigned | SessionReported):
            heard.append(event)
    return heard


def settled(events: list[ProviderEvent], why: str) -> list[ChatEvent]:
    """What a chat says of the calls that it does not run."""
    return [
        replace(change, status=ToolStatus.FAILED, result=no_result(change.call, why))
        for change in forwarded(events)
        if isinstance(change, ToolChanged)
    ]


def output_of(events: list[ProviderEvent], why: str = STOPPED) -> tuple[Message, ...]:
    turn = Turn()
    for event in events:
        turn.add(event)
    results = tuple(no_result(event.call, why) for event in events if isinstance(event, ToolCalled))
    answers = (Message(Role.TOOL, results),) if results else ()
    return (turn.message, *answers) if turn.message else ()


@pytest.mark.prop("core-4")
@pytest.mark.prop("core-15")
@pytest.mark.prop("core-28")
@patient
@given(st.lists(spoken, max_size=20), reasons, st.lists(st.one_of(said, st.builds(Finished, reasons)), max_size=3))
async def test_events_are_forwarded_in_order_and_unchanged_until_one_end(
    events: list[ProviderEvent], reason: FinishReason, too_late: list[ProviderEvent]
) -> None:
    run = scripted(*events, Finished(reason), *too_late)
    response = await run.chat()
    assert run.sink.events == [*BEGUN, *forwarded(events), Ended(reason)]
    assert response is run.kept
    assert response.finish_reason is reason
    assert response.output == output_of(events)
    assert run.provider.closed == 1


@pytest.mark.threat("F4")
@pytest.mark.prop("core-6")
@pytest.mark.prop("core-28")
@patient
@given(st.lists(said, max_size=20), st.sampled_from([FinishReason.LENGTH, FinishReason.CONTENT_FILTER]))
async def test_an_answer_that_was_cut_off_never_runs_a_call(events: list[ProviderEvent], reason: FinishReason) -> None:
    run = scripted(*events, Finished(reason))
    response = await run.chat()
    assert run.sink.events == [*BEGUN, *forwarded(events), *settled(events, CUT_OFF), Ended(reason)]
    assert response.output == output_of(events, CUT_OFF)
    assert run.provider.opened == run.provider.closed == 1


@pytest.mark.prop("core-4")
@pytest.mark.prop("core-28")
@patient
@given(st.lists(said, max_size=12), failures)
async def test_a_failure_is_told_once_and_then_the_end(events: list[ProviderEvent], failure: OllmError) -> None:
    run = scripted(*events, failure)
    with pytest.raises(type(failure)) as raised:
        await run.chat()
    assert raised.value is failure
    assert run.sink.events == [
        *BEGUN,
        *forwarded(events),
        *settled(events, STOPPED),
        Failed(failure),
        Ended(FinishReason.ERROR),
    ]
    assert run.kept.finish_reason is FinishReason.ERROR
    assert run.kept.output == output_of(events)
    assert run.provider.closed == 1


@pytest.mark.prop("core-35")
@patient
@given(st.lists(said, max_size=12), surprises)
async def test_an_unexpected_exception_becomes_an_error_event_that_does_not_repeat_its_words(
    events: list[ProviderEvent], surprise: Exception
) -> None:
    run = scripted(*events, surprise)
    with pytest.raises(InternalError) as raised:
        await run.chat()
    assert raised.value.__cause__ is surprise
    assert type(surprise).__name__ in raised.value.message
    assert "sk-secret" not in str(raised.value)
    assert run.sink.events == [
        *BEGUN,
        *forwarded(events),
        *settled(events, STOPPED),
        Failed(raised.value),
        Ended(FinishReason.ERROR),
    ]
    assert run.kept.output == output_of(events)
    assert run.provider.closed == 1


@pytest.mark.threat("F4")
@pytest.mark.prop("core-28")
@patient
@given(st.lists(said, max_size=12))
async def test_a_stream_that_just_stops_is_an_incomplete_answer(events: list[ProviderEvent]) -> None:
    run = scripted(*events)
    with pytest.raises(IncompleteAnswer, match="scripted stopped without finishing") as raised:
        await run.chat()
    assert run.sink.events == [
        *BEGUN,
        *forwarded(events),
        *settled(events, STOPPED),
        Failed(raised.value),
        Ended(FinishReason.ERROR),
    ]
    assert run.kept.finish_reason is FinishReason.ERROR
    assert run.kept.output == output_of(events)


@pytest.mark.threat("F35")
@pytest.mark.prop("core-5")
@pytest.mark.prop("core-34")
@patient
@given(st.lists(said, max_size=8), st.data())
async def test_a_cancel_while_the_model_is_silent_keeps_what_was_said(
    events: list[ProviderEvent], data: st.DataObject
) -> None:
    cut = data.draw(st.integers(0, len(events)))
    run = scripted(*events[:cut], Hang(), *events[cut:], Finished(FinishReason.STOP))
    await run.cancelled(run.provider.waiting)
    assert run.sink.events == [
        *BEGUN,
        *forwarded(events[:cut]),
        *settled(events[:cut], STOPPED),
        Ended(FinishReason.CANCELLED),
    ]
    assert run.kept.finish_reason is FinishReason.CANCELLED
    assert run.kept.output == output_of(events[:cut])


@pytest.mark.threat("F35")
@pytest.mark.prop("core-5")
@pytest.mark.prop("core-34")
@patient
@given(st.lists(said, min_size=1, max_size=8), st.data())
async def test_a_cancel_while_the_reader_is_behind_closes_the_stream_first(
    events: list[ProviderEvent], data: st.DataObject
) -> None:
    at = data.draw(st.integers(0, len(events) - 1))
    run = scripted(*events, Finished(FinishReason.STOP), hold_at=at)
    await run.cancelled(run.sink.held)
    heard = events[: at + 1]
    assert run.sink.events == [*BEGUN, *forwarded(heard), *settled(heard, STOPPED), Ended(FinishReason.CANCELLED)]
    assert run.kept.finish_reason is FinishReason.CANCELLED
    assert run.kept.output == output_of(heard)


@pytest.mark.prop("core-5")
@pytest.mark.prop("core-34")
async def test_a_cancel_while_the_stream_is_being_closed_is_still_a_cancel() -> None:
    run = scripted(*STORY, Finished(FinishReason.STOP))
    run.provider.closing = Pause(asyncio.Event())
    await run.cancelled(run.provider.waiting)
    assert run.sink.events == [*BEGUN, *forwarded(STORY), *settled(STORY, STOPPED), Ended(FinishReason.CANCELLED)]
    assert run.kept.output == output_of(STORY)


@pytest.mark.threat("F35")
@pytest.mark.prop("core-5")
async def test_a_cancel_waits_until_the_stream_is_closed() -> None:
    run = scripted(TextDelta("a"), Hang(), hold_at=0)
    run.provider.closing = Pause(asyncio.Event())
    task = asyncio.create_task(run.chat())
    await run.sink.held.wait()
    task.cancel()
    await run.provider.waiting.wait()
    assert not task.done()
    assert Ended(FinishReason.CANCELLED) not in run.sink.events
    run.provider.closing.gate.set()
    with pytest.raises(asyncio.CancelledError):
        await task
    assert run.provider.closed == 1
    assert run.sink.events[-1] == Ended(FinishReason.CANCELLED)


@pytest.mark.prop("core-5")
async def test_what_came_before_a_cancel_is_in_the_history_of_the_next_chat() -> None:
    run = scripted(ReasoningDelta("hm"), TextDelta("Once "), Hang())
    await run.cancelled(run.provider.waiting)
    partial = Message(Role.ASSISTANT, (Reasoning("hm"), Text("Once ")))
    assert run.conversation.history(run.conversation.head, MODEL) == (ASKED, partial)

    run.provider = ScriptedProvider(TextDelta("more"), Finished(FinishReason.STOP))
    response = await run.chat(response_id="r2")
    assert response.parent_id == "r"
    assert run.conversation.history("r2", MODEL) == (ASKED, partial, ASKED, *response.output)


@pytest.mark.prop("core-29")
async def test_a_chat_that_brought_nothing_leaves_no_trace_in_the_history() -> None:
    run = scripted(ServerFailed("It broke.", remedy="Mend it."))
    with pytest.raises(ServerFailed):
        await run.chat()
    assert run.kept.output == ()
    assert run.conversation.history("r", MODEL) == ()


@pytest.mark.prop("core-35")
async def test_after_any_failure_the_next_chat_answers() -> None:
    run = scripted(TextDelta("a"), ZeroDivisionError())
    with pytest.raises(InternalError):
        await run.chat()
    run.provider = ScriptedProvider(TextDelta("b"), Finished(FinishReason.STOP))
    assert (await run.chat(response_id="r2")).text == "b"


@pytest.mark.prop("core-27")
async def test_the_model_is_asked_once_with_the_messages_of_the_question_and_the_input_is_kept() -> None:
    run = scripted(TextDelta("because"), Finished(FinishReason.STOP))
    sent = (Message.system("be brief"), Message.user("a buffer", "why?"))
    response = await run.chat(question(10, 100, *sent))
    (request,) = run.provider.requests
    assert (request.model, request.messages) == (MODEL.name, sent)
    assert response.input == (ASKED,)
    assert run.conversation.history("r", MODEL) == (ASKED, *response.output)


@pytest.mark.prop("core-4")
async def test_an_event_is_passed_on_before_the_model_says_the_next() -> None:
    gate = asyncio.Event()
    run = scripted(TextDelta("a"), Pause(gate), TextDelta("b"), Finished(FinishReason.STOP))
    task = asyncio.create_task(run.chat())
    await run.provider.waiting.wait()
    assert run.sink.events == [*BEGUN, TextDelta("a")]
    assert run.sink.drains == 1
    gate.set()
    assert (await task).text == "ab"


@pytest.mark.prop("eng-6")
async def test_one_provider_serves_many_chats_at_once() -> None:
    gate = asyncio.Event()
    provider = ScriptedProvider(*STORY, Pause(gate), Finished(FinishReason.LENGTH))
    runs = [Run(provider, conversation=Conversation("c")) for _ in range(20)]
    tasks = [asyncio.create_task(run.chat()) for run in runs]
    await provider.waiting.wait()
    gate.set()
    answers = {response.text for response in await asyncio.gather(*tasks)}
    assert answers == {"Once more"}
    assert provider.opened == provider.closed == 20
    assert all(run.sink.events[-1] == Ended(FinishReason.LENGTH) for run in runs)


async def test_the_last_usage_is_kept_with_its_cost() -> None:
    run = scripted(*STORY, Finished(FinishReason.LENGTH))
    response = await run.chat(question(limit=2_000))
    changes = [event for event in run.sink.events if isinstance(event, UsageChanged)]
    assert changes == [UsageChanged(Usage(3, 1), PRICE, 4, 2_000), UsageChanged(Usage(3, 4), PRICE, 7, 2_000)]
    assert (response.usage, response.cost) == (Usage(3, 4), PRICE)
    assert run.provider.costs_asked[-1] == (MODEL.name, Usage(3, 4))


async def test_a_cancelled_chat_keeps_the_usage_that_was_reported() -> None:
    run = scripted(UsageReported(Usage(7, 0)), Hang())
    await run.cancelled(run.provider.waiting)
    assert (run.kept.usage, run.kept.cost) == (Usage(7, 0), PRICE)


@pytest.mark.prop("core-26")
async def test_a_question_that_cannot_fit_is_refused_before_the_provider_is_asked() -> None:
    run = scripted(Finished(FinishReason.STOP))
    with pytest.raises(ContextOverflow, match=r"1,001 tokens.* at most 1,000") as raised:
        await run.chat(question(1_001, 1_000))
    assert run.provider.requests == []
    assert run.sink.events == [Started("c", "r", MODEL), Failed(raised.value), Ended(FinishReason.ERROR)]
    assert run.conversation.history("r", MODEL) == ()


@pytest.mark.prop("core-25")
@pytest.mark.parametrize(("tokens", "warned"), [(899, False), (900, True), (1_000, True)])
async def test_a_question_that_nearly_fills_the_context_is_warned_about_and_answered(tokens: int, warned: bool) -> None:
    run = scripted(TextDelta("a"), Finished(FinishReason.STOP))
    response = await run.chat(question(tokens, 1_000))
    warnings = [event for event in run.sink.events if isinstance(event, Warned)]
    assert [warning.code for warning in warnings] == ["context_nearly_full"] * warned
    assert response.text == "a"
    assert run.sink.events[-1] == Ended(FinishReason.STOP)


@pytest.mark.prop("core-35")
async def test_a_provider_that_cannot_name_its_price_is_a_failure_with_one_end() -> None:
    run = Run(ScriptedProvider(UsageReported(Usage(1, 1)), cost=LookupError("no price")))
    with pytest.raises(InternalError, match="LookupError"):
        await run.chat()
    assert [type(event) for event in run.sink.events[-2:]] == [Failed, Ended]
    assert sum(isinstance(event, Ended) for event in run.sink.events) == 1
    assert run.provider.closed == 1


@pytest.mark.prop("core-35")
async def test_a_reader_that_fails_ends_the_chat_and_closes_the_stream() -> None:
    class BrokenSink(RecordingSink):
        async def drain(self) -> None:
            raise BrokenPipeError

    run = Run(ScriptedProvider(*STORY, Finished(FinishReason.STOP)), BrokenSink())
    with pytest.raises(InternalError, match="BrokenPipeError"):
        await run.chat()
    assert run.provider.closed == 1
    assert run.sink.events[-1] == Ended(FinishReason.ERROR)
    assert run.kept.output == output_of(STORY[:1])


@pytest.mark.prop("core-4")
@pytest.mark.parametrize("reason", FinishReason)
async def test_a_chat_ends_for_the_reason_that_it_gives(reason: FinishReason) -> None:
    sink = RecordingSink()
    async with ending(sink) as end:
        assert sink.events == []
        end.reason = reason
    assert sink.events == [Ended(reason)]


@pytest.mark.prop("core-4")
@pytest.mark.parametrize("failure", [ServerFailed("It broke.", remedy="Mend it."), ZeroDivisionError()])
async def test_a_failure_after_the_answer_is_still_an_error(failure: Exception) -> None:
    sink = RecordingSink()

    async def fail_late() -> None:
        async with ending(sink) as end:
            end.reason = FinishReason.STOP
            raise failure

    with pytest.raises(OllmError) as raised:
        await fail_late()
    assert sink.events == [Failed(raised.value), Ended(FinishReason.ERROR)]


@pytest.mark.prop("core-5")
async def test_a_cancel_before_the_chat_has_begun_is_an_end_too() -> None:
    sink, standing = RecordingSink(), asyncio.Event()

    async def settle() -> None:
        async with ending(sink):
            standing.set()
            await asyncio.Event().wait()

    task = asyncio.create_task(settle())
    await standing.wait()
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    assert sink.events == [Ended(FinishReason.CANCELLED)]
