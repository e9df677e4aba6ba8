"""Tools that a provider runs by itself: the user sees them, the history does not have them."""

from __future__ import annotations

from dataclasses import replace

import pytest

from ollm_lsp.core.agent_session import AgentSession
from ollm_lsp.core.errors import ConnectionFailed
from ollm_lsp.core.events import (
    Finished,
    FinishReason,
    SessionReported,
    TextDelta,
    ToolChanged,
    UsageChanged,
    UsageReported,
)
from ollm_lsp.core.messages import Message, Role, Text
from ollm_lsp.core.tool import Location, ToolCall, ToolKind, ToolResult, ToolStatus
from ollm_lsp.core.usage import Cost, Usage
from tests.support.chat_run import Run
from tests.support.scripted_provider import Hang, ScriptedProvider

CALL = ToolCall("toolu_1", "Read", {"file_path": "/w/a.py"})
BEGUN = ToolChanged("toolu_1", CALL, ToolKind.READ, "Read a.py", (Location("file:///w/a.py"),), ToolStatus.RUNNING)
DONE = replace(BEGUN, status=ToolStatus.COMPLETED, result=ToolResult("toolu_1", "Read", "text"))
SESSION = SessionReported(AgentSession("s"))
STOP = Finished(FinishReason.STOP)


def told(run: Run) -> list[ToolChanged]:
    return [event for event in run.sink.events if isinstance(event, ToolChanged)]


@pytest.mark.prop("krk-2")
async def test_what_an_agent_does_is_told_under_an_id_of_ours_and_is_no_part_of_the_history() -> None:
    run = Run(ScriptedProvider(SESSION, BEGUN, DONE, TextDelta("Yes."), STOP))
    response = await run.chat()
    assert told(run) == [replace(BEGUN, id="r.1.toolu_1"), replace(DONE, id="r.1.toolu_1")]
    assert response.output == (Message(Role.ASSISTANT, (Text("Yes."),)),)
    assert response.finish_reason is FinishReason.STOP


async def test_an_act_that_has_no_end_fails_with_the_turn() -> None:
    run = Run(ScriptedProvider(BEGUN, ConnectionFailed("Gone.", remedy="Wait.")))
    with pytest.raises(ConnectionFailed):
        await run.chat()
    assert [change.status for change in told(run)] == [ToolStatus.RUNNING, ToolStatus.FAILED]
    assert told(run)[-1].id == "r.1.toolu_1"


async def test_an_act_is_not_left_running_by_a_chat_that_is_cancelled() -> None:
    run = Run(ScriptedProvider(BEGUN, Hang()))
    await run.cancelled(run.provider.waiting)
    assert [change.status for change in told(run)] == [ToolStatus.RUNNING, ToolStatus.FAILED]


async def test_the_cost_that_a_provider_itself_tells_counts() -> None:
    price = Cost(9)
    run = Run(ScriptedProvider(UsageReported(Usage(5, 2), Cost(4695)), TextDelta("Hi"), STOP, cost=price))
    response = await run.chat()
    (change,) = [event for event in run.sink.events if isinstance(event, UsageChanged)]
    assert (change.cost, response.cost) == (Cost(4695), Cost(4695))
