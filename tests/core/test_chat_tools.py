"""A chat with tools: turn after turn, until there is an answer, a limit or a cancel."""

from __future__ import annotations

import asyncio
import tracemalloc
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ollm_lsp.core.chat import CUT_OFF, STOPPED
from ollm_lsp.core.errors import (
    ContextOverflow,
    IncompleteAnswer,
    InternalError,
    ProviderError,
    ServerFailed,
    Unsupported,
)
from ollm_lsp.core.events import (
    ChatEvent,
    Ended,
    Finished,
    FinishReason,
    ProviderEvent,
    ReasoningDelta,
    ReasoningSigned,
    TextDelta,
    ToolCalled,
    ToolChanged,
    TurnStarted,
    UsageChanged,
    UsageReported,
    Warned,
)
from ollm_lsp.core.messages import Image, Message, Reasoning, Role, Text
from ollm_lsp.core.model import Capabilities
from ollm_lsp.core.repetition import ADVICE
from ollm_lsp.core.tokens import estimate_tools
from ollm_lsp.core.tool import ToolCall, ToolKind, ToolOutcome, ToolResult, ToolStatus
from ollm_lsp.core.toolbox import Toolbox
from ollm_lsp.core.usage import FREE, UNKNOWN_COST, Cost, Usage
from tests.core.values import patient, usages
from tests.support.chat_run import ASKED, MODEL, Run, question
from tests.support.history import assert_valid
from tests.support.scripted_provider import Hang, RecordingSink, ScriptedProvider, Step
from tests.support.tools import FakeTool, asking, forever

if TYPE_CHECKING:
    from collections.abc import AsyncGenerator

    from ollm_lsp.core.foreign_json import JsonObject
    from ollm_lsp.core.ports import ToolRun
    from ollm_lsp.core.request import ChatRequest

TOOL_USE, STOP = Finished(FinishReason.TOOL_USE), Finished(FinishReason.STOP)
DONE: list[Step] = [TextDelta("done"), STOP]


def called(name: str = "read", path: str = "a", call_id: str = "call_0") -> ToolCalled:
    return ToolCalled(ToolCall(call_id, name, {"path": path}))


def run_of(*turns: list[Step], tools: list[FakeTool] | None = None, **options: Any) -> Run:
    """A chat whose model says one thing in each turn, and the last one from then on."""
    first, *then = turns
    provider = ScriptedProvider(*first, then=then)
    return Run(provider, toolbox=Toolbox([FakeTool()] if tools is None else tools), **options)


def results_in(run: Run) -> list[ToolResult]:
    return [part for message in run.kept.output for part in message.parts if isinstance(part, ToolResult)]


def of_kind(run: Run, kind: type[ChatEvent]) -> list[Any]:
    return [event for event in run.sink.events if isinstance(event, kind)]


@pytest.mark.prop("core-7")
@pytest.mark.prop("core-27")
@pytest.mark.prop("core-29")
async def test_the_result_is_added_to_the_history_and_the_next_turn_begins_with_it() -> None:
    run = run_of([TextDelta("I look."), called(), TOOL_USE], DONE)
    response = await run.chat()
    assistant = Message(Role.ASSISTANT, (Text("I look."), called().call))
    tool = Message(Role.TOOL, (ToolResult("call_0", "read", "text"),))
    first, second = run.provider.requests
    assert second.messages == (*first.messages, assistant, tool)
    assert first.tools == second.tools == run.toolbox.specs
    assert response.output == (assistant, tool, Message(Role.ASSISTANT, (Text("done"),)))
    assert response.finish_reason is FinishReason.STOP
    assert response.text == "I look.done"
    assert of_kind(run, TurnStarted) == [TurnStarted(1), TurnStarted(2)]
    assert run.conversation.history("r", MODEL) == (ASKED, *response.output)


