"""The ledger: never above a limit, whatever runs side by side or dies, and every sum exact."""

from __future__ import annotations

import asyncio
import os
from dataclasses import dataclass, field
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ollm_lsp.core.budget import Account, Balance, Limits
from ollm_lsp.core.errors import BudgetExceeded, StoreFailed
from ollm_lsp.core.ledger import Call, CallKind, LedgerLine
from ollm_lsp.core.usage import Cost, Usage
from ollm_lsp.settings.redactor import redactor
from ollm_lsp.store.ledger import SqliteLedger

if TYPE_CHECKING:
    from ollm_lsp.core.ledger import Reservation

CALL = Call(CallKind.API, "openai", "gpt-4o", "c1")
NOON = 1_700_000_000.0
DAY = 24 * 3600.0
NO_LIMITS = Limits(None, None, None)
MEMORY = "/dev/shm" if os.access("/dev/shm", os.W_OK) else None  # noqa: S108 (a folder of its own is made there)
"""Hundreds of files need not wait for the disk."""


@dataclass
class Clock:
    now: float = NOON

    def __call__(self) -> float:
        return self.now


def database(folder: Path) -> Path:
    return folder / "ledger.db"


@dataclass
class World:
    """Some servers on one file, and what a bookkeeper with pen and paper knows."""

    path: Path
    limits: Limits
    servers: list[SqliteLedger]
    open: list[tuple[int, Reservation]] = field(default_factory=list["tuple[int, Reservation]"])
    day: int = 0
    sessions: dict[int, int] = field(default_factory=dict[int, int])

    def add(self, server: int, micros: int) -> None:
        self.day += micros
        self.sessions[server] = self.sessions.get(server, 0) + micros


steps = st.lists(
    st.one_of(
        st.tuples(st.just("reserve"), st.integers(0, 1), st.integers(0, 40), st.booleans()),
        st.tuples(st.just("settle"), st.integers(0, 9), st.integers(0, 100)),
        st.tuples(st.just("enlarge"), st.integers(0, 9), st.integers(0, 20)),
        st.tuples(st.just("release"), st.integers(0, 9)),
        st.tuples(st.just("crash"), st.integers(0, 1)),
    ),
    max_size=14,
)


@pytest.mark.threat("T29", "F17")
@pytest.mark.prop("krk-26")
@pytest.mark.prop("krk-27")
@settings(deadline=None, max_examples=100)
@given(steps, st.integers(10, 100), st.integers(10, 100))
async def test_no_sequence_of_calls_and_crashes_breaks_a_limit_or_a_sum(
    steps: list[tuple[str, int, int, bool]], session: int, day: int
) -> None:
    with TemporaryDirectory(dir=MEMORY) as folder:
        path = database(Path(folder))
        limits = Limits(None, session, day)
        world = World(path, limits, [SqliteLedger(path, Clock()) for _ in range(2)])
        graveyard: list[SqliteLedger] = []
        try:
            for step in steps:
                await _take(world, step, graveyard)
                assert world.day <= day
                assert all(spent <= session for spent in world.sessions.values())
            for number, server in enumerate(world.servers):
                account = await server.account()
                assert account.day.gone == world.day
                assert account.session.gone == world.sessions.get(number, 0)
                mine = sum(reservation.micros for owner, reservation in world.open if owner == number)
                assert account.session.reserved == account.day.reserved == mine
        finally:
            for server in (*world.servers, *graveyard):
                await server.close()


