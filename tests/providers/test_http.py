"""The HTTP endpoint: every way in which a server fails is one error of ours, and nothing stays open."""

from __future__ import annotations

import asyncio
import gzip
import json
import socket
from contextlib import suppress
from typing import TYPE_CHECKING, Any

import pytest

from ollm_lsp.core.errors import (
    AuthenticationFailed,
    ConnectionFailed,
    IncompleteAnswer,
    MalformedAnswer,
    ProviderError,
    ServerFailed,
    SettingsError,
    TimedOut,
)
from ollm_lsp.settings.resolved import TimeLimits
from ollm_lsp.settings.secrets import Secret
from tests.providers.endpoint import (
    ANSWER,
    HI,
    KEY,
    REMEDY,
    SSE,
    STOP,
    chat,
    closed_port,
    data,
    native_chat,
    reaching,
    saying_hi_and_stalling,
    stalling,
    streaming,
    whole,
)
from tests.providers.listening import hear
from tests.support.http_server import HttpServer

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable

    from ollm_lsp.core.events import ProviderEvent
    from tests.support.http_server import Handler, Request, Responder

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

STATUSES: dict[str, tuple[int, Any, type[ProviderError], str]] = {
    "401 without a body": (401, b"", AuthenticationFailed, "Some Reason"),
    "404 as text": (404, b"404 page not found", MalformedAnswer, "404 page not found"),
    "422": (422, {"detail": [{"loc": ["body"], "msg": "field required"}]}, ServerFailed, "field required"),
    "502 page": (502, b"<html>\r\n<h1>Bad Gateway</h1></html>", ServerFailed, "<html> <h1>Bad Gateway"),
    "null error": (500, {"error": None, "message": "it broke"}, ServerFailed, "it broke"),
    "empty object": (500, {}, ServerFailed, "Some Reason"),
    "a list": (500, [{"error": "deep"}], ServerFailed, "deep"),
    "garbage": (500, b"\x00\xff\x1b[31mred", ServerFailed, "[31mred"),
    "a long body": (500, b"x" * 200_000, ServerFailed, "x" * 200 + "…"),
    "204": (204, b"", IncompleteAnswer, "ended before"),
    "300": (300, b"", MalformedAnswer, "300"),
}


@pytest.mark.threat("F9")
@pytest.mark.prop("eng-7")
@pytest.mark.parametrize(("status", "body", "error", "words"), STATUSES.values(), ids=STATUSES)
async def test_a_refusal_of_any_shape_is_a_short_and_printable_error(
    status: int, body: Any, error: type[ProviderError], words: str
) -> None:
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


@pytest.mark.threat("F6", "F9")
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


@pytest.mark.threat("T30")
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


@pytest.mark.threat("T3")
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


@pytest.mark.threat("T4")
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


@pytest.mark.threat("F9")
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


@pytest.mark.threat("F9")
@pytest.mark.parametrize("sent", [b"", b"HTTP/1.1 200 OK\r\nContent-"], ids=["nothing", "half a head"])
async def test_a_reset_before_the_answer_is_a_connection_error(sent: bytes) -> None:
    async def handle(_: Request, responder: Responder) -> None:
        await responder.raw(sent)
        responder.reset()

    async with HttpServer(handle) as server, reaching(server.url) as endpoint:
        assert type((await hear(chat(endpoint))).error) is ConnectionFailed


@pytest.mark.threat("F9")
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


# Closing


@pytest.mark.prop("core-5")
async def test_closing_the_generator_closes_the_connection() -> None:
    async with HttpServer(saying_hi_and_stalling) as server, reaching(server.url) as endpoint:
        stream = chat(endpoint)
        assert await anext(stream) == HI
        assert not server.responders[0].gone.is_set()
        await stream.aclose()
        await server.responders[0].gone.wait()


@pytest.mark.threat("F35")
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
        assert got.text == "".join(f"{who}.{number} " for number in range(3))
        assert got.events[-1] == STOP


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