@pytest.mark.prop("core-4")
async def test_a_call_is_told_from_the_first_word_to_its_result() -> None:
    run = run_of([called(), TOOL_USE], DONE, tools=[FakeTool(kind=ToolKind.SEARCH)])
    await run.chat()
    pending, running, completed = run.changes("r.1.1")
    assert (pending.status, running.status) == (ToolStatus.PENDING, ToolStatus.RUNNING)
    assert completed == ToolChanged(
        "r.1.1",
        called().call,
        ToolKind.SEARCH,
        "read a",
        pending.locations,
        ToolStatus.COMPLETED,
        ToolResult("call_0", "read", "text"),
    )


@pytest.mark.prop("core-6")
async def test_the_message_that_made_the_calls_is_kept_even_without_text() -> None:
    run = run_of([called(), TOOL_USE], DONE)
    response = await run.chat()
    assert response.output[0] == Message(Role.ASSISTANT, (called().call,))


@pytest.mark.prop("core-6")
async def test_signed_thoughts_go_back_with_the_calls_that_they_led_to() -> None:
    run = run_of([ReasoningDelta("hm"), ReasoningSigned("mark"), called(), TOOL_USE], DONE)
    await run.chat()
    assert run.provider.requests[1].messages[-2].parts == (Reasoning("hm", "mark"), called().call)


@pytest.mark.prop("core-6")
async def test_calls_wait_until_the_stream_has_ended_and_is_closed() -> None:
    closed_at_start: list[int] = []
    run: Run

    async def look(arguments: JsonObject, tool_run: ToolRun) -> object:
        closed_at_start.append(run.provider.closed)
        return "text"

    run = run_of([called(), TextDelta("more"), called(path="b"), TOOL_USE], DONE, tools=[FakeTool(does=look)])
    await run.chat()
    assert closed_at_start == [1, 1]
    started = [n for n, event in enumerate(run.sink.events) if getattr(event, "status", "") == ToolStatus.RUNNING]
    assert run.sink.events.index(TextDelta("more")) < started[0]


@pytest.mark.prop("core-8")
@patient
@given(st.permutations(range(5)))
async def test_results_are_added_in_call_order_in_whatever_order_they_come(order: list[int]) -> None:
    gates = [asyncio.Event() for _ in order]

    async def wait(arguments: JsonObject, run: ToolRun) -> object:
        number = int(str(arguments["path"]))
        await gates[number].wait()
        follower = order.index(number) + 1
        if follower < len(order):
            gates[order[follower]].set()
        return f"result {number}"

    calls: list[Step] = [called(path=str(number), call_id=f"call_{number}") for number in range(5)]
    run = run_of([*calls, TOOL_USE], DONE, tools=[FakeTool(does=wait)])
    gates[order[0]].set()
    await run.chat()
    assert [result.text for result in results_in(run)] == [f"result {number}" for number in range(5)]
    settled = [event.result.text for event in of_kind(run, ToolChanged) if event.result]
    assert settled == [f"result {number}" for number in order]


@pytest.mark.prop("core-9")
@patient
@given(st.integers(1, 12), st.integers(1, 12))
async def test_the_chat_ends_after_the_last_turn_that_it_may_take(max_turns: int, wanted: int) -> None:
    turns: list[list[Step]] = [[called(path=str(number)), TOOL_USE] for number in range(wanted)]
    run = run_of(*turns, DONE, max_turns=max_turns)
    response = await run.chat()
    assert len(run.provider.requests) == min(max_turns, wanted + 1)
    is_cut = max_turns <= wanted
    assert response.finish_reason is (FinishReason.MAX_TURNS if is_cut else FinishReason.STOP)
    assert run.sink.events[-1] == Ended(response.finish_reason)
    assert len(results_in(run)) == min(max_turns, wanted), "the calls of the last turn were run too"
    assert_valid(run.conversation.history("r", MODEL))


@pytest.mark.threat("T29", "F39")
@pytest.mark.prop("core-9")
async def test_a_model_that_would_never_end_gets_ten_turns() -> None:
    numbers = iter(range(1_000))

    async def count(arguments: JsonObject, run: ToolRun) -> object:
        return str(next(numbers))

    run = run_of([called(), TOOL_USE], tools=[FakeTool(does=count)])
    assert (await run.chat()).finish_reason is FinishReason.MAX_TURNS
    assert run.provider.opened == run.provider.closed == 10