async def _take(world: World, step: tuple[object, ...], graveyard: list[SqliteLedger]) -> None:
    match step:
        case ("reserve", int(server), int(micros), bool(is_logged)):
            fits = world.day + micros <= (world.limits.day or 0)
            fits &= world.sessions.get(server, 0) + micros <= (world.limits.session or 0)
            try:
                made = await world.servers[server].reserve(CALL, Cost(micros), world.limits, is_logged=is_logged)
            except BudgetExceeded:
                assert not fits
            else:
                assert fits
                world.open.append((server, made))
                world.add(server, micros)
        case ("settle", int(which), int(percent)) if world.open:
            server, reservation = world.open.pop(which % len(world.open))
            real = reservation.micros * percent // 100
            await world.servers[server].settle(reservation, Usage(real, 1), Cost(real))
            world.add(server, real - reservation.micros)
        case ("enlarge", int(which), int(more)) if world.open:
            at = which % len(world.open)
            server, reservation = world.open[at]
            try:
                larger = await world.servers[server].enlarge(reservation, reservation.micros + more, world.limits)
            except BudgetExceeded:
                return
            world.open[at] = (server, larger)
            world.add(server, more)
        case ("release", int(which)) if world.open:
            server, reservation = world.open.pop(which % len(world.open))
            await world.servers[server].release(reservation)
            world.add(server, -reservation.micros)
        case ("crash", int(server)):
            # Nobody settles what it had reserved, and another server takes its place.
            graveyard.append(world.servers[server])
            world.servers[server] = SqliteLedger(world.path, Clock())
            world.open = [(owner, reservation) for owner, reservation in world.open if owner != server]
            world.sessions[server] = 0
        case _:
            pass


@pytest.mark.threat("T29")
@pytest.mark.prop("krk-26")
@pytest.mark.parametrize("servers", [1, 4])
async def test_of_32_reservations_at_once_a_budget_for_three_admits_three(tmp_path: Path, servers: int) -> None:
    ledgers = [SqliteLedger(database(tmp_path), busy_timeout=60) for _ in range(servers)]
    limits = Limits(None, None, 3_000_001)
    asked = (ledgers[n % servers].reserve(CALL, Cost(1_000_000), limits) for n in range(32))
    answers = await asyncio.gather(*asked, return_exceptions=True)
    refused = [answer for answer in answers if isinstance(answer, BudgetExceeded)]
    assert len(refused) == 29
    assert (await ledgers[0].account()).day.gone == 3_000_000
    for ledger in ledgers:
        await ledger.close()


@pytest.mark.prop("krk-29")
async def test_a_call_is_remembered_with_all_that_is_known_of_it(tmp_path: Path) -> None:
    clock = Clock()
    ledger = SqliteLedger(database(tmp_path), clock)
    first = await ledger.reserve(CALL, Cost(500), NO_LIMITS)
    clock.now += 1
    plan = await ledger.reserve(Call(CallKind.PLAN, "claude", "sonnet"), Cost(), NO_LIMITS)
    await ledger.settle(first, Usage(10, 20, 3, 4), Cost(123, known=False))
    await ledger.settle(plan, Usage(7, 8), Cost(), "timeout")
    await ledger.close()

    reopened = SqliteLedger(database(tmp_path), clock)
    assert await reopened.history() == [
        LedgerLine(NOON + 1, Call(CallKind.PLAN, "claude", "sonnet"), Usage(7, 8), Cost(), "timeout"),
        LedgerLine(NOON, CALL, Usage(10, 20, 3, 4), Cost(123, known=False)),
    ]
    newest, oldest = await reopened.history()
    assert (newest.success, oldest.success) == (False, True)
    assert [line.call.provider for line in await reopened.history(1)] == ["claude"]
    await reopened.close()


@pytest.mark.prop("krk-27")
async def test_the_session_begins_with_the_server_and_the_day_with_the_calendar(tmp_path: Path) -> None:
    clock = Clock()
    ledger = SqliteLedger(database(tmp_path), clock)
    await ledger.settle(await ledger.reserve(CALL, Cost(500), NO_LIMITS), Usage(), Cost(400))
    await ledger.close()

    clock.now += 60
    later = SqliteLedger(database(tmp_path), clock)
    assert await later.account() == Account(session=Balance(), day=Balance(400))
    await later.reserve(CALL, Cost(500), Limits(None, 500, 900))
    with pytest.raises(BudgetExceeded, match="today"):
        await later.reserve(CALL, Cost(1), Limits(None, None, 900))
    clock.now += DAY
    assert (await later.account()).day == Balance()
    await later.close()


