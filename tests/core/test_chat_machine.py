"""Chats with any model, any tools and any user: each ends once, and leaves a whole history and nothing else behind."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, Any, TypeAlias

import pytest
from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import (
    RuleBasedStateMachine,
    initialize,
    invariant,
    precondition,
    rule,
    run_state_machine_as_test,
)

from ollm_lsp.core.compaction import Compactor
from ollm_lsp.core.conversation import Conversation
from ollm_lsp.core.errors import ServerFailed
from ollm_lsp.core.events import Ended, Failed, Finished, FinishReason, Started, TextDelta, ToolCalled, ToolChanged
from ollm_lsp.core.messages import Message
from ollm_lsp.core.model import Capabilities
from ollm_lsp.core.question import Question
from ollm_lsp.core.tokens import estimate
from ollm_lsp.core.tool import ToolCall, ToolStatus
from ollm_lsp.core.toolbox import Toolbox
from tests.core.values import arguments, reasons, spoken
from tests.support.chat_run import MODEL, Run
from tests.support.history import assert_valid
from tests.support.scripted_provider import Hang, Pause, RecordingSink, ScriptedProvider, Step
from tests.support.tools import FakeTool, asking, forever

if TYPE_CHECKING:
    from ollm_lsp.core.conversation import Response
    from ollm_lsp.core.foreign_json import JsonObject
    from ollm_lsp.core.ports import ToolRun

TIME_LIMIT, GRACE = 60.0, 1.0
TOOLS = ["fine", "slow", "raises", "hangs", "garbage", "stubborn", "asks"]
Script: TypeAlias = "list[Step | None]"
"""The steps of a turn; where there is none, it waits at the gate of its chat."""

LONG = Message.user("why? " * 100)
SUMMARY: Script = [TextDelta("They spoke."), Finished(FinishReason.STOP)]

called = st.builds(ToolCall, st.sampled_from(["call_0", "call_1"]), st.sampled_from([*TOOLS, "nobody"]), arguments)
steps: st.SearchStrategy[Step | None] = st.one_of(spoken, st.builds(ToolCalled, called), st.none())
lasts: st.SearchStrategy[Step] = st.one_of(
    st.just(Finished(FinishReason.TOOL_USE)),
    st.builds(Finished, reasons),
    st.just(Hang()),
    st.sampled_from([ServerFailed("It broke.", remedy="Mend it."), ZeroDivisionError()]),
)


@st.composite
def turns(draw: st.DrawFn) -> Script:
    """What a model may say in a turn: often some calls and a proper end, else anything, and it may just stop."""
    if draw(st.sampled_from([True, True, False])):
        calls = draw(st.lists(st.builds(ToolCalled, called), min_size=1, max_size=3))
        return [*draw(st.lists(spoken, max_size=1)), *calls, Finished(FinishReason.TOOL_USE)]
    return [*draw(st.lists(steps, max_size=5)), *draw(st.lists(lasts, max_size=1))]


EVENTUALLY = 200
"""Turns of the event loop in which everything that can happen without waiting has happened."""


class Chats(RuleBasedStateMachine):
    """One conversation in which chats are begun, left to themselves, hurried and cancelled."""

    @initialize()
    def start(self) -> None:
        self.loop = asyncio.new_event_loop()
        self.ahead = 0.0
        real = self.loop.time
        self.loop.time = lambda: real() + self.ahead
        self.complaints: list[dict[str, Any]] = []
        self.loop.set_exception_handler(lambda _, context: self.complaints.append(context))
        self.gates = [asyncio.Event()]
        self.conversation = Conversation("c")
        self.toolbox = Toolbox(map(self.tool, TOOLS), time_limit=TIME_LIMIT, grace=GRACE)
        self.stubborn = 0
        self.count = 0
        self.run: Run | None = None
        self.task: asyncio.Task[Response] | None = None
        self.checked = 0

    def tool(self, name: str) -> FakeTool:
        does: dict[str, Any] = {
            "fine": "text",
            "slow": self.slow,
            "raises": ValueError("no"),
            "hangs": forever,
            "garbage": "\ud800",
            "stubborn": self.stay,
            "asks": asking,
        }
        return FakeTool(name, does[name])

    async def slow(self, arguments: JsonObject, run: ToolRun) -> object:  # noqa: ARG002 (part of the contract)
        with run.asking():
            await self.gates[-1].wait()
        return f"result of {run.id}"

    async def stay(self, arguments: JsonObject, run: ToolRun) -> object:  # noqa: ARG002 (part of the contract)
        self.stubborn += 1
        gate = self.gates[-1]
        try:
            while not gate.is_set():
                try:
                    await gate.wait()
                except asyncio.CancelledError:
                    continue
        finally:
            self.stubborn -= 1
        return "too late"

    def gated(self, script: Script) -> list[Step]:
        return [Pause(self.gates[-1]) if step is None else step for step in script]

    def let_run(self, times: int) -> None:
        async def idle() -> None:
            for _ in range(times):
                await asyncio.sleep(0)

        self.loop.run_until_complete(idle())

    @property
    def is_running(self) -> bool:
        return self.task is not None and not self.task.done()

    @precondition(lambda self: not self.is_running)
    @rule(
        scripts=st.lists(turns(), min_size=1, max_size=4),
        max_turns=st.integers(1, 5),
        room=st.sampled_from([100_000, 100_000, 500, 0]),
        times=st.sampled_from([EVENTUALLY, 20, 5, 0]),
        summary=st.sampled_from([None, SUMMARY]) | turns(),
    )
    def begin(self, scripts: list[Script], max_turns: int, room: int, times: int, summary: Script | None) -> None:
        self.gates.append(asyncio.Event())
        self.count += 1
        first, *then = [self.gated(script) for script in scripts]
        messages = (*self.conversation.history(self.conversation.head, MODEL), LONG)
        tokens = estimate(messages)
        asked = Question(messages, (LONG,), Capabilities(tools=True, context_window=tokens + room + 1))
        provider = ScriptedProvider(*first, then=then)
        self.summariser = ScriptedProvider(*self.gated(summary or []))
        compactor = None if summary is None else Compactor(self.summariser, MODEL, TIME_LIMIT)
        self.run = Run(provider, RecordingSink(), self.conversation, self.toolbox, max_turns, compactor)
        self.task = self.loop.create_task(self.run.chat(asked, str(self.count)))
        self.checked = 0
        self.let_run(times)

    @precondition(lambda self: self.is_running)
    @rule(times=st.sampled_from([1, 2, 5, 10, 40]))
    def wait_a_little(self, times: int) -> None:
        self.let_run(times)

    @precondition(lambda self: self.is_running)
    @rule()
    def open_the_gate(self) -> None:
        self.gates[-1].set()

    @precondition(lambda self: self.is_running)
    @rule(seconds=st.sampled_from([TIME_LIMIT + GRACE, TIME_LIMIT / 2, GRACE]))
    def let_time_pass(self, seconds: float) -> None:
        self.ahead += seconds
        self.let_run(20)

    @precondition(lambda self: self.is_running)
    @rule(pause=st.integers(0, 5), again=st.booleans())
    def cancel(self, pause: int, again: bool) -> None:
        assert self.task is not None
        self.task.cancel()
        if again:
            self.let_run(pause)
            self.task.cancel()
        self.let_run(EVENTUALLY)
        self.ahead += 2 * GRACE
        self.let_run(EVENTUALLY)
        assert self.task.done(), "nobody holds up a cancel"

    @invariant()
    def every_request_is_valid(self) -> None:
        if self.run is not None:
            for request in self.run.provider.requests[self.checked :]:
                assert_valid(request.messages)
            self.checked = len(self.run.provider.requests)

    @invariant()
    def a_chat_ends_once_and_leaves_nothing_behind(self) -> None:
        if self.run is None or self.task is None:
            return
        ends = [event for event in self.run.sink.events if isinstance(event, Ended)]
        if self.is_running:
            assert ends == []
            return
        assert ends == self.run.sink.events[-1:]
        self.assert_told()
        assert_valid(self.conversation.history(self.conversation.head, MODEL))
        assert self.run.provider.closed == self.run.provider.opened
        assert self.summariser.closed == self.summariser.opened
        assert len(asyncio.all_tasks(self.loop)) <= self.stubborn, "nothing goes on but a tool that cannot be stopped"

    def assert_told(self) -> None:
        """The events of a chat that has ended tell of everything that its response keeps."""
        assert self.run is not None
        assert self.task is not None
        events, response = self.run.sink.events, self.conversation.get(str(self.count))
        if response is None:
            assert self.task.cancelled()
            assert events in ([], [Ended(FinishReason.CANCELLED)]), "cancelled before it began"
            return
        assert isinstance(events[0], Started)
        assert events[-1] == Ended(response.finish_reason)
        has_failed = not self.task.cancelled() and self.task.exception() is not None
        assert [type(event) for event in events].count(Failed) == has_failed
        changes: dict[str, list[ToolStatus]] = {}
        for event in events:
            if isinstance(event, ToolChanged):
                changes.setdefault(event.id, []).append(event.status)
                assert (event.result is not None) == event.status.is_settled
        for told in changes.values():
            assert told[0] is ToolStatus.PENDING
            assert [status.is_settled for status in told] == [False] * (len(told) - 1) + [True]
        calls = [part for message in response.output for part in message.parts if isinstance(part, ToolCall)]
        assert len(calls) == len(changes)

    def teardown(self) -> None:
        if not hasattr(self, "loop"):
            return
        if self.is_running:
            self.cancel(pause=0, again=False)
        self.a_chat_ends_once_and_leaves_nothing_behind()
        for gate in self.gates:
            gate.set()
        self.let_run(EVENTUALLY)
        left = asyncio.all_tasks(self.loop)
        self.loop.close()
        assert left == set()
        assert self.complaints == []


@pytest.mark.prop("core-5")
@pytest.mark.prop("core-29")
@pytest.mark.prop("core-32")
@pytest.mark.prop("core-34")
@pytest.mark.prop("core-35")
def test_whatever_happens_in_a_chat_it_ends_once_with_a_whole_history() -> None:
    examples = settings(max_examples=100, stateful_step_count=12, deadline=None)
    run_state_machine_as_test(Chats, settings=examples)