async def test_a_server_that_says_stop_after_calls_means_them() -> None:
    run = run_of([called(), STOP], DONE)
    assert (await run.chat()).text == "done"
    assert run.provider.opened == 2


@pytest.mark.prop("core-4")
async def test_a_model_that_announces_calls_and_makes_none_is_done() -> None:
    run = run_of([TextDelta("a"), TOOL_USE])
    assert (await run.chat()).finish_reason is FinishReason.TOOL_USE
    assert run.provider.opened == 1


@pytest.mark.prop("core-32")
@pytest.mark.parametrize(
    "does", [ValueError("no"), asyncio.CancelledError(), None, "\ud800", ToolOutcome("no", ToolStatus.DENIED)]
)
async def test_after_a_tool_failed_the_chat_goes_on_and_the_model_knows(does: object) -> None:  # fmt: skip
    run = run_of([called(), called("nobody"), TOOL_USE], DONE, tools=[FakeTool(does=does)])
    response = await run.chat()
    assert response.finish_reason is FinishReason.STOP
    assert [result.is_error for result in results_in(run)] == [True, True]
    assert run.provider.requests[1].messages[-1].parts == tuple(results_in(run))
    assert run.statuses("r.1.1")[-1] in (ToolStatus.FAILED, ToolStatus.DENIED)
    assert run.statuses("r.1.2") == [ToolStatus.PENDING, ToolStatus.FAILED]


async def test_calls_with_the_same_made_up_id_are_told_apart() -> None:
    run = run_of([called(), called(path="b"), TOOL_USE], [called(path="c"), TOOL_USE], DONE)
    await run.chat()
    ids = [event.id for event in of_kind(run, ToolChanged) if event.status is ToolStatus.PENDING]
    assert ids == ["r.1.1", "r.1.2", "r.2.1"]
    assert [run.changes(event_id)[-1].call.arguments["path"] for event_id in ids] == ["a", "b", "c"]
    assert {result.call_id for result in results_in(run)} == {"call_0"}
    assert_valid(run.kept.output)


async def test_a_model_without_tools_is_offered_none() -> None:
    run = run_of(DONE)
    asked = question()
    await run.chat(replace(asked, capabilities=Capabilities()))
    assert run.provider.requests[0].tools == ()


# Repetition


@pytest.mark.threat("T29", "F39")
async def test_a_model_that_goes_in_circles_is_told_first_and_then_stopped() -> None:
    run = run_of([called(), TOOL_USE])
    response = await run.chat()
    assert [ADVICE in result.text for result in results_in(run)] == [False, False, True, True]
    assert response.finish_reason is FinishReason.TOOL_USE
    (warning,) = of_kind(run, Warned)
    assert warning.code == "repeated_calls"
    assert warning.remedy
    assert run.sink.events[-2:] == [warning, Ended(FinishReason.TOOL_USE)]
    assert all(ADVICE not in change.result.text for change in of_kind(run, ToolChanged) if change.result)


async def test_a_model_that_listens_goes_on() -> None:
    again: list[Step] = [called(), TOOL_USE]
    run = run_of(again, again, again, [called(path="b"), TOOL_USE], again, DONE)
    assert (await run.chat()).finish_reason is FinishReason.STOP
    assert of_kind(run, Warned) == []


async def test_the_same_call_with_news_each_time_is_no_circle() -> None:
    numbers = iter(range(100))

    async def count(arguments: JsonObject, run: ToolRun) -> object:
        return str(next(numbers))

    again: list[Step] = [called(), TOOL_USE]
    run = run_of(*[again] * 8, DONE, tools=[FakeTool(does=count)])
    assert (await run.chat()).finish_reason is FinishReason.STOP
    assert not any(ADVICE in result.text for result in results_in(run))


# Limits


@pytest.mark.prop("core-26")
async def test_a_turn_that_would_not_fit_any_more_is_refused_and_everything_until_then_kept() -> None:
    run = run_of([called(), TOOL_USE], DONE, tools=[FakeTool(does="x" * 20_000)])
    with pytest.raises(ContextOverflow):
        await run.chat(question(900, 1_100))
    assert len(run.provider.requests) == 1
    assert_valid(run.conversation.history("r", MODEL))
    assert run.kept.finish_reason is FinishReason.ERROR
    assert run.kept.output[-1].role is Role.TOOL