@pytest.mark.threat("F17")
@pytest.mark.prop("krk-27")
async def test_what_nobody_settled_stays_spent_and_is_shown_as_such(tmp_path: Path) -> None:
    dead = SqliteLedger(database(tmp_path), Clock())
    await dead.reserve(CALL, Cost(700), NO_LIMITS)
    await dead.close()
    ledger = SqliteLedger(database(tmp_path), Clock())
    assert (await ledger.account()).day == Balance(spent=700, reserved=0)
    (line,) = await ledger.history()
    assert (line.cost, line.is_settled, line.success) == (Cost(700), False, False)
    await ledger.close()


@pytest.mark.prop("krk-29")
async def test_without_a_log_only_the_amounts_are_kept(tmp_path: Path) -> None:
    ledger = SqliteLedger(database(tmp_path), Clock())
    call = Call(CallKind.API, "provider-of-nobody", "model-of-nobody", "conversation-of-nobody")
    reservation = await ledger.reserve(call, Cost(500), Limits(None, None, 500), is_logged=False)
    await ledger.settle(reservation, Usage(1, 2), Cost(450), "timeout")
    assert await ledger.history() == []
    assert (await ledger.account()).day == Balance(450)
    with pytest.raises(BudgetExceeded):
        await ledger.reserve(call, Cost(51), Limits(None, None, 500))
    await ledger.close()
    assert b"of-nobody" not in database(tmp_path).read_bytes()


@pytest.mark.threat("F17")
async def test_only_the_first_settlement_counts(tmp_path: Path) -> None:
    ledger = SqliteLedger(database(tmp_path), Clock())
    reservation = await ledger.reserve(CALL, Cost(500), NO_LIMITS)
    await ledger.settle(reservation, Usage(1, 2), Cost(300))
    await ledger.settle(reservation, Usage(9, 9), Cost(0))
    await ledger.release(reservation)
    assert (await ledger.account()).day == Balance(300)
    await ledger.close()


async def test_a_call_that_took_more_than_was_reserved_is_told_as_it_was(tmp_path: Path) -> None:
    ledger = SqliteLedger(database(tmp_path), Clock())
    limits = Limits(None, 500, None)
    await ledger.settle(await ledger.reserve(CALL, Cost(500), limits), Usage(1, 2), Cost(800))
    account = await ledger.account()
    assert (account.session, account.remaining(limits)) == (Balance(800), 0)
    await ledger.close()


async def test_a_settlement_finds_its_place_when_the_file_was_moved_away(tmp_path: Path) -> None:
    ledger = SqliteLedger(database(tmp_path), Clock())
    reservation = await ledger.reserve(CALL, Cost(500), NO_LIMITS)
    for ending in ("", "-wal", "-shm"):
        os.rename(f"{database(tmp_path)}{ending}", tmp_path / f"old{ending}")  # noqa: PTH104 (of an async test)
    await ledger.settle(reservation, Usage(1, 2), Cost(300))
    assert (await ledger.account()).day == Balance(300)
    assert len(await ledger.history()) == 1
    await ledger.close()


async def test_whoever_is_cancelled_while_reserving_leaves_nothing_reserved(tmp_path: Path) -> None:
    ledger = SqliteLedger(database(tmp_path), Clock())
    for _ in range(5):
        task = asyncio.create_task(ledger.reserve(CALL, Cost(500), NO_LIMITS))
        await asyncio.sleep(0)
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task
    assert (await ledger.account()).day == Balance()
    await ledger.close()


@pytest.mark.prop("krk-41")
async def test_no_secret_is_kept(tmp_path: Path) -> None:
    secret = "a-secret-in-the-ledger"
    redactor.add(secret)
    ledger = SqliteLedger(database(tmp_path), Clock())
    await ledger.reserve(Call(CallKind.API, secret, f"m-{secret}\ud800", secret), Cost(1), NO_LIMITS)
    (line,) = await ledger.history()
    assert secret not in repr(line)
    await ledger.close()


@pytest.mark.threat("F46")
@pytest.mark.prop("krk-26")
async def test_nothing_is_reserved_when_it_cannot_be_written(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("no folder")
    ledger = SqliteLedger(tmp_path / "file" / "ledger.db", Clock())
    with pytest.raises(StoreFailed, match="Ledger cannot be kept"):
        await ledger.reserve(CALL, Cost(1), NO_LIMITS)
    await ledger.close()
