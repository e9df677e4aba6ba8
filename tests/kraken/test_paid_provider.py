"""Every request is paid: reserved before anything is sent, stopped when the money ends, settled however it ends."""

from __future__ import annotations

import asyncio
from contextlib import aclosing, suppress
from typing import TYPE_CHECKING

import pytest
import pytest_asyncio

from ollm_lsp.core.budget import Balance, Limits
from ollm_lsp.core.errors import (
    AuthenticationFailed,
    BudgetExceeded,
    ConnectionFailed,
    OllmError,
    ServerFailed,
    TimedOut,
)
from ollm_lsp.core.events import Finished, FinishReason, TextDelta, UsageReported
from ollm_lsp.core.ledger import CallKind
from ollm_lsp.core.messages import Message
from ollm_lsp.core.price import Price
from ollm_lsp.core.request import ChatRequest
from ollm_lsp.core.usage import FREE, UNKNOWN_COST, Cost, Usage
from ollm_lsp.kraken.paid_provider import PaidProvider, Terms
from ollm_lsp.store.ledger import SqliteLedger
from tests.support.scripted_provider import Hang, Pause, ScriptedProvider, Step

if TYPE_CHECKING:
    from collections.abc import AsyncGenerator
    from pathlib import Path

DOLLAR = 1_000_000
PRICES = {"m": Price(input=DOLLAR, output=DOLLAR)}
"""One micro-dollar for a token."""
DONE = Finished(FinishReason.STOP)
REQUEST = ChatRequest("m", (Message.user("Hello!"),))
MOST = 6 + 8 + 100
"""The bytes of the question, what may stand around it, and the longest answer."""


@pytest_asyncio.fixture
async def ledger(tmp_path: Path) -> AsyncGenerator[SqliteLedger]:
    ledger = SqliteLedger(tmp_path / "ledger.db")
    yield ledger
    await ledger.close()


def paid(ledger: SqliteLedger, inner: ScriptedProvider, limits: Limits | None = None, **terms: object) -> PaidProvider:
    given = {"kind": CallKind.API, "name": "big", "max_tokens": 100, "prices": PRICES, **terms}
    return PaidProvider(inner, ledger, Terms(limits=limits or Limits(), **given))  # pyright: ignore[reportArgumentType]


@pytest.mark.threat("F17")
@pytest.mark.prop("krk-26")
async def test_the_most_is_reserved_before_anything_is_sent_and_settled_after_it(ledger: SqliteLedger) -> None:
    gate = Pause(asyncio.Event())
    inner = ScriptedProvider(gate, TextDelta("Hi"), UsageReported(Usage(4, 2)), DONE)
    provider = paid(ledger, inner, conversation_id="c")
    asked = asyncio.create_task(provider.complete(REQUEST))
    await inner.waiting.wait()
    assert provider.most(REQUEST) == Cost(MOST)
    assert (await ledger.account()).session == Balance(reserved=MOST)
    gate.gate.set()
    assert (await asked).usage == Usage(4, 2)
    assert (await ledger.account()).session == Balance(spent=6)
    (line,) = await ledger.history()
    assert (line.call.provider, line.call.model, line.call.conversation_id) == ("big", "m", "c")
    assert (line.usage, line.cost, line.success) == (Usage(4, 2), Cost(6), True)


@pytest.mark.threat("T29")
@pytest.mark.prop("krk-26")
async def test_what_the_budget_does_not_cover_is_not_sent(ledger: SqliteLedger) -> None:
    inner = ScriptedProvider(DONE)
    with pytest.raises(BudgetExceeded):
        await paid(ledger, inner, Limits(session=MOST - 1)).complete(REQUEST)
    assert inner.requests == []
    assert await ledger.history() == []


@pytest.mark.threat("T29")
@pytest.mark.prop("krk-26")
async def test_of_32_requests_at_once_a_budget_for_three_lets_three_out(ledger: SqliteLedger) -> None:
    hanging = ScriptedProvider(Hang())
    provider = paid(ledger, hanging, Limits(session=3 * MOST + MOST - 1))
    asked = [asyncio.create_task(provider.complete(REQUEST)) for _ in range(32)]
    for _, task in zip(range(29), asyncio.as_completed(asked), strict=False):
        with pytest.raises(BudgetExceeded):
            await task
    assert len(hanging.requests) == 3
    assert (await ledger.account()).session == Balance(reserved=3 * MOST)
    for task in asked:
        task.cancel()
    await asyncio.gather(*asked, return_exceptions=True)
    assert (await ledger.account()).session == Balance(spent=3 * MOST)


@pytest.mark.threat("T29")
@pytest.mark.prop("krk-28")
async def test_a_call_that_passes_what_remains_is_stopped(ledger: SqliteLedger) -> None:
    script = [UsageReported(Usage(MOST, 1)), UsageReported(Usage(MOST, 50)), UsageReported(Usage(MOST, 51)), Hang()]
    inner = ScriptedProvider(*script)
    with pytest.raises(BudgetExceeded):
        await paid(ledger, inner, Limits(session=MOST + 50)).complete(REQUEST)
    assert inner.closed == 1
    (line,) = await ledger.history()
    assert (line.usage, line.cost, line.error) == (
        Usage(MOST, 51),
        Cost(MOST + 51, known=False),
        "budget_exceeded",
    )


