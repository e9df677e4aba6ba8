"""Health: looks are shared, last for a while, follow the settings, and their failures are logged with the reason."""

from __future__ import annotations

import asyncio
import logging
from typing import TYPE_CHECKING

import pytest

from ollm_lsp.core.budget import Limits
from ollm_lsp.core.kraken import KrakenKind, KrakenProvider, KrakenState
from ollm_lsp.core.ledger import Call, CallKind
from ollm_lsp.core.usage import Cost, Usage
from ollm_lsp.kraken.health import HealthBook
from ollm_lsp.kraken.overview import Overview
from ollm_lsp.settings.kraken_settings import ApiSettings, CliAgentSettings, KrakenSettings, PolicySettings
from ollm_lsp.settings.resolved import AnthropicSettings
from tests.support.memory_ledger import MemoryLedger

if TYPE_CHECKING:
    from ollm_lsp.settings.kraken_settings import KrakenEntry

CLAUDE = CliAgentSettings("claude", "claude")
VENDOR = ApiSettings("big", AnthropicSettings("kraken/big", "https://api.anthropic.com"), "claude-x")


class Doctor:
    """Looks at providers; `ill` are those that cannot be used."""

    def __init__(self) -> None:
        self.now = 0.0
        self.looked: list[str] = []
        self.ill: set[str] = set()
        self.gate = asyncio.Event()
        self.gate.set()
        self.book = HealthBook(self.check, lambda: self.now)

    async def check(self, entry: KrakenEntry) -> KrakenProvider:
        self.looked.append(entry.name)
        await self.gate.wait()
        is_ill = entry.name in self.ill
        problem, remedy = ("Not logged in.", "Log in.") if is_ill else (None, None)
        return KrakenProvider(entry.name, KrakenKind.CLI, "m", not is_ill, problem=problem, remedy=remedy)


@pytest.mark.prop("krk-9")
async def test_who_asks_during_a_look_waits_for_it_and_who_gives_up_stops_it_for_nobody() -> None:
    doctor = Doctor()
    doctor.gate.clear()
    asking = [asyncio.ensure_future(doctor.book.look({"claude": CLAUDE})) for _ in range(3)]
    await asyncio.sleep(0)
    asking[0].cancel()
    await asyncio.sleep(0)
    doctor.gate.set()
    assert (await asking[1])[0].is_available
    assert await asking[1] == await asking[2]
    assert doctor.looked == ["claude"]


@pytest.mark.prop("krk-13")
async def test_a_look_lasts_for_a_while_and_other_settings_need_another_one() -> None:
    doctor = Doctor()
    await doctor.book.look({"claude": CLAUDE}, lasts=10)
    doctor.now = 9
    await doctor.book.look({"claude": CLAUDE}, lasts=10)
    assert len(doctor.looked) == 1
    doctor.now = 11
    await doctor.book.look({"claude": CLAUDE}, lasts=10)
    assert len(doctor.looked) == 2
    await doctor.book.look({"claude": CliAgentSettings("claude", "claude", "opus")}, lasts=10)
    assert len(doctor.looked) == 3


@pytest.mark.prop("krk-12")
async def test_a_provider_that_cannot_be_used_is_logged_with_the_reason_and_marked(
    caplog: pytest.LogCaptureFixture,
) -> None:
    doctor = Doctor()
    doctor.ill = {"claude"}
    with caplog.at_level(logging.WARNING):
        (found,) = await doctor.book.look({"claude": CLAUDE})
    assert (found.is_available, found.remedy) == (False, "Log in.")
    assert "claude cannot be used: Not logged in." in caplog.text


def overview(doctor: Doctor, ledger: MemoryLedger | None = None, **more: object) -> Overview:
    settings = KrakenSettings(**{"enabled": True, "cli": {"claude": CLAUDE}, "api": {"big": VENDOR}, **more})  # pyright: ignore[reportArgumentType]
    return Overview(settings, doctor.book, ledger or MemoryLedger())


@pytest.mark.prop("krk-48")
async def test_the_state_follows_providers_and_money() -> None:
    doctor, ledger = Doctor(), MemoryLedger()
    limits = Limits(session=100)
    status = await overview(doctor, ledger, limits=limits).status()
    assert (status.state, status.budget.remaining) == (KrakenState.READY, 100)
    reserved = await ledger.reserve(Call(CallKind.API, "big", "m"), Cost(60), limits)
    status = await overview(doctor, ledger, limits=limits).status()
    assert (status.budget.spent, status.budget.reserved, status.budget.remaining) == (0, 60, 40)
    await ledger.settle(reserved, Usage(), Cost(100))
    assert (await overview(doctor, ledger, limits=limits).status()).state is KrakenState.OVER_BUDGET
    nobody = PolicySettings(allowed_providers=frozenset())
    assert (await overview(doctor, ledger, policies=nobody).status()).state is KrakenState.NONE


@pytest.mark.prop("krk-13")
async def test_those_that_are_switched_off_are_not_looked_at_and_say_how_to_begin() -> None:
    doctor = Doctor()
    status = await overview(doctor, enabled=False).status()
    assert doctor.looked == []
    assert status.state is KrakenState.NONE
    assert [one.name for one in status.providers] == ["claude", "big"]
    assert all("enabled: true" in (one.remedy or "") for one in status.providers)


async def test_a_book_that_is_closed_leaves_no_look_behind() -> None:
    doctor = Doctor()
    doctor.gate.clear()
    asking = asyncio.ensure_future(doctor.book.look({"claude": CLAUDE}))
    await asyncio.sleep(0)
    await doctor.book.close()
    with pytest.raises(asyncio.CancelledError):
        await asking
