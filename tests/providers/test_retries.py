"""Requests that are sent again: seldom, later each time, visibly, and never after the model has spoken."""

from __future__ import annotations

import asyncio
from contextlib import aclosing
from datetime import UTC, datetime, timedelta
from email.utils import format_datetime
from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ollm_lsp.core.errors import RateLimited, ServerFailed
from ollm_lsp.core.events import Finished, FinishReason, ReasoningDelta, TextDelta, ToolCalled, UsageReported, Warned
from ollm_lsp.providers import retries
from tests.core.values import patient
from tests.providers.listening import hear
from tests.providers.vendors import ANTHROPIC, GOOGLE, OLLAMA, OPENAI, VENDORS, Vendor, ask, no_waiting
from tests.support.clock import Clock
from tests.support.http_server import HttpServer

if TYPE_CHECKING:
    from tests.support.http_server import Handler, Request, Responder

HI = TextDelta("Hi")
STOP = Finished(FinishReason.STOP)

each_vendor = pytest.mark.parametrize("vendor", VENDORS, ids=lambda vendor: vendor.name)


def failing(vendor: Vendor, times: int, status: int = 503, **headers: str) -> Handler:
    """A server that fails so many times, and then answers."""
    left = times

    async def chat(request: Request, responder: Responder) -> None:
        nonlocal left
        left -= 1
        if left < 0:
            await vendor.says_hi(request, responder)
        else:
            await responder.whole(status, "{}", {name.replace("_", "-"): value for name, value in headers.items()})

    return vendor.serving(chat)


# How long


@pytest.mark.threat("F16")
@pytest.mark.prop("krk-8")
@patient
@given(st.integers(1, 50))
def test_each_wait_is_twice_as_long_with_chance_in_it_up_to_a_limit(attempt: int) -> None:
    wait = retries.wait_before(attempt, ServerFailed("x", remedy="y", is_passing=True))
    longest = min(0.5 * 2 ** (attempt - 1), 8.0)
    assert wait is not None
    assert longest / 2 <= wait <= longest


@pytest.mark.prop("krk-8")
def test_the_waits_of_many_differ() -> None:
    error = ServerFailed("x", remedy="y", is_passing=True)
    assert len({retries.wait_before(1, error) for _ in range(20)}) > 10


@pytest.mark.threat("F16")
@pytest.mark.prop("krk-8")
@patient
@given(st.integers(1, 50), st.floats(0, 120, allow_nan=False))
def test_a_wait_that_the_server_asks_for_is_kept_up_to_a_minute(attempt: int, asked: float) -> None:
    wait = retries.wait_before(attempt, RateLimited("x", remedy="y", is_passing=True, retry_after=asked))
    assert wait == (asked if asked <= 60 else None)


@pytest.mark.threat("F16")
@pytest.mark.prop("krk-8")
@pytest.mark.parametrize("asked", [None, 0.0, 5.0])
def test_what_does_not_pass_is_not_tried_again(asked: float | None) -> None:
    assert retries.wait_before(1, ServerFailed("x", remedy="y", retry_after=asked)) is None


# How often


