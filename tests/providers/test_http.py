"""The HTTP endpoint: every way in which a server fails is one error of ours, and nothing stays open."""

from __future__ import annotations

import asyncio
import gzip
import json
import socket
from contextlib import aclosing, asynccontextmanager, suppress
from datetime import UTC, datetime, timedelta
from email.utils import format_datetime
from typing import TYPE_CHECKING, Any

import pytest

from ollm_lsp.core.errors import (
    AuthenticationFailed,
    ConnectionFailed,
    ContentFiltered,
    ContextOverflow,
    IncompleteAnswer,
    MalformedAnswer,
    ModelNotFound,
    ProviderError,
    RateLimited,
    ServerFailed,
    SettingsError,
    TimedOut,
)
from ollm_lsp.core.events import Finished, FinishReason, TextDelta, ToolCalled
from ollm_lsp.core.tool import ToolCall
from ollm_lsp.providers import http
from ollm_lsp.providers.framing import NdjsonFramer, SseFramer
from ollm_lsp.providers.http import Endpoint
from ollm_lsp.providers.wire import ollama_chat, openai_chat
from ollm_lsp.settings.resolved import HttpSettings, TimeLimits
from ollm_lsp.settings.secrets import Secret
from tests.providers.listening import hear
from tests.support.clock import Clock
from tests.support.http_server import HttpServer

if TYPE_CHECKING:
    from collections.abc import AsyncGenerator, Awaitable, Callable

    from ollm_lsp.core.events import ProviderEvent
    from ollm_lsp.providers.framing import SseEvent
    from tests.support.http_server import Handler, Request, Responder

LIMITS = TimeLimits()
SSE = {"Content-Type": "text/event-stream"}
NDJSON = {"Content-Type": "application/x-ndjson"}
KEY = "sk-canary-4711"
HI = TextDelta("Hi")
STOP = Finished(FinishReason.STOP)
REMEDY = "Start the server."


def data(text: str = "Hi", finish: str | None = None) -> str:
    choice = {"delta": {"content": text}, "finish_reason": finish}
    return f"data: {json.dumps({'choices': [choice]})}\n\n"


ANSWER = data() + data("", "stop") + "data: [DONE]\n\n"


@asynccontextmanager
async def reaching(url: str, limits: TimeLimits = LIMITS, key: Secret | None = None) -> AsyncGenerator[Endpoint]:
    endpoint = Endpoint(HttpSettings("local", url, api_key=key, limits=limits), when_down=REMEDY)
    try:
        yield endpoint
    finally:
        await endpoint.close()


def chat(endpoint: Endpoint, body: dict[str, Any] | None = None) -> AsyncGenerator[ProviderEvent]:
    return endpoint.stream("/chat", body or {}, SseFramer(), openai_chat.Decoder())


def native_chat(endpoint: Endpoint) -> AsyncGenerator[ProviderEvent]:
    return endpoint.stream("/chat", {}, NdjsonFramer(), ollama_chat.Decoder())


def whole(status: int, body: bytes | str = "", **headers: str) -> Handler:
    """A server that gives everybody the same answer."""

    async def handle(_: Request, responder: Responder) -> None:
        await responder.whole(status, body, {name.replace("_", "-"): value for name, value in headers.items()})

    return handle


async def streaming(_: Request, responder: Responder) -> None:
    await responder.head(200, SSE)
    await responder.write(ANSWER)
    await responder.end()


async def saying_hi_and_stalling(_: Request, responder: Responder) -> None:
    await responder.head(200, SSE)
    await responder.write(data())
    await responder.stall()


def closed_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


# Reaching the server


@pytest.mark.prop("core-16")
@pytest.mark.prop("eng-7")
@pytest.mark.parametrize("ask", ["stream", "get", "post"])
async def test_a_server_that_is_down_is_a_connection_error_with_its_address(ask: str) -> None:
    url = f"http://127.0.0.1:{closed_port()}"
    async with reaching(url) as endpoint:
        asks: dict[str, Callable[[], Awaitable[Any]]] = {
            "stream": lambda: anext(chat(endpoint)),
            "get": lambda: endpoint.get("/models"),
            "post": lambda: endpoint.post("/show", {}),
        }
        with pytest.raises(ConnectionFailed) as caught:
            await asks[ask]()
    assert (caught.value.code, caught.value.status, caught.value.remedy) == ("connection", None, REMEDY)
    assert url in caught.value.message


