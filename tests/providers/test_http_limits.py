"""The limits of an endpoint: streams that never end, servers that say too much."""

from __future__ import annotations

import asyncio
import json
from contextlib import aclosing
from typing import TYPE_CHECKING

import pytest

from ollm_lsp.core.errors import (
    MalformedAnswer,
    ServerFailed,
    TimedOut,
)
from ollm_lsp.core.events import Finished, FinishReason, ToolCalled
from ollm_lsp.core.tool import ToolCall
from ollm_lsp.providers import http
from ollm_lsp.providers.framing import SseFramer
from ollm_lsp.providers.wire import openai_chat
from ollm_lsp.settings.resolved import TimeLimits
from tests.providers.endpoint import (
    ANSWER,
    HI,
    LIMITS,
    SSE,
    STOP,
    chat,
    data,
    reaching,
    saying_hi_and_stalling,
    stalling,
    streaming,
    whole,
)
from tests.providers.listening import hear
from tests.support.clock import Clock
from tests.support.http_server import HttpServer

if TYPE_CHECKING:
    from ollm_lsp.core.events import ProviderEvent
    from ollm_lsp.providers.framing import SseEvent
    from ollm_lsp.providers.http import Endpoint
    from tests.support.http_server import Handler, Request, Responder

# Streams that never end

ROLE = 'data: {"choices":[{"delta":{"role":"assistant","content":""}}]}\n\n'
STALLS: dict[str, tuple[Handler, float, list[ProviderEvent], str]] = {
    "before the head": (stalling(head=False), LIMITS.first_token, [], "said nothing within 120 s"),
    "before the first byte": (stalling(), LIMITS.first_token, [], "said nothing within 120 s"),
    "after keep-alives": (stalling(": ping\n\n", ": ping\n\n"), LIMITS.first_token, [], "said nothing within 120 s"),
    "after the role": (stalling(ROLE), LIMITS.first_token, [], "said nothing within 120 s"),
    "in the middle": (stalling(data()), LIMITS.idle, [HI], "stopped in the middle"),
    "inside a frame": (stalling(data(), "data: {"), LIMITS.idle, [HI], "stopped in the middle"),
}