async def test_the_answer_is_never_longer_than_what_was_reserved(ledger: SqliteLedger) -> None:
    inner = ScriptedProvider(DONE)
    provider = paid(ledger, inner)
    await provider.complete(REQUEST)
    await provider.complete(ChatRequest("m", REQUEST.messages, max_tokens=500))
    await provider.complete(ChatRequest("m", REQUEST.messages, max_tokens=5))
    assert [request.max_tokens for request in inner.requests] == [100, 100, 5]


@pytest.mark.threat("F17")
@pytest.mark.prop("krk-29")
@pytest.mark.parametrize(
    ("script", "cost", "error"),
    [
        ([AuthenticationFailed("m", remedy="r")], FREE, "authentication"),
        ([ConnectionFailed("m", remedy="r")], FREE, "connection"),
        ([TextDelta("x"), ConnectionFailed("m", remedy="r")], Cost(MOST, known=False), "connection"),
        ([TimedOut("m", remedy="r")], Cost(MOST, known=False), "timeout"),
        ([UsageReported(Usage(5, 1)), ServerFailed("m", remedy="r")], Cost(MOST, known=False), "server_error"),
        ([TextDelta("x"), DONE], Cost(MOST, known=False), None),
    ],
)
async def test_what_failed_is_free_only_when_the_model_was_never_asked(
    ledger: SqliteLedger, script: list[Step], cost: Cost, error: str | None
) -> None:
    with suppress(OllmError):
        await paid(ledger, ScriptedProvider(*script)).complete(REQUEST)
    (line,) = await ledger.history()
    assert (line.cost, line.error) == (cost, error)


@pytest.mark.threat("F17")
@pytest.mark.prop("core-5")
async def test_whoever_stops_listening_pays_for_what_may_have_been_made(ledger: SqliteLedger) -> None:
    inner = ScriptedProvider(TextDelta("x"), Hang())
    async with aclosing(paid(ledger, inner).stream(REQUEST)) as events:
        assert await anext(events) == TextDelta("x")
    assert inner.closed == 1
    (line,) = await ledger.history()
    assert (line.cost, line.error) == (Cost(MOST, known=False), "cancelled")


async def test_whoever_stops_at_the_end_has_not_cancelled(ledger: SqliteLedger) -> None:
    inner = ScriptedProvider(UsageReported(Usage(3, 3)), DONE)
    async with aclosing(paid(ledger, inner).stream(REQUEST)) as events:
        assert [await anext(events), await anext(events)] == [UsageReported(Usage(3, 3), Cost(6)), DONE]
    (line,) = await ledger.history()
    assert (line.cost, line.success) == (Cost(6), True)


@pytest.mark.threat("F17")
@pytest.mark.prop("krk-29")
async def test_an_unknown_price_is_counted_and_said_to_be_unknown(ledger: SqliteLedger) -> None:
    inner = ScriptedProvider(UsageReported(Usage(10, 10)), DONE, cost=UNKNOWN_COST)
    await paid(ledger, inner, prices={}).complete(REQUEST)
    (line,) = await ledger.history()
    assert line.cost == Cost(7_500, known=False)


@pytest.mark.prop("krk-25")
async def test_what_is_shown_of_a_cost_is_what_the_ledger_says_whatever_an_agent_thinks(ledger: SqliteLedger) -> None:
    inner = ScriptedProvider(UsageReported(Usage(10, 10), Cost(7)), DONE)
    events = [event async for event in paid(ledger, inner).stream(REQUEST)]
    (line,) = await ledger.history()
    assert events[0] == UsageReported(Usage(10, 10), line.cost)
    assert line.cost == Cost(20)


@pytest.mark.prop("krk-29")
async def test_a_plan_covers_its_calls_and_their_tokens_are_counted(ledger: SqliteLedger) -> None:
    inner = ScriptedProvider(UsageReported(Usage(1_000, 1_000)), DONE, cost=Cost(99))
    provider = paid(ledger, inner, Limits(session=0), kind=CallKind.PLAN)
    assert (await provider.complete(REQUEST)).usage == Usage(1_000, 1_000)
    assert provider.cost("m", Usage(5, 5)) == FREE
    (line,) = await ledger.history()
    assert (line.call.kind, line.usage, line.cost) == (CallKind.PLAN, Usage(1_000, 1_000), FREE)


async def test_an_answer_survives_a_ledger_that_cannot_be_written(tmp_path: Path) -> None:
    ledger = SqliteLedger(tmp_path / "ledger.db")
    gate = Pause(asyncio.Event())
    inner = ScriptedProvider(TextDelta("Hi"), gate, DONE)
    asked = asyncio.create_task(paid(ledger, inner).complete(REQUEST))
    await inner.waiting.wait()
    for ending in ("-wal", "-shm", ""):
        (tmp_path / f"ledger.db{ending}").unlink()
    (tmp_path / "ledger.db").mkdir()
    gate.gate.set()
    assert (await asked).message is not None
    await ledger.close()