@pytest.mark.prop("core-16")
@pytest.mark.parametrize("host", ["nobody.invalid", f"{'a' * 70}.invalid"], ids=["unknown", "not even possible"])
async def test_a_host_that_does_not_exist_is_a_connection_error(host: str, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY", "http_proxy", "https_proxy", "all_proxy"):
        monkeypatch.delenv(name, raising=False)
    async with reaching(f"http://{host}/v1") as endpoint:
        got = await hear(chat(endpoint))
    assert type(got.error) is ConnectionFailed
    assert host in got.error.message


async def test_a_server_that_does_not_accept_connections_times_out() -> None:
    with socket.socket() as listener:
        listener.bind(("127.0.0.1", 0))
        listener.listen(0)
        url = f"http://127.0.0.1:{listener.getsockname()[1]}"
        with socket.create_connection(listener.getsockname()), socket.socket() as second:
            second.setblocking(False)
            with suppress(BlockingIOError):
                second.connect(listener.getsockname())
            async with reaching(url, TimeLimits(connect=0.2)) as endpoint:
                got = await hear(chat(endpoint))
    assert type(got.error) is TimedOut
    assert "0.2 s" in got.error.message


@pytest.mark.parametrize(
    "greeting", [b"", b"SSH-2.0-OpenSSH_9.2\r\n\r\n", b"\x15\x03\x01\x00\x02\x02F", b"HTTP/1.1 x\r\n\r\n"]
)
async def test_a_server_that_does_not_speak_http_is_a_connection_error(greeting: bytes) -> None:
    async def handle(_: Request, responder: Responder) -> None:
        await responder.raw(greeting)

    async with HttpServer(handle) as server, reaching(server.url) as endpoint:
        got = await hear(chat(endpoint))
    assert type(got.error) is ConnectionFailed
    assert server.url in got.error.message


async def test_a_proxy_is_not_asked_for_this_machine(monkeypatch: pytest.MonkeyPatch) -> None:
    async with HttpServer(whole(500)) as proxy, HttpServer(streaming) as server:
        for name in ("HTTP_PROXY", "http_proxy", "ALL_PROXY", "all_proxy"):
            monkeypatch.setenv(name, proxy.url)
        async with reaching(server.url) as endpoint:
            assert (await hear(chat(endpoint))).events == [HI, STOP]
    assert not proxy.requests


# What the server says

CONTEXT_OPENAI = {"error": {"message": "This model's maximum context length is 8192 tokens.", "code": "x"}}
CONTEXT_CODE = {"error": {"message": "Please shorten it.", "code": "context_length_exceeded"}}
CONTEXT_LLAMA = {"error": {"code": 400, "message": "the request exceeds it", "type": "exceed_context_size_error"}}
CONTEXT_OLLAMA = {"error": "the input length exceeds the context length"}
CONTEXT_ANTHROPIC = {
    "type": "error",
    "error": {"type": "invalid_request_error", "message": "prompt is too long: 9 > 8"},
}
FILTER_AZURE = {"error": {"message": "The prompt triggered the content management policy.", "code": "content_filter"}}
FILTER_CODE = {"error": {"message": "Rejected by the safety system.", "code": "content_policy_violation"}}

STATUSES: dict[str, tuple[int, Any, type[ProviderError], str]] = {
    "400": (400, {"error": {"message": "'messages' is too short"}}, ServerFailed, "'messages' is too short"),
    "400 context, OpenAI and vLLM": (400, CONTEXT_OPENAI, ContextOverflow, "maximum context length"),
    "400 context, by code": (400, CONTEXT_CODE, ContextOverflow, "Please shorten it."),
    "400 context, llama.cpp": (400, CONTEXT_LLAMA, ContextOverflow, "the request exceeds it"),
    "400 context, Ollama": (400, CONTEXT_OLLAMA, ContextOverflow, "exceeds the context length"),
    "400 context, Anthropic": (400, CONTEXT_ANTHROPIC, ContextOverflow, "prompt is too long"),
    "422 context": (422, {"detail": "Input exceeds the context window"}, ContextOverflow, "context window"),
    "400 filter, Azure": (400, FILTER_AZURE, ContentFiltered, "content management policy"),
    "400 filter, by code": (400, FILTER_CODE, ContentFiltered, "safety system"),
    "401": (401, {"error": {"message": "Incorrect API key provided"}}, AuthenticationFailed, "Incorrect API key"),
    "401 without a body": (401, b"", AuthenticationFailed, "Some Reason"),
    "403": (403, {"message": "No access to that model"}, AuthenticationFailed, "No access"),
    "404": (404, {"error": "model 'x' not found"}, ModelNotFound, "model 'x' not found"),
    "404 as text": (404, b"404 page not found", MalformedAnswer, "404 page not found"),
    "408": (408, b"", TimedOut, "408"),
    "413": (413, b"", ContextOverflow, "413"),
    "422": (422, {"detail": [{"loc": ["body"], "msg": "field required"}]}, ServerFailed, "field required"),
    "429": (429, {"error": {"message": "Slow down"}}, RateLimited, "Slow down"),
    "500": (500, {"error": {"message": "CUDA out of memory"}}, ServerFailed, "CUDA out of memory"),
    "500 about context is no overflow": (500, CONTEXT_OPENAI, ServerFailed, "maximum context length"),
    "502 page": (502, b"<html>\r\n<h1>Bad Gateway</h1></html>", ServerFailed, "<html> <h1>Bad Gateway"),
    "503": (503, {"error": {"message": "Loading model", "type": "unavailable_error"}}, ServerFailed, "Loading model"),
    "504": (504, b"", TimedOut, "504"),
    "529": (529, {"type": "error", "error": {"message": "Overloaded"}}, ServerFailed, "Overloaded"),
    "null error": (500, {"error": None, "message": "it broke"}, ServerFailed, "it broke"),
    "empty object": (500, {}, ServerFailed, "Some Reason"),
    "a list": (500, [{"error": "deep"}], ServerFailed, "deep"),
    "garbage": (500, b"\x00\xff\x1b[31mred", ServerFailed, "[31mred"),
    "a long body": (500, b"x" * 200_000, ServerFailed, "x" * 200 + "…"),
    "204": (204, b"", IncompleteAnswer, "ended before"),
    "300": (300, b"", MalformedAnswer, "300"),
}


@pytest.mark.prop("eng-7")
@pytest.mark.parametrize(("status", "body", "error", "words"), STATUSES.values(), ids=STATUSES)
async def test_each_refusal_is_its_own_error(status: int, body: Any, error: type[ProviderError], words: str) -> None:
    content = body if isinstance(body, bytes) else json.dumps(body)
    async with HttpServer(whole(status, content)) as server, reaching(server.url) as endpoint:
        got = await hear(chat(endpoint))
    assert got.events == []
    assert type(got.error) is error
    assert got.failure.status == (None if status == 204 else status)
    assert words in got.failure.message
    assert got.failure.remedy
    assert len(got.failure.message) < 300
    assert got.failure.message.isprintable()


async def test_a_short_question_fails_with_the_same_errors() -> None:
    async with HttpServer(whole(401, "{}")) as server, reaching(server.url) as endpoint:
        with pytest.raises(AuthenticationFailed):
            await endpoint.get("/models")
        with pytest.raises(AuthenticationFailed):
            await endpoint.post("/show", {"model": "m"})
    assert [(request.method, request.path) for request in server.requests] == [("GET", "/models"), ("POST", "/show")]
    assert (server.requests[0].body, server.requests[1].json) == (b"", {"model": "m"})


NOW = datetime(2026, 1, 2, 3, 4, 5, tzinfo=UTC)


@pytest.mark.prop("eng-7")
@pytest.mark.parametrize(
    ("header", "seconds"),
    [
        (None, None),
        ("", None),
        ("7", 7.0),
        ("0.5", 0.5),
        ("-3", 0.0),
        ("soon", None),
        ("inf", None),
        ("nan", None),
        (format_datetime(NOW - timedelta(days=9), usegmt=True), 0.0),
        ("Wed, 99 Foo 2026 07:28:00 GMT", None),
        ("Wed, 21 Oct 2026 07:28:00 -0000", None),
    ],
)
async def test_a_rate_limit_tells_how_long_to_wait(header: str | None, seconds: float | None) -> None:
    headers = {} if header is None else {"Retry_After": header}
    async with HttpServer(whole(429, **headers)) as server, reaching(server.url) as endpoint:
        got = await hear(chat(endpoint))
    assert isinstance(got.error, RateLimited)
    assert got.error.retry_after == seconds


async def test_a_rate_limit_may_give_a_date() -> None:
    date = format_datetime(datetime.now(UTC) + timedelta(seconds=90), usegmt=True)
    async with HttpServer(whole(429, Retry_After=date)) as server, reaching(server.url) as endpoint:
        got = await hear(chat(endpoint))
    assert isinstance(got.error, RateLimited)
    assert got.error.retry_after is not None
    assert 60 < got.error.retry_after <= 90


BOMB = gzip.compress(bytes(20_000_000), 1)
PAGE = b"<!doctype html>\n<html><title>Open WebUI</title></html>"
ONE_DOCUMENT = {"error": {"message": "Model is overloaded"}}
NO_ANSWERS: dict[str, tuple[bytes, str, type[ProviderError], str]] = {
    "a page": (PAGE, "text/html; charset=utf-8", MalformedAnswer, "Open WebUI"),
    "a page without a line end": (PAGE.replace(b"\n", b""), "text/html", MalformedAnswer, "<!doctype html>"),
    "an error as one document": (json.dumps(ONE_DOCUMENT).encode(), "application/json", MalformedAnswer, "overloaded"),
    "plain text": (b"nothing here", "text/plain", MalformedAnswer, "nothing here"),
    "plain text as a stream": (b"nothing here", "text/event-stream", IncompleteAnswer, "ended before"),
    "only comments": (b": hello\n\n", "text/event-stream", IncompleteAnswer, "ended before"),
    "no bytes": (b"", "text/html", IncompleteAnswer, "ended before"),
    "garbage": (b"\x00\xff\xfe" * 99, "application/octet-stream", MalformedAnswer, "answered 200"),
    "text after text, cut": (data().encode() + b"data: {", "text/plain", IncompleteAnswer, "ended before"),
}


@pytest.mark.prop("eng-7")
@pytest.mark.parametrize(("body", "kind", "error", "words"), NO_ANSWERS.values(), ids=NO_ANSWERS)
async def test_a_good_status_with_something_else_is_an_error_that_shows_it(
    body: bytes, kind: str, error: type[ProviderError], words: str
) -> None:
    async with HttpServer(whole(200, body, Content_Type=kind)) as server, reaching(server.url) as endpoint:
        got = await hear(chat(endpoint))
    assert type(got.error) is error
    assert words in got.failure.message
    assert got.failure.status == (200 if "answered" in got.failure.message else None)


@pytest.mark.parametrize("body", [PAGE, PAGE.replace(b"\n", b"")], ids=["lines", "one line"])
async def test_a_page_in_place_of_an_ollama_is_shown(body: bytes) -> None:
    async with HttpServer(whole(200, body, Content_Type="text/html")) as server, reaching(server.url) as endpoint:
        got = await hear(native_chat(endpoint))
    assert type(got.error) is MalformedAnswer
    assert "<!doctype html>" in got.error.message


async def test_a_server_that_does_not_stream_but_answers_is_understood() -> None:
    answer = json.dumps({"message": {"content": "Hi"}, "done": True, "done_reason": "stop"})
    handler = whole(200, answer, Content_Type="application/json")
    async with HttpServer(handler) as server, reaching(server.url) as endpoint:
        got = await hear(native_chat(endpoint))
    assert (got.events[0], got.events[-1], got.error) == (HI, STOP, None)


@pytest.mark.parametrize("kind", ["text/event-stream", "application/json"])
@pytest.mark.parametrize("status", [200, 500])
@pytest.mark.parametrize("encoding", ["gzip", "br"])
async def test_a_compressed_answer_is_refused_unread(kind: str, status: int, encoding: str) -> None:
    handler = whole(status, BOMB, Content_Encoding=encoding, Content_Type=kind)
    async with HttpServer(handler) as server, reaching(server.url) as endpoint:
        got = await hear(chat(endpoint))
        with pytest.raises(MalformedAnswer if status == 200 else ServerFailed) as caught:
            await endpoint.get("/models")
    assert type(got.error) is type(caught.value)
    for error in (got.failure, caught.value):
        assert f"compressed with {encoding}" in error.message
        assert error.status == status
    assert {request.headers["accept-encoding"] for request in server.requests} == {"identity"}


async def test_an_encoding_of_identity_is_none() -> None:
    async def handle(_: Request, responder: Responder) -> None:
        await responder.head(200, SSE | {"Content-Encoding": "identity"})
        await responder.write(ANSWER)
        await responder.end()

    async with HttpServer(handle) as server, reaching(server.url) as endpoint:
        assert (await hear(chat(endpoint))).events == [HI, STOP]


@pytest.mark.prop("eng-7")
@pytest.mark.parametrize("status", [301, 302, 303, 307, 308])
async def test_a_redirect_is_not_followed_and_the_key_stays_here(status: int) -> None:
    async with (
        HttpServer(streaming) as thief,
        HttpServer(whole(status, Location=f"{thief.url}/chat")) as server,
        reaching(server.url, key=Secret(KEY)) as endpoint,
    ):
        got = await hear(chat(endpoint))
        with pytest.raises(MalformedAnswer):
            await endpoint.get("/models")
    assert type(got.error) is MalformedAnswer
    assert (got.error.status, "redirects are not followed" in got.error.remedy) == (status, True)
    assert not thief.requests


# Where the key goes


async def test_the_key_is_in_the_authorization_header_and_nowhere_else() -> None:
    async with HttpServer(streaming) as server, reaching(server.url, key=Secret(KEY)) as endpoint:
        await hear(chat(endpoint, {"messages": []}))
    request = server.requests[0]
    assert request.headers["authorization"] == f"Bearer {KEY}"
    assert request.raw_head.count(KEY.encode()) == 1
    assert KEY.encode() not in request.body


async def test_without_a_key_there_is_no_authorization_header() -> None:
    async with HttpServer(streaming) as server, reaching(server.url) as endpoint:
        await hear(chat(endpoint))
    assert "authorization" not in server.requests[0].headers


async def test_the_key_is_read_anew_for_each_request(monkeypatch: pytest.MonkeyPatch) -> None:
    async with HttpServer(streaming) as server, reaching(server.url, key=Secret("${OLLM_TEST_KEY}")) as endpoint:
        for key in ("sk-first-key", "sk-second-key"):
            monkeypatch.setenv("OLLM_TEST_KEY", key)
            await hear(chat(endpoint))
        monkeypatch.delenv("OLLM_TEST_KEY")
        with pytest.raises(SettingsError):
            await anext(chat(endpoint))
    assert [request.headers["authorization"] for request in server.requests] == [
        "Bearer sk-first-key",
        "Bearer sk-second-key",
    ]


# What is sent


async def test_a_request_is_json_in_utf_8() -> None:
    body = {"text": 'é 漢字 😀 "\\ \u2028 \x00', "n": [1, 2.5, None, True]}
    async with HttpServer(streaming) as server, reaching(server.url + "/v1/") as endpoint:
        await hear(chat(endpoint, body))
    request = server.requests[0]
    assert (request.path, request.headers["content-type"], request.json) == ("/v1/chat", "application/json", body)
    assert "漢字".encode() in request.body


@pytest.mark.parametrize(
    ("text", "sent"), [("a\ud83db", "a\ufffdb"), ("\ud83d\ude00", "😀"), ("\ude00\ud83d", "\ufffd\ufffd")]
)
async def test_half_characters_of_an_editor_do_not_break_a_request(text: str, sent: str) -> None:
    async with HttpServer(streaming) as server, reaching(server.url) as endpoint:
        assert (await hear(chat(endpoint, {"text": text}))).error is None
    assert server.requests[0].json == {"text": sent}


# Streams that break off


@pytest.mark.prop("eng-7")
async def test_a_reset_in_the_middle_is_an_incomplete_answer() -> None:
    heard = asyncio.Event()

    async def handle(_: Request, responder: Responder) -> None:
        await responder.head(200, SSE)
        await responder.write(data())
        await heard.wait()
        responder.reset()

    async with HttpServer(handle) as server, reaching(server.url) as endpoint:
        events: list[ProviderEvent] = []

        async def listen() -> None:
            async for event in chat(endpoint):
                events.append(event)
                heard.set()

        with pytest.raises(IncompleteAnswer) as caught:
            await listen()
    assert events == [HI]
    assert (caught.value.code, server.url in caught.value.message) == ("incomplete", True)
    assert caught.value.remedy


@pytest.mark.parametrize("sent", [b"", b"HTTP/1.1 200 OK\r\nContent-"], ids=["nothing", "half a head"])
async def test_a_reset_before_the_answer_is_a_connection_error(sent: bytes) -> None:
    async def handle(_: Request, responder: Responder) -> None:
        await responder.raw(sent)
        responder.reset()

    async with HttpServer(handle) as server, reaching(server.url) as endpoint:
        assert type((await hear(chat(endpoint))).error) is ConnectionFailed


@pytest.mark.parametrize("head", [{}, {"Content-Length": "9999"}, {"Transfer-Encoding": "chunked"}], ids=str)
async def test_a_body_that_ends_too_early_is_an_incomplete_answer(head: dict[str, str]) -> None:
    async def handle(_: Request, responder: Responder) -> None:
        await responder.head(200, SSE | head, chunked=False)
        is_chunked = "Transfer-Encoding" in head
        await responder.raw(b"%x\r\n%b\r\n" % (len(data()), data().encode()) if is_chunked else data().encode())

    async with HttpServer(handle) as server, reaching(server.url) as endpoint:
        got = await hear(chat(endpoint))
    assert (got.events, type(got.error)) == ([HI], IncompleteAnswer)


async def test_an_error_body_that_breaks_off_is_a_connection_error() -> None:
    async def handle(_: Request, responder: Responder) -> None:
        await responder.head(500, {"Content-Length": "9999"}, chunked=False)
        await responder.raw(b"{")

    async with HttpServer(handle) as server, reaching(server.url) as endpoint:
        assert type((await hear(chat(endpoint))).error) is ConnectionFailed


async def test_nothing_is_read_after_the_end_of_the_answer() -> None:
    async def handle(_: Request, responder: Responder) -> None:
        await responder.head(200, SSE)
        await responder.write(ANSWER)
        await responder.stall()

    async with HttpServer(handle) as server, reaching(server.url) as endpoint:
        assert (await hear(chat(endpoint))).events == [HI, STOP]
        await server.responders[0].gone.wait()


# Streams that never end


def stalling(*sent: str, head: bool = True) -> Handler:
    async def handle(_: Request, responder: Responder) -> None:
        if head:
            await responder.head(200, SSE)
        for text in sent:
            await responder.write(text)
        await responder.stall()

    return handle


ROLE = 'data: {"choices":[{"delta":{"role":"assistant","content":""}}]}\n\n'
STALLS: dict[str, tuple[Handler, float, list[ProviderEvent], str]] = {
    "before the head": (stalling(head=False), LIMITS.first_token, [], "said nothing within 120 s"),
    "before the first byte": (stalling(), LIMITS.first_token, [], "said nothing within 120 s"),
    "after keep-alives": (stalling(": ping\n\n", ": ping\n\n"), LIMITS.first_token, [], "said nothing within 120 s"),
    "after the role": (stalling(ROLE), LIMITS.first_token, [], "said nothing within 120 s"),
    "in the middle": (stalling(data()), LIMITS.idle, [HI], "stopped in the middle"),
    "inside a frame": (stalling(data(), "data: {"), LIMITS.idle, [HI], "stopped in the middle"),
}


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


async def test_an_endless_answer_is_cut(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(http, "MAX_ANSWER", 100_000)
    async with HttpServer(endless) as server, reaching(server.url) as endpoint:
        got = await hear(chat(endpoint))
        await server.responders[0].gone.wait()
    assert type(got.error) is MalformedAnswer
    assert "100,000 characters" in got.error.message
    assert 100 <= len(got.events) < 200


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


@pytest.mark.parametrize("body", [b"", b"<html>", b"{", b'{"a":1,"a":2}', b"\xff", b"NaN", b"[" * 9999])
async def test_a_short_answer_that_is_no_json_is_malformed(body: bytes) -> None:
    async with HttpServer(whole(200, body)) as server, reaching(server.url) as endpoint:
        with pytest.raises(MalformedAnswer) as caught:
            await endpoint.get("/models")
    assert caught.value.remedy


# Closing


@pytest.mark.prop("core-5")
async def test_closing_the_generator_closes_the_connection() -> None:
    async with HttpServer(saying_hi_and_stalling) as server, reaching(server.url) as endpoint:
        stream = chat(endpoint)
        assert await anext(stream) == HI
        assert not server.responders[0].gone.is_set()
        await stream.aclose()
        await server.responders[0].gone.wait()


@pytest.mark.prop("core-5")
@pytest.mark.parametrize(
    "handler",
    [stalling(head=False), stalling(), stalling(data()), stalling(data(), "data: {")],
    ids=["before the head", "before the first byte", "in the middle", "inside a frame"],
)
async def test_cancelling_the_task_closes_the_connection(handler: Handler) -> None:
    async with HttpServer(handler) as server, reaching(server.url) as endpoint:
        listening = asyncio.ensure_future(hear(chat(endpoint)))
        await server.arrived()
        await asyncio.sleep(0.01)  # it may be anywhere in its stage; that is the point
        listening.cancel()
        with pytest.raises(asyncio.CancelledError):
            await listening
        await server.responders[0].gone.wait()


@pytest.mark.prop("core-5")
async def test_cancelling_a_short_question_closes_the_connection() -> None:
    async with HttpServer(stalling()) as server, reaching(server.url) as endpoint:
        asking = asyncio.ensure_future(endpoint.get("/models"))
        await server.arrived()
        asking.cancel()
        with pytest.raises(asyncio.CancelledError):
            await asking
        await server.responders[0].gone.wait()


@pytest.mark.prop("eng-6")
async def test_twenty_streams_at_once_do_not_mix() -> None:
    together = asyncio.Barrier(20)

    async def handle(request: Request, responder: Responder) -> None:
        await responder.head(200, SSE)
        for number in range(3):
            await together.wait()
            await responder.write(data(f"{request.json['who']}.{number} "))
        await responder.write(data("", "stop"))
        await responder.end()

    async with HttpServer(handle) as server, reaching(server.url) as endpoint:
        outcomes = await asyncio.gather(*(hear(chat(endpoint, {"who": who})) for who in range(20)))
    for who, got in enumerate(outcomes):
        assert got.events == [*(TextDelta(f"{who}.{number} ") for number in range(3)), STOP]


@pytest.mark.prop("eng-6")
@pytest.mark.parametrize("handler", [stalling(head=False), stalling(data())], ids=["before the head", "in the middle"])
async def test_closing_the_endpoint_ends_all_streams(handler: Handler) -> None:
    async with HttpServer(handler) as server, reaching(server.url) as endpoint:
        listening = [asyncio.ensure_future(hear(chat(endpoint))) for _ in range(20)]
        await server.arrived(20)
        await asyncio.sleep(0.01)
        await endpoint.close()
        for got in await asyncio.gather(*listening):
            assert isinstance(got.error, IncompleteAnswer | ConnectionFailed)
            assert got.error.remedy
        for responder in server.responders:
            await responder.gone.wait()
        assert type((await hear(chat(endpoint))).error) is ConnectionFailed