@pytest.mark.threat("F8")
@pytest.mark.prop("eng-7")
@pytest.mark.parametrize(("handler", "limit", "events", "words"), STALLS.values(), ids=STALLS)
async def test_a_stream_that_stalls_ends_at_its_limit_and_the_next_one_works(
    handler: Handler, limit: float, events: list[ProviderEvent], words: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    clock = Clock(monkeypatch)
    async with HttpServer(handler) as server, reaching(server.url) as endpoint:
        heard: asyncio.Queue[ProviderEvent] = asyncio.Queue()

        async def listen() -> None:
            async for event in chat(endpoint):
                heard.put_nowait(event)

        listening = asyncio.ensure_future(listen())
        await server.arrived()
        assert [await heard.get() for _ in events] == events
        await clock.advance(limit - 5)
        assert not listening.done()
        await clock.advance(6)
        with pytest.raises(TimedOut) as caught:
            await listening
        assert words in caught.value.message
        assert (caught.value.code, caught.value.remedy != "") == ("timeout", True)
        await server.responders[0].gone.wait()
        server.handler = streaming
        assert (await hear(chat(endpoint))).events == [HI, STOP]


class Feed:
    """A chat that is sent piece by piece, each taken before the next."""

    def __init__(self, endpoint: Endpoint) -> None:
        self._taken = asyncio.Event()
        feed = self

        class Framer(SseFramer):
            def feed(self, chunk: bytes) -> list[SseEvent]:
                feed._taken.set()
                return super().feed(chunk)

        self.listening = asyncio.ensure_future(hear(endpoint.stream("/chat", {}, Framer(), openai_chat.Decoder())))

    async def send(self, responder: Responder, text: str) -> None:
        self._taken.clear()
        await responder.write(text)
        await self._taken.wait()


@pytest.mark.threat("F8")
@pytest.mark.parametrize(
    "noise",
    [": keep-alive\n\n", "event: ping\ndata: {}\n\n", 'data: {"choices":[]}\n\n', ROLE],
    ids=["comments", "pings", "no choices", "empty deltas"],
)
async def test_keep_alives_are_not_progress(noise: str, monkeypatch: pytest.MonkeyPatch) -> None:
    clock = Clock(monkeypatch)
    async with HttpServer(stalling()) as server, reaching(server.url) as endpoint:
        feed = Feed(endpoint)
        await server.arrived()
        await feed.send(server.responders[0], data())
        for _ in range(5):
            await feed.send(server.responders[0], noise)
            await clock.advance(10)
        assert not feed.listening.done()
        await clock.advance(20)
        got = await feed.listening
    assert (got.events, type(got.error)) == ([HI], TimedOut)


async def test_the_pieces_of_a_long_tool_call_are_progress(monkeypatch: pytest.MonkeyPatch) -> None:
    clock = Clock(monkeypatch)
    async with HttpServer(stalling()) as server, reaching(server.url) as endpoint:
        feed = Feed(endpoint)
        await server.arrived()
        for number, text in enumerate(['{"text": "', *["x"] * 5, '"}']):
            call = {"index": 0, "function": {"name": "" if number else "write", "arguments": text}}
            choice = {"delta": {"tool_calls": [call]}}
            await feed.send(server.responders[0], f"data: {json.dumps({'choices': [choice]})}\n\n")
            await clock.advance(LIMITS.idle - 5)
        await feed.send(server.responders[0], data("", "tool_calls") + "data: [DONE]\n\n")
        got = await feed.listening
    assert got.events == [
        ToolCalled(ToolCall("call_0", "write", {"text": "xxxxx"})),
        Finished(FinishReason.TOOL_USE),
    ]


async def test_the_time_that_the_reader_takes_does_not_count(monkeypatch: pytest.MonkeyPatch) -> None:
    clock = Clock(monkeypatch)
    async with (
        HttpServer(saying_hi_and_stalling) as server,
        reaching(server.url) as endpoint,
        aclosing(chat(endpoint)) as stream,
    ):
        assert await anext(stream) == HI
        await clock.advance(LIMITS.idle + 5)
        second = asyncio.ensure_future(anext(stream))
        await clock.advance(LIMITS.idle - 5)
        assert not second.done()
        await server.responders[0].write(ANSWER)
        assert await second == HI


@pytest.mark.threat("F8")
async def test_an_answer_ends_at_the_total_limit_even_while_it_grows(monkeypatch: pytest.MonkeyPatch) -> None:
    clock = Clock(monkeypatch)
    async with HttpServer(stalling()) as server, reaching(server.url, TimeLimits(total=100)) as endpoint:
        feed = Feed(endpoint)
        await server.arrived()
        for _ in range(3):
            await feed.send(server.responders[0], data())
            await clock.advance(30)
        assert not feed.listening.done()
        await feed.send(server.responders[0], data())
        await clock.advance(15)
        got = await feed.listening
    assert (got.events, type(got.error)) == ([HI] * 4, TimedOut)


async def test_a_short_question_has_the_time_of_a_connection(monkeypatch: pytest.MonkeyPatch) -> None:
    clock = Clock(monkeypatch)
    for handler in (stalling(head=False), stalling(), stalling('{"models":')):
        async with HttpServer(handler) as server, reaching(server.url) as endpoint:
            asking = asyncio.ensure_future(endpoint.get("/models"))
            await server.arrived()
            await clock.advance(LIMITS.connect - 2)
            assert not asking.done()
            await clock.advance(3)
            with pytest.raises(TimedOut):
                await asking
            await server.responders[0].gone.wait()


# Servers that say too much


async def endless(_: Request, responder: Responder) -> None:
    await responder.head(200, SSE)
    while not responder.gone.is_set():
        await responder.write(data("x" * 1000) * 20)


@pytest.mark.threat("T30")
async def test_an_endless_answer_is_cut(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(http, "MAX_ANSWER", 100_000)
    async with HttpServer(endless) as server, reaching(server.url) as endpoint:
        got = await hear(chat(endpoint))
        await server.responders[0].gone.wait()
    assert type(got.error) is MalformedAnswer
    assert "100,000 characters" in got.error.message
    assert 100_000 <= len(got.text) < 200_000


@pytest.mark.threat("T30")
@pytest.mark.parametrize("status", [200, 500])
async def test_an_endless_body_is_cut(status: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(http, "MAX_BODY", 100_000)

    async def handle(_: Request, responder: Responder) -> None:
        await responder.head(status)
        while not responder.gone.is_set():
            await responder.write(b"[" * 10_000)

    async with HttpServer(handle) as server, reaching(server.url) as endpoint:
        with pytest.raises(MalformedAnswer if status == 200 else ServerFailed):
            await endpoint.get("/models")
        await server.responders[0].gone.wait()


@pytest.mark.threat("T30")
@pytest.mark.parametrize("body", [b"", b"<html>", b"{", b'{"a":1,"a":2}', b"\xff", b"NaN", b"[" * 9999])
async def test_a_short_answer_that_is_no_json_is_malformed(body: bytes) -> None:
    async with HttpServer(whole(200, body)) as server, reaching(server.url) as endpoint:
        with pytest.raises(MalformedAnswer) as caught:
            await endpoint.get("/models")
    assert caught.value.remedy