@pytest.mark.prop("core-25")
async def test_a_context_that_is_nearly_full_is_warned_about_once() -> None:
    turns: list[list[Step]] = [[called(path=str(number)), TOOL_USE] for number in range(4)]
    run = run_of(*turns, DONE)
    await run.chat(question(9_100, 10_000))
    assert len(run.provider.requests) == 5
    assert [warning.code for warning in of_kind(run, Warned)] == ["context_nearly_full"]


@pytest.mark.prop("core-25")
async def test_a_context_that_fills_up_on_the_way_is_warned_about_then() -> None:
    run = run_of([called(), TOOL_USE], DONE, tools=[FakeTool(does="x" * 2_000)])
    await run.chat(question(8_000, 9_100))
    (warning,) = of_kind(run, Warned)
    events = run.sink.events
    assert events.index(TurnStarted(1)) < events.index(warning) < events.index(TurnStarted(2))


@pytest.mark.prop("core-26")
async def test_what_the_model_is_told_about_the_tools_counts() -> None:
    tools = [FakeTool(f"tool{number}") for number in range(20)]
    told = estimate_tools(tool.spec for tool in tools)
    assert told > 20 * len("tool0Does tool0.") // 4
    run = run_of(DONE, tools=tools)
    with pytest.raises(ContextOverflow, match=f"{1_000 - told + 1 + told:,} tokens"):
        await run.chat(question(1_000 - told + 1, 1_000))
    assert (await run_of(DONE, tools=tools).chat(question(1_000 - told, 1_000))).text == "done"


async def test_long_results_share_what_is_left_of_the_context() -> None:
    calls: list[Step] = [called(path=str(number)) for number in range(4)]
    run = run_of([*calls, TOOL_USE], DONE, tools=[FakeTool(does="x" * 1_000_000)])
    assert (await run.chat(question(100, 8_192))).text == "done"
    for result in results_in(run):
        assert "[Cut off" in result.text
        assert 4_000 < result.text.count("x") < 8_192


# Usage


@pytest.mark.prop("core-29")
@patient
@given(st.lists(st.lists(usages, max_size=3), min_size=1, max_size=4), st.sampled_from([FREE, Cost(7), UNKNOWN_COST]))
async def test_usage_and_cost_are_totals_over_the_turns(turns: list[list[Usage]], price: Cost) -> None:
    scripts: list[list[Step]] = [
        [*map(UsageReported, reports), called(path=str(number)), TOOL_USE] for number, reports in enumerate(turns)
    ]
    first, *then = scripts
    run = Run(ScriptedProvider(*first, then=[*then, DONE], cost=price), toolbox=Toolbox([FakeTool()]))
    response = await run.chat()
    total, told = Usage(), list[UsageChanged]()
    for number, reports in enumerate(turns, 1):
        for usage in reports:
            filled = usage.input_tokens + usage.output_tokens
            cost = Cost(price.micros * number, price.currency, price.known)
            told.append(UsageChanged(total + usage, cost, filled, 1_000))
        total += reports[-1] if reports else Usage()
    assert of_kind(run, UsageChanged) == told
    assert response.usage == total
    assert response.cost == Cost(price.micros * (len(turns) + 1), price.currency, price.known)


# Cancel and failure


