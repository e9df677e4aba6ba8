"""Servers that are too slow, in each phase of an answer."""

from __future__ import annotations

import asyncio
from contextlib import suppress
from typing import TYPE_CHECKING, Any

import pytest

from ollm_lsp.core.errors import (
    TimedOut,
)
from ollm_lsp.core.events import TextDelta
from ollm_lsp.settings.resolved import TimeLimits
from tests.providers.failures import check
from tests.providers.listening import hear
from tests.providers.vendors import (
    ANTHROPIC,
    HOST,
    OPENAI,
    VENDORS,
    Vendor,
    ask,
    at_home,
    no_waiting,
)
from tests.support.clock import Clock
from tests.support.http_server import HttpServer

if TYPE_CHECKING:
    from collections.abc import Sequence

    from tests.support.http_server import Handler, Request, Responder


LIMITS = TimeLimits(connect=10, first_token=120, idle=60, total=200)
SLOW = "raise the provider's timeouts"


@pytest.mark.threat("F8", "F48")
@pytest.mark.prop("eng-7")
@pytest.mark.parametrize("vendor", VENDORS, ids=lambda vendor: vendor.name)
@pytest.mark.parametrize("scheme", ["http", "https"])
async def test_a_server_that_does_not_take_the_connection_has_its_limit(
    vendor: Vendor, scheme: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    waits = no_waiting(monkeypatch)
    at_home(monkeypatch)
    clock = Clock(monkeypatch)
    knocked = asyncio.Semaphore(0)

    async def never(*_: Any) -> None:
        knocked.release()
        await asyncio.Event().wait()

    async def no_hand(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        """With TLS, the connection is made, and then nobody shakes hands."""
        knocked.release()
        with suppress(ConnectionError):
            while await reader.read(1000):
                pass
        writer.close()

    if scheme == "http":
        monkeypatch.setattr(asyncio.get_running_loop(), "sock_connect", never)
    server = await asyncio.start_server(no_hand, "127.0.0.1", 0)
    async with server, vendor.reaching(f"{scheme}://{HOST}:{server.sockets[0].getsockname()[1]}", limits=LIMITS) as one:
        listening = asyncio.ensure_future(hear(one.stream(ask())))
        heard = None
        while heard is None:  # Google asks for the model first, and is not discouraged
            await asyncio.wait({asyncio.ensure_future(knocked.acquire()), listening}, return_when="FIRST_COMPLETED")
            if not listening.done():
                await clock.advance(8)
                assert not listening.done()
                await clock.advance(4)
            heard = listening.result() if listening.done() else None
    check(heard, TimedOut, "within 10 s", SLOW, None, waits)
    assert waits == []


def stalling(vendor: Vendor, frames: Sequence[str], *, head: bool = True) -> Handler:
    async def chat(_: Request, responder: Responder) -> None:
        if head:
            await vendor.streams(responder, *frames)
        await responder.stall()

    return chat


@pytest.mark.threat("F8", "F48")
@pytest.mark.prop("eng-7")
@pytest.mark.parametrize("vendor", VENDORS, ids=lambda vendor: vendor.name)
@pytest.mark.parametrize("head", [False, True], ids=["before the head", "after the head"])
async def test_a_server_that_says_nothing_has_its_limit(
    vendor: Vendor, head: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    waits = no_waiting(monkeypatch)
    clock = Clock(monkeypatch)
    chat = stalling(vendor, [vendor.opening], head=head)
    async with HttpServer(vendor.serving(chat)) as server, vendor.reaching(server.url, limits=LIMITS) as provider:
        listening = asyncio.ensure_future(hear(provider.stream(ask())))
        await server.arrived(1 if vendor in {OPENAI, ANTHROPIC} else 2)
        await clock.advance(LIMITS.first_token - 5)
        assert not listening.done()
        await clock.advance(6)
        check(await listening, TimedOut, f"{server.url}{vendor.root} said nothing within 120 s", SLOW, None, waits)
        await server.responders[-1].gone.wait()
    assert (len(vendor.chats(server.requests)), waits) == (1, [])


@pytest.mark.threat("F8")
@pytest.mark.prop("eng-7")
@pytest.mark.parametrize("vendor", VENDORS, ids=lambda vendor: vendor.name)
@pytest.mark.parametrize(("step", "rounds"), [(0, 0), (45, 4)], ids=["idle", "total"])
async def test_a_server_that_stops_or_does_not_end_has_its_limit(
    vendor: Vendor, step: float, rounds: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    waits = no_waiting(monkeypatch)
    clock = Clock(monkeypatch)
    chat = stalling(vendor, [vendor.opening + vendor.text])
    texts: asyncio.Queue[str] = asyncio.Queue()

    async with HttpServer(vendor.serving(chat)) as server, vendor.reaching(server.url, limits=LIMITS) as provider:

        async def listen() -> None:
            async for event in provider.stream(ask()):
                if isinstance(event, TextDelta):
                    texts.put_nowait(event.text)

        listening = asyncio.ensure_future(listen())
        assert await texts.get() == "Hi"
        for _ in range(rounds):
            await clock.advance(step)
            assert not listening.done()
            await server.responders[-1].write(vendor.text)
            assert await texts.get() == "Hi"
        # After four rounds, the whole has lasted 180 s of its 200; else only the silence counts.
        left = LIMITS.total - rounds * step if rounds else LIMITS.idle
        await clock.advance(left - 5)
        assert not listening.done()
        await clock.advance(6)
        with pytest.raises(TimedOut) as caught:
            await listening
        await server.responders[-1].gone.wait()
    assert (caught.value.code, caught.value.status) == ("timeout", None)
    assert "stopped in the middle of its answer" in caught.value.message
    assert SLOW in caught.value.remedy
    assert (len(vendor.chats(server.requests)), waits) == (1, [])
