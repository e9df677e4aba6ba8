"""Threat T30: a hostile provider sends bombs; each is an error, soon, and leaves no memory behind."""

from __future__ import annotations

import gc
import json
import zlib
from typing import TYPE_CHECKING

import psutil
import pytest

from ollm_lsp.core.errors import MalformedAnswer, OllmError
from ollm_lsp.core.events import Finished, ToolCalled, UsageReported
from ollm_lsp.providers import http
from tests.providers.listening import hear
from tests.providers.vendors import OLLAMA, OPENAI, VENDORS, Vendor, ask
from tests.support.http_server import HttpServer

if TYPE_CHECKING:
    from collections.abc import Iterator

    from tests.support.http_server import Request, Responder

MOST_MEMORY = 64 * 1024 * 1024


def frame(vendor: Vendor, text: str) -> str:
    return f"{text}\n" if vendor is OLLAMA else f"data: {text}\n\n"


def bombs(vendor: Vendor) -> dict[str, Iterator[str]]:
    """What a server says before it would go on for ever."""
    return {
        "depth": iter([frame(vendor, "[" * 100_000)]),
        "an object in an object": iter([frame(vendor, '{"a":' * 50_000)]),
        "digits": iter([frame(vendor, '{"a":' + "9" * 100_000 + "}")]),
        "an exponent": iter([frame(vendor, '{"a": 1e999999999}'), frame(vendor, "NaN")]),
        "names": iter([frame(vendor, json.dumps(dict.fromkeys(map(str, range(20_000))))), frame(vendor, "[]")]),
        "calls": iter([vendor.call * 2_000, vendor.end]),
        "thoughts": (vendor.thought * 100 for _ in range(100_000)),
        "text": (vendor.text * 100 for _ in range(100_000)),
    }


@pytest.mark.threat("T30")
@pytest.mark.parametrize("vendor", VENDORS, ids=lambda vendor: vendor.name)
@pytest.mark.parametrize("kind", list(bombs(OPENAI)))
async def test_a_bomb_is_an_error_and_its_memory_is_given_back(
    vendor: Vendor, kind: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(http, "MAX_ANSWER", 10_000)

    async def throw(_: Request, responder: Responder) -> None:
        await vendor.streams(responder, vendor.opening)
        for piece in bombs(vendor)[kind]:
            await responder.write(piece)
        await responder.stall()

    async with HttpServer(vendor.serving(throw)) as server, vendor.reaching(server.url, max_retries=0) as provider:
        gc.collect()
        before = psutil.Process().memory_info().rss
        heard = await hear(provider.stream(ask()))
        kept = len(heard.events)
        assert isinstance(heard.error, OllmError)
        assert not any(isinstance(event, Finished | ToolCalled) for event in heard.events)
        assert len(heard.error.message) < 1_000
        heard.events.clear()
        gc.collect()
        assert psutil.Process().memory_info().rss - before < MOST_MEMORY
        assert kept <= 10_000


@pytest.mark.threat("T30", "F10")
@pytest.mark.parametrize("vendor", [OPENAI, OLLAMA], ids=lambda vendor: vendor.name)
async def test_a_line_without_an_end_is_cut_at_its_limit(vendor: Vendor) -> None:
    async def flood(_: Request, responder: Responder) -> None:
        await vendor.streams(responder, "data: ")
        while not responder.gone.is_set():
            await responder.write(b"x" * 1_000_000)

    async with HttpServer(vendor.serving(flood)) as server, vendor.reaching(server.url, max_retries=0) as provider:
        before = psutil.Process().memory_info().rss
        heard = await hear(provider.stream(ask()))
        assert isinstance(heard.error, MalformedAnswer)
        gc.collect()
        assert psutil.Process().memory_info().rss - before < MOST_MEMORY


@pytest.mark.threat("T30")
@pytest.mark.parametrize("vendor", VENDORS, ids=lambda vendor: vendor.name)
async def test_a_compressed_bomb_is_not_unpacked(vendor: Vendor) -> None:
    bomb = zlib.compress(b"x" * 50_000_000)

    async def throw(_: Request, responder: Responder) -> None:
        await responder.whole(200, bomb, {"Content-Type": vendor.kind, "Content-Encoding": "deflate"})

    async with HttpServer(vendor.serving(throw)) as server, vendor.reaching(server.url, max_retries=0) as provider:
        heard = await hear(provider.stream(ask()))
    assert isinstance(heard.error, OllmError)
    assert heard.events == []


@pytest.mark.threat("T30")
@pytest.mark.parametrize("count", ["-5", "1e300", "99999999999999999999999", '"many"', "null", "[]", "1.5"])
async def test_usage_that_cannot_be_is_not_counted(count: str) -> None:
    usage = f'{{"choices": [], "usage": {{"prompt_tokens": {count}, "completion_tokens": {count}}}}}'

    async def claim(_: Request, responder: Responder) -> None:
        await OPENAI.streams(responder, OPENAI.text, f"data: {usage}\n\n", OPENAI.end)
        await responder.end()

    async with HttpServer(OPENAI.serving(claim)) as server, OPENAI.reaching(server.url) as provider:
        heard = await hear(provider.stream(ask()))
    counted = [event.usage for event in heard.events if isinstance(event, UsageReported)]
    assert all(0 <= one.input_tokens + one.output_tokens < 2**54 for one in counted)
