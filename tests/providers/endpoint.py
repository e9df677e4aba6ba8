"""An endpoint for tests, and servers for it."""

from __future__ import annotations

import json
import socket
from contextlib import asynccontextmanager
from typing import TYPE_CHECKING, Any

from ollm_lsp.core.events import Finished, FinishReason, TextDelta
from ollm_lsp.providers.framing import NdjsonFramer, SseFramer
from ollm_lsp.providers.http import Endpoint
from ollm_lsp.providers.wire import ollama_chat, openai_chat
from ollm_lsp.settings.resolved import HttpSettings, TimeLimits

if TYPE_CHECKING:
    from collections.abc import AsyncGenerator

    from ollm_lsp.core.events import ProviderEvent
    from ollm_lsp.settings.secrets import Secret
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


def stalling(*sent: str, head: bool = True) -> Handler:
    async def handle(_: Request, responder: Responder) -> None:
        if head:
            await responder.head(200, SSE)
        for text in sent:
            await responder.write(text)
        await responder.stall()

    return handle
