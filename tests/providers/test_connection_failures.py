"""Servers that nobody reaches, and connections that break: the typed error, and how often it is tried."""

from __future__ import annotations

import asyncio
import socket
import ssl
import sys
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from ollm_lsp.core.errors import (
    ConnectionFailed,
    IncompleteAnswer,
    ProviderError,
)
from ollm_lsp.core.events import TextDelta
from ollm_lsp.providers.openai import OpenAIProvider
from ollm_lsp.settings.resolved import OpenAISettings
from ollm_lsp.settings.secrets import Secret
from tests.providers.failures import AGAIN, KEPT, KEY, check, check_waits
from tests.providers.listening import hear
from tests.providers.vendors import (
    HOST,
    OPENAI,
    VENDORS,
    Vendor,
    ask,
    at_home,
    no_waiting,
)
from tests.support import http_server
from tests.support.http_server import HttpServer

if TYPE_CHECKING:
    from collections.abc import Callable

    from tests.support.http_server import Handler, Request, Responder

# Nobody answers

CERTIFICATE = Path(http_server.__file__).with_name("self_signed.pem")
TLS = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
TLS.load_cert_chain(CERTIFICATE)


def closed_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


@pytest.mark.threat("F48")
@pytest.mark.prop("core-16")
@pytest.mark.prop("eng-7")
@pytest.mark.parametrize("vendor", VENDORS, ids=lambda vendor: vendor.name)
@pytest.mark.parametrize(("host", "attempts"), [("127.0.0.1", 1), (HOST, AGAIN)], ids=["here", "elsewhere"])
async def test_a_refused_connection_names_the_address_and_is_tried_again_only_elsewhere(
    vendor: Vendor, host: str, attempts: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    waits = no_waiting(monkeypatch)
    at_home(monkeypatch)
    url = f"http://{host}:{closed_port()}"
    async with vendor.reaching(url, api_key=Secret(KEY)) as provider:
        heard = await hear(provider.stream(ask()))
    check(heard, ConnectionFailed, f"Cannot reach {url}", provider.when_down, None, waits)
    assert len(waits) + 1 == attempts
    check_waits(waits)


@pytest.mark.prop("core-16")
@pytest.mark.parametrize(
    ("url", "words"), [("http://127.0.0.1:9/v1", "Start that server"), ("https://api.openai.com/v1", "network is up")]
)
async def test_only_a_server_of_their_own_is_the_user_told_to_start(url: str, words: str) -> None:
    provider = OpenAIProvider(OpenAISettings("openai", url))
    assert words in provider.when_down
    await provider.close()


@pytest.mark.threat("F48")
@pytest.mark.prop("core-16")
@pytest.mark.parametrize("vendor", VENDORS, ids=lambda vendor: vendor.name)
async def test_a_host_that_nobody_knows_is_named(vendor: Vendor, monkeypatch: pytest.MonkeyPatch) -> None:
    waits = no_waiting(monkeypatch)
    at_home(monkeypatch, knows=False)
    async with vendor.reaching(f"https://{HOST}") as provider:
        heard = await hear(provider.stream(ask()))
    check(heard, ConnectionFailed, f"Cannot reach https://{HOST}", provider.when_down, None, waits)
    assert len(waits) + 1 == AGAIN


@pytest.mark.threat("T3")
@pytest.mark.prop("core-16")
@pytest.mark.parametrize("vendor", VENDORS, ids=lambda vendor: vendor.name)
async def test_a_certificate_that_nobody_vouches_for_gets_no_request(
    vendor: Vendor, monkeypatch: pytest.MonkeyPatch
) -> None:
    waits = no_waiting(monkeypatch)
    at_home(monkeypatch)
    async with (
        HttpServer(vendor.says_hi, TLS) as server,
        vendor.reaching(f"https://{HOST}:{server.port}", api_key=Secret(KEY)) as provider,
    ):
        heard = await hear(provider.stream(ask()))
    check(heard, ConnectionFailed, "certificate", "SSL_CERT_FILE", None, waits)
    assert (waits, server.requests) == ([], [])


REACHING = """
import asyncio, sys
from ollm_lsp.providers.openai import OpenAIProvider
from ollm_lsp.settings.resolved import OpenAISettings

async def main():
    provider = OpenAIProvider(OpenAISettings("x", sys.argv[1]))
    print([info.id.name for info in await provider.models()])
    await provider.close()

asyncio.run(main())
"""


@pytest.mark.prop("core-16")
async def test_the_remedy_for_a_certificate_of_ones_own_helps(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SSL_CERT_FILE", str(CERTIFICATE))
    async with HttpServer(OPENAI.serving(OPENAI.says_hi), TLS) as server:
        # A process of its own, because a process reads its authorities once.
        process = await asyncio.create_subprocess_exec(
            sys.executable, "-c", REACHING, f"{server.url}/v1", stdout=asyncio.subprocess.PIPE
        )
        output, _ = await process.communicate()
    assert output.decode().strip() == "['a', 'b']"


async def plain(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    """A server without TLS does not know what to make of a greeting."""
    await reader.read(1000)
    writer.write(b"HTTP/1.1 400 Bad Request\r\nConnection: close\r\n\r\n")
    await writer.drain()
    writer.close()


@pytest.mark.prop("core-16")
@pytest.mark.parametrize("vendor", VENDORS, ids=lambda vendor: vendor.name)
async def test_https_to_a_plain_server_is_a_connection_error(vendor: Vendor, monkeypatch: pytest.MonkeyPatch) -> None:
    waits = no_waiting(monkeypatch)
    server = await asyncio.start_server(plain, "127.0.0.1", 0)
    async with server, vendor.reaching(f"https://127.0.0.1:{server.sockets[0].getsockname()[1]}") as provider:
        heard = await hear(provider.stream(ask()))
    check(heard, ConnectionFailed, "Cannot reach https://127.0.0.1", "Check the address", None, waits)
    assert waits == []


@pytest.mark.parametrize("vendor", VENDORS, ids=lambda vendor: vendor.name)
async def test_plain_http_to_a_server_with_tls_is_a_connection_error(
    vendor: Vendor, monkeypatch: pytest.MonkeyPatch
) -> None:
    waits = no_waiting(monkeypatch)
    async with (
        HttpServer(vendor.says_hi, TLS) as server,
        vendor.reaching(f"http://127.0.0.1:{server.port}") as provider,
    ):
        heard = await hear(provider.stream(ask()))
    check(heard, ConnectionFailed, "Cannot reach http://127.0.0.1", provider.when_down, None, waits)
    assert (waits, server.requests) == ([], [])


# Broken connections


async def settle() -> None:
    """Let the client take what it was sent."""
    for _ in range(20):
        await asyncio.sleep(0)


def breaking(sent: bytes) -> Callable[[Vendor], Handler]:
    def made(_: Vendor) -> Handler:
        async def chat(_: Request, responder: Responder) -> None:
            await responder.raw(sent)
            await settle()
            responder.reset()

        return chat

    return made


def breaking_in_the_stream(vendor: Vendor) -> Handler:
    async def chat(_: Request, responder: Responder) -> None:
        await vendor.streams(responder, vendor.opening or "\n")
        await settle()
        responder.reset()

    return chat


BREAKS: dict[str, tuple[Callable[[Vendor], Handler], str, type[ProviderError], str, int]] = {
    "before the head, here": (breaking(b""), "127.0.0.1", ConnectionFailed, "Cannot reach", 1),
    "before the head, elsewhere": (breaking(b""), HOST, ConnectionFailed, "Cannot reach", AGAIN),
    "in the head, elsewhere": (breaking(b"HTTP/1.1 200 OK\r\nCon"), HOST, ConnectionFailed, "Cannot reach", AGAIN),
    "not even http": (breaking(b"SSH-2.0-OpenSSH_9.2\r\n\r\n"), "127.0.0.1", ConnectionFailed, "Cannot reach", 1),
    "before the first token": (breaking_in_the_stream, "127.0.0.1", IncompleteAnswer, "broke in the middle", AGAIN),
    "in a refusal": (
        breaking(b"HTTP/1.1 500 x\r\nContent-Length: 99\r\n\r\n{"),
        "127.0.0.1",
        ConnectionFailed,
        "broke",
        AGAIN,
    ),
}


@pytest.mark.threat("F9")
@pytest.mark.prop("krk-8")
@pytest.mark.parametrize("vendor", VENDORS, ids=lambda vendor: vendor.name)
@pytest.mark.parametrize(("made", "host", "error", "words", "attempts"), BREAKS.values(), ids=BREAKS)
async def test_a_broken_connection_is_tried_again_while_nothing_was_said(
    vendor: Vendor,
    made: Callable[[Vendor], Handler],
    host: str,
    error: type[ProviderError],
    words: str,
    attempts: int,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    waits = no_waiting(monkeypatch)
    at_home(monkeypatch)
    async with (
        HttpServer(vendor.serving(made(vendor))) as server,
        vendor.reaching(f"http://{host}:{server.port}") as provider,
    ):
        heard = await hear(provider.stream(ask()))
    remedy = KEPT if error is IncompleteAnswer else provider.when_down
    check(heard, error, words, remedy, None, waits)
    assert len(vendor.chats(server.requests)) == attempts == 1 + len(waits)
    check_waits(waits)


@pytest.mark.threat("F9", "F16")
@pytest.mark.prop("krk-8")
@pytest.mark.parametrize("vendor", VENDORS, ids=lambda vendor: vendor.name)
async def test_a_connection_that_breaks_after_the_first_token_is_not_tried_again(
    vendor: Vendor, monkeypatch: pytest.MonkeyPatch
) -> None:
    waits = no_waiting(monkeypatch)
    heard_it = asyncio.Event()

    async def chat(_: Request, responder: Responder) -> None:
        await vendor.streams(responder, vendor.opening + vendor.text)
        await heard_it.wait()
        responder.reset()

    async with HttpServer(vendor.serving(chat)) as server, vendor.reaching(server.url) as provider:
        stream = provider.stream(ask())
        while await anext(stream) != TextDelta("Hi"):
            pass
        heard_it.set()
        heard = await hear(stream)
    check(heard, IncompleteAnswer, "broke in the middle of the answer", KEPT, None, waits)
    assert (len(vendor.chats(server.requests)), waits, heard.events) == (1, [], [])