@pytest.mark.threat("F35")
@pytest.mark.prop("core-5")
@pytest.mark.prop("core-34")
@pytest.mark.parametrize("turn", [1, 2])
@pytest.mark.parametrize(
    ("said", "kept"),
    [
        ([], ()),
        ([TextDelta("so far")], (Message(Role.ASSISTANT, (Text("so far"),)),)),
        ([ReasoningDelta("hm")], (Message(Role.ASSISTANT, (Reasoning("hm"),)),)),
        (
            [TextDelta("I look."), called()],
            (
                Message(Role.ASSISTANT, (Text("I look."), called().call)),
                Message(Role.TOOL, (ToolResult("call_0", "read", STOPPED, is_error=True),)),
            ),
        ),
    ],
    ids=["first-token", "mid-text", "mid-thought", "mid-calls"],
)
async def test_a_cancel_while_the_model_speaks(turn: int, said: list[Step], kept: tuple[Message, ...]) -> None:
    before: list[list[Step]] = [[called(path="before"), TOOL_USE]] * (turn - 1)
    run = run_of(*before, [*said, Hang()])
    await run.cancelled(run.provider.waiting)
    assert run.kept.output[2 * (turn - 1) :] == kept
    assert run.kept.finish_reason is FinishReason.CANCELLED
    assert run.sink.events[-1] == Ended(FinishReason.CANCELLED)
    assert len(of_kind(run, Ended)) == 1
    assert_valid(run.conversation.history("r", MODEL))


@pytest.mark.threat("F35")
@pytest.mark.prop("core-5")
@pytest.mark.prop("core-34")
@pytest.mark.parametrize(
    ("does", "last"), [(forever, ToolStatus.RUNNING), (asking, ToolStatus.AWAITING_PERMISSION)], ids=["tools", "asking"]
)
async def test_a_cancel_while_tools_run_keeps_what_is_done(does: object, last: ToolStatus) -> None:
    before = asyncio.all_tasks()
    slow, quick = FakeTool("slow", does), FakeTool("quick")
    ready = asyncio.Event()

    class Sink(RecordingSink):
        def emit(self, event: ChatEvent) -> None:
            super().emit(event)
            changes = {e.id: e.status for e in self.events if isinstance(e, ToolChanged)}
            if changes.get("r.1.1") is last and changes.get("r.1.2") is ToolStatus.COMPLETED:
                ready.set()

    run = run_of([called("slow"), called("quick"), TOOL_USE], DONE, tools=[slow, quick])
    run.sink = Sink()
    await run.cancelled(ready)
    assert slow.cancelled == 1
    assert results_in(run) == [
        ToolResult("call_0", "slow", STOPPED, is_error=True),
        ToolResult("call_0", "quick", "text"),
    ]
    assert run.statuses("r.1.1")[-2:] == [last, ToolStatus.FAILED]
    assert run.sink.events[-1] == Ended(FinishReason.CANCELLED)
    assert run.provider.opened == 1
    assert asyncio.all_tasks() == before
    assert_valid(run.conversation.history("r", MODEL))


@pytest.mark.prop("core-35")
@pytest.mark.parametrize(
    ("broken", "failure"),
    [
        ([called(), ServerFailed("It broke.", remedy="Mend it.")], ServerFailed),
        ([called(), ZeroDivisionError()], InternalError),
        ([TextDelta("so"), called()], IncompleteAnswer),
    ],
)
async def test_after_a_failure_every_call_has_its_result(broken: list[Step], failure: type[Exception]) -> None:
    run = run_of([called(path="before"), TOOL_USE], broken)
    with pytest.raises(failure):
        await run.chat()
    assert [result.text for result in results_in(run)] == ["text", STOPPED]
    assert run.statuses("r.2.1") == [ToolStatus.PENDING, ToolStatus.FAILED]
    history = run.conversation.history("r", MODEL)
    assert_valid(history)
    run.provider = ScriptedProvider(*DONE)
    await run.chat(question(10, 1_000, *history, ASKED), response_id="r2")
    assert_valid(run.conversation.history("r2", MODEL))


@pytest.mark.prop("core-35")
@pytest.mark.parametrize("status", [ToolStatus.PENDING, ToolStatus.RUNNING, ToolStatus.COMPLETED, ToolStatus.FAILED])
async def test_a_reader_that_fails_leaves_a_whole_history_behind(status: ToolStatus) -> None:
    before = asyncio.all_tasks()

    class BrokenSink(RecordingSink):
        def emit(self, event: ChatEvent) -> None:
            super().emit(event)
            if isinstance(event, ToolChanged) and event.status is status:
                raise BrokenPipeError

    run = run_of([called(), called("nobody"), called(path="b"), TOOL_USE], DONE)
    run.sink = BrokenSink()
    with pytest.raises(InternalError, match="BrokenPipeError"):
        await run.chat()
    assert_valid(run.kept.output)
    assert run.provider.opened == run.provider.closed == 1
    assert asyncio.all_tasks() == before