@pytest.mark.prop("krk-8")
@each_vendor
@pytest.mark.parametrize("times", [1, 3])
async def test_a_server_that_comes_back_gives_its_answer(
    vendor: Vendor, times: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    waits = no_waiting(monkeypatch)
    async with HttpServer(failing(vendor, times)) as server, vendor.reaching(server.url) as provider:
        heard = await hear(provider.stream(ask()))
    assert heard.error is None
    warnings = [event for event in heard.events if isinstance(event, Warned)]
    assert heard.events[:times] == warnings
    assert (heard.text, heard.events[-1]) == ("Hi", STOP)
    for number, (warning, wait) in enumerate(zip(warnings, waits, strict=True), 1):
        assert warning.code == "retrying"
        assert f"{server.url}{vendor.root} answered 503" in warning.message
        assert warning.message.endswith(f"Trying again in {wait:.1f} s ({number} of 3).")
        assert warning.remedy
    bodies = [request.body for request in vendor.chats(server.requests)]
    assert bodies == [bodies[0]] * (times + 1)


@pytest.mark.threat("F16")
@pytest.mark.prop("krk-8")
@each_vendor
@pytest.mark.parametrize("most", [0, 1, 5])
async def test_there_are_never_more_retries_than_the_settings_say(
    vendor: Vendor, most: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    waits = no_waiting(monkeypatch)
    async with HttpServer(failing(vendor, 99)) as server, vendor.reaching(server.url, max_retries=most) as provider:
        heard = await hear(provider.stream(ask()))
        assert [type(event) for event in heard.events] == [Warned] * most
        assert type(heard.error) is ServerFailed
        waits.clear()
        with pytest.raises(ServerFailed):
            await provider.complete(ask())
    assert len(waits) == most
    assert len(vendor.chats(server.requests)) == 2 * (most + 1)


async def test_every_chat_has_its_own_retries(monkeypatch: pytest.MonkeyPatch) -> None:
    no_waiting(monkeypatch)
    async with HttpServer(failing(OPENAI, 6)) as server, OPENAI.reaching(server.url) as provider:
        heard = await asyncio.gather(*(hear(provider.stream(ask())) for _ in range(3)))
    assert [one.text for one in heard if one.error is None]
    assert len(server.requests) == sum(1 + sum(isinstance(event, Warned) for event in one.events) for one in heard)


@pytest.mark.prop("krk-8")
async def test_ollama_is_asked_again_about_its_model_too(monkeypatch: pytest.MonkeyPatch) -> None:
    waits = no_waiting(monkeypatch)
    shown = 0

    async def handle(request: Request, responder: Responder) -> None:
        nonlocal shown
        shown += request.path == "/api/show"
        if request.path == "/api/show" and shown < 3:
            await responder.json(503, {"error": "server busy"})
        else:
            await OLLAMA.serving(OLLAMA.says_hi)(request, responder)

    async with HttpServer(handle) as server, OLLAMA.reaching(server.url) as provider:
        heard = await hear(provider.stream(ask()))
    assert (heard.text, heard.error, len(waits)) == ("Hi", None, 2)
    assert [request.path for request in server.requests] == [*["/api/show"] * 3, "/api/chat"]


# What the server asks for

RETRY_INFO = {"@type": "type.googleapis.com/google.rpc.RetryInfo", "retryDelay": "0.25s"}


@pytest.mark.threat("F16")
@pytest.mark.prop("krk-8")
@each_vendor
@pytest.mark.parametrize(
    ("headers", "waited"),
    [
        ({"Retry_After": "7"}, [7.0]),
        ({"Retry_After": "0"}, [0.0]),
        ({"Retry_After": "60"}, [60.0]),
        ({"Retry_After_Ms": "1500", "Retry_After": "2"}, [1.5]),
        ({"Retry_After": "Wed, 21 Oct 2015 07:28:00 GMT"}, [0.0]),
        ({"Retry_After": "60.5"}, []),
        ({"Retry_After": "86400"}, []),
        ({"Retry_After": "Fri, 31 Dec 9999 23:59:59 GMT"}, []),
    ],
    ids=str,
)
async def test_the_wait_that_a_header_asks_for_is_kept_or_the_error_comes_at_once(
    vendor: Vendor, headers: dict[str, str], waited: list[float], monkeypatch: pytest.MonkeyPatch
) -> None:
    waits = no_waiting(monkeypatch)
    async with HttpServer(failing(vendor, 1, 429, **headers)) as server, vendor.reaching(server.url) as provider:
        heard = await hear(provider.stream(ask()))
    assert waits == waited
    assert (heard.error is None) == bool(waited)
    if heard.error:
        assert type(heard.error) is RateLimited
        assert heard.failure.retry_after is not None
        assert heard.failure.retry_after > 60


@pytest.mark.prop("krk-8")
async def test_a_date_that_is_near_is_waited_for(monkeypatch: pytest.MonkeyPatch) -> None:
    waits = no_waiting(monkeypatch)
    date = format_datetime(datetime.now(UTC) + timedelta(seconds=50), usegmt=True)
    async with HttpServer(failing(OPENAI, 1, 429, Retry_After=date)) as server, OPENAI.reaching(server.url) as provider:
        assert (await hear(provider.stream(ask()))).text == "Hi"
    assert len(waits) == 1
    assert 0 <= waits[0] <= 50


@pytest.mark.prop("krk-8")
@pytest.mark.parametrize(("delay", "waited"), [("0.25s", [0.25]), ("37s", [37.0]), ("61s", []), ("3600s", [])])
async def test_the_wait_in_an_error_of_google_is_kept(
    delay: str, waited: list[float], monkeypatch: pytest.MonkeyPatch
) -> None:
    waits = no_waiting(monkeypatch)
    details = [RETRY_INFO | {"retryDelay": delay}]
    error = {"error": {"code": 429, "status": "RESOURCE_EXHAUSTED", "message": "Slow.", "details": details}}
    answers = [error]

    async def chat(request: Request, responder: Responder) -> None:
        await (responder.json(429, answers.pop()) if answers else GOOGLE.says_hi(request, responder))

    async with HttpServer(GOOGLE.serving(chat)) as server, GOOGLE.reaching(server.url) as provider:
        heard = await hear(provider.stream(ask()))
    assert (waits, heard.error is None) == (waited, bool(waited))


# Never after the model has spoken

ERRORS: dict[str, Any] = {
    "openai": {"error": {"message": "Overloaded", "type": "server_error", "code": "server_overloaded"}},
    "anthropic": {"type": "error", "error": {"type": "overloaded_error", "message": "Overloaded"}},
    "google": {"error": {"code": 503, "status": "UNAVAILABLE", "message": "Overloaded"}},
    "ollama": {"error": {"message": "Overloaded", "code": "unavailable"}},
}


@pytest.mark.threat("F16")
@pytest.mark.prop("krk-8")
@each_vendor
@pytest.mark.parametrize("what", ["nothing", "text", "thought", "call"])
async def test_a_passing_failure_is_tried_again_only_while_the_model_has_not_spoken(
    vendor: Vendor, what: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    waits = no_waiting(monkeypatch)
    said = {"nothing": "", "text": vendor.text, "thought": vendor.thought, "call": vendor.call}[what]

    async def chat(_: Request, responder: Responder) -> None:
        await vendor.streams(responder, vendor.opening + said, vendor.frame(ERRORS[vendor.name]))
        await responder.end()

    async with HttpServer(vendor.serving(chat)) as server, vendor.reaching(server.url) as provider:
        heard = await hear(provider.stream(ask()))
    assert type(heard.error) is ServerFailed
    assert heard.failure.is_passing
    spoken = [event for event in heard.events if not isinstance(event, UsageReported | Warned)]
    kinds = {"text": TextDelta, "thought": ReasoningDelta, "call": ToolCalled}
    # A call that is announced at the end of the answer has not been heard, and may come again.
    assert all(isinstance(event, kinds[what]) for event in spoken)
    assert bool(spoken) == (not waits)
    assert len(waits) in {0, 3}
    assert what != "nothing" or not spoken
    assert what not in {"text", "thought"} or spoken
    assert len(vendor.chats(server.requests)) == 1 + len(waits)


@pytest.mark.threat("F16")
@pytest.mark.prop("krk-8")
@each_vendor
async def test_a_tool_call_is_heard_once_although_it_was_sent_twice(
    vendor: Vendor, monkeypatch: pytest.MonkeyPatch
) -> None:
    no_waiting(monkeypatch)
    ends = [vendor.end, vendor.frame(ERRORS[vendor.name])]

    async def chat(_: Request, responder: Responder) -> None:
        await vendor.streams(responder, vendor.opening + vendor.call, ends.pop())
        await responder.end()

    async with HttpServer(vendor.serving(chat)) as server, vendor.reaching(server.url) as provider:
        heard = await hear(provider.stream(ask()))
    calls = [event.call for event in heard.events if isinstance(event, ToolCalled)]
    assert [(call.name, call.arguments) for call in calls] == [("read", {})]
    assert heard.error is None


@pytest.mark.prop("krk-8")
async def test_ollama_s_context_does_not_grow_after_the_first_token() -> None:
    window = {"model_info": {"x.context_length": 131_072}}

    async def handle(request: Request, responder: Responder) -> None:
        if request.path == "/api/show":
            await responder.json(200, window)
        else:
            error = OLLAMA.frame({"error": "the input length exceeds the context length"})
            await OLLAMA.streams(responder, OLLAMA.text, error)
            await responder.end()

    async with HttpServer(handle) as server, OLLAMA.reaching(server.url) as provider:
        heard = await hear(provider.stream(ask()))
    assert (heard.events, heard.failure.code) == ([HI], "context_overflow")
    assert len(OLLAMA.chats(server.requests)) == 1


# Stopping while it waits


@pytest.mark.threat("F35")
@pytest.mark.prop("core-5")
@each_vendor
async def test_a_chat_that_is_cancelled_while_it_waits_stops_at_once(
    vendor: Vendor, monkeypatch: pytest.MonkeyPatch
) -> None:
    clock = Clock(monkeypatch)
    warned = asyncio.Event()
    async with (
        HttpServer(failing(vendor, 99, 429, Retry_After="50")) as server,
        vendor.reaching(server.url) as provider,
        aclosing(provider.stream(ask())) as stream,
    ):

        async def listen() -> None:
            async for event in stream:
                assert isinstance(event, Warned)
                warned.set()

        listening = asyncio.ensure_future(listen())
        await warned.wait()
        await clock.advance(0)  # it waits now
        await clock.advance(30)
        assert not listening.done()
        listening.cancel()
        with pytest.raises(asyncio.CancelledError):
            await listening
        for responder in server.responders:
            await responder.gone.wait()
        await clock.advance(60)
        assert [event async for event in stream] == []
    assert len(vendor.chats(server.requests)) == 1


@pytest.mark.prop("core-5")
@each_vendor
async def test_a_chat_that_is_closed_at_its_warning_asks_nothing_more(vendor: Vendor) -> None:
    async with HttpServer(failing(vendor, 99)) as server, vendor.reaching(server.url) as provider:
        stream = provider.stream(ask())
        assert isinstance(await anext(stream), Warned)
        await stream.aclose()
        for responder in server.responders:
            await responder.gone.wait()
    assert len(vendor.chats(server.requests)) == 1


@pytest.mark.prop("krk-8")
async def test_the_wait_is_over_when_its_time_has_come(monkeypatch: pytest.MonkeyPatch) -> None:
    clock = Clock(monkeypatch)
    server = HttpServer(failing(ANTHROPIC, 1, 429, Retry_After="50"))
    async with server, ANTHROPIC.reaching(server.url) as provider:
        stream = provider.stream(ask())
        assert isinstance(await anext(stream), Warned)
        rest = asyncio.ensure_future(hear(stream))
        await clock.advance(0)  # it waits now
        await clock.advance(40)
        assert len(server.requests) == 1
        await clock.advance(11)
        assert (await rest).text == "Hi"
    assert len(server.requests) == 2