@pytest.mark.threat("F4", "F14")
@pytest.mark.prop("core-6")
@pytest.mark.parametrize("reason", [FinishReason.LENGTH, FinishReason.CONTENT_FILTER])
async def test_a_stream_that_was_cut_off_runs_nothing(reason: FinishReason) -> None:
    tool = FakeTool()
    run = run_of([called(), Finished(reason)], DONE, tools=[tool])
    assert (await run.chat()).finish_reason is reason
    assert tool.started == 0
    assert [result.text for result in results_in(run)] == [CUT_OFF]


# Memory


class Flood(ScriptedProvider):
    """Says the same word very often."""

    def __init__(self, size: int) -> None:
        super().__init__()
        self.size = size

    async def stream(self, request: ChatRequest) -> AsyncGenerator[ProviderEvent]:  # noqa: ARG002 (part of the contract)
        self.opened += 1
        for _ in range(self.size):
            yield TextDelta("word ")
        yield STOP


class Deaf(RecordingSink):
    def emit(self, event: ChatEvent) -> None:
        pass

    async def drain(self) -> None:
        pass


@pytest.mark.threat("F18")
async def test_of_a_long_stream_nothing_is_kept_but_its_text() -> None:
    async def kept_by(size: int) -> int:
        run = Run(Flood(size), Deaf())
        tracemalloc.start()
        try:
            response = await run.chat()
            held, _ = tracemalloc.get_traced_memory()
        finally:
            tracemalloc.stop()
        assert len(response.text) == 5 * size
        return held - 5 * size

    await kept_by(100)  # whatever is made once
    assert await kept_by(40_000) - await kept_by(10_000) < 30_000 / 2, "less than half a byte for each token"


IMAGE = Image("image/png", b"x")
SEES = Capabilities(tools=True, vision=True, context_window=100_000)


async def shown(*turns: list[Step]) -> Run:
    """A chat with a model that is thought to see, and a tool that gives an image."""
    first, *then = turns
    provider = ScriptedProvider(*first, then=then, capabilities=SEES)
    run = Run(provider, toolbox=Toolbox([FakeTool(does=ToolOutcome("a.png", images=(IMAGE,)))]))
    await run.chat(replace(question(), capabilities=SEES))
    return run


@pytest.mark.prop("core-35")
@pytest.mark.parametrize(
    "refusal",
    [
        Unsupported("It is not a multimodal model.", remedy="Choose another."),
        ServerFailed("It cannot process the image.", remedy="Mend it.", status=400),
    ],
)
async def test_a_server_that_refuses_the_image_of_a_tool_is_asked_without_it(refusal: Exception) -> None:
    run = await shown([called(), TOOL_USE], [refusal], [called(path="b"), TOOL_USE], DONE)
    given = [request.messages[-1].parts[-1] for request in run.provider.requests[1:]]
    assert [part.images for part in given if isinstance(part, ToolResult)] == [(IMAGE,), (), ()]
    assert [event.code for event in of_kind(run, Warned)] == ["images_hidden"]
    assert [event.number for event in of_kind(run, TurnStarted)] == [1, 2, 3]
    assert run.kept.text == "done"
    assert [result.images for result in results_in(run)] == [(IMAGE,), (IMAGE,)]


@pytest.mark.parametrize(
    "turns",
    [
        [[Unsupported("No.", remedy="x")]],
        [[called(), TOOL_USE], [ServerFailed("No.", remedy="x", status=500)]],
        [[called(), TOOL_USE], [TextDelta("I see"), Unsupported("No.", remedy="x")]],
    ],
    ids=["no image was sent", "not refused", "has spoken"],
)
async def test_other_failures_are_not_laid_on_images(turns: list[list[Step]]) -> None:
    with pytest.raises(ProviderError, match=r"No\."):
        await shown(*turns, DONE)
