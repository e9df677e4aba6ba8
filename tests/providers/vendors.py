"""The four vendors with an address, each with what its server says and what its wire looks like."""

from __future__ import annotations

import asyncio
import json
import socket
from contextlib import asynccontextmanager
from dataclasses import dataclass
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any

from ollm_lsp.core.messages import Message
from ollm_lsp.core.request import ChatRequest
from ollm_lsp.providers import http_provider
from ollm_lsp.providers.anthropic import AnthropicProvider
from ollm_lsp.providers.google import GoogleProvider
from ollm_lsp.providers.ollama import OllamaProvider
from ollm_lsp.providers.openai import OpenAIProvider
from ollm_lsp.settings.resolved import AnthropicSettings, GoogleSettings, OllamaSettings, OpenAISettings

if TYPE_CHECKING:
    from collections.abc import AsyncGenerator, Callable, Sequence

    import pytest

    from tests.support.http_server import Handler, Request, Responder

MODEL = "m"
HOST = "provider.test"
"""A name that only `at_home` knows, so that a server of this machine looks like one elsewhere."""
PROXIES = ("http_proxy", "https_proxy", "all_proxy", "no_proxy", "HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY", "NO_PROXY")


@dataclass(frozen=True)
class Vendor:
    """A provider, where its server listens, and the frames of its wire."""

    name: str
    provider: Callable[[Any], http_provider.HttpProvider]
    settings: Callable[..., Any]
    root: str
    chat: str
    kind: str
    opening: str
    text: str
    thought: str
    call: str
    end: str
    key_header: str = "authorization"

    @property
    def answer(self) -> str:
        return self.opening + self.text + self.end

    def frame(self, value: Any) -> str:
        """Any value as a frame of this wire."""
        event = "event: error\n" if self is ANTHROPIC else ""
        return f"{json.dumps(value)}\n" if self is OLLAMA else f"{event}data: {json.dumps(value)}\n\n"

    def listing(self, names: Sequence[str]) -> Any:
        """What the server says of its models."""
        match self.name:
            case "google":
                able = {"supportedGenerationMethods": ["generateContent"]}
                return {"models": [{"name": f"models/{name}", **able} for name in names]}
            case "ollama":
                return {"models": [{"name": name} for name in names]}
            case _:
                return {"object": "list", "data": [{"id": name} for name in names], "has_more": False}

    def serving(self, chat: Handler, models: Sequence[str] = ("a", "b")) -> Handler:
        """A server that has these models, and leaves the chats to `chat`."""

        async def handle(request: Request, responder: Responder) -> None:
            path = request.path.partition("?")[0].removeprefix(self.root)
            if request.path == self.root + self.chat:
                await chat(request, responder)
            elif path in {"/models", "/v1/models", "/api/tags"}:
                await responder.json(200, self.listing(models))
            else:
                await responder.json(200, {"id": MODEL})

        return handle

    def chats(self, requests: Sequence[Request]) -> list[Request]:
        """Those of the requests that are chats."""
        return [request for request in requests if request.path == self.root + self.chat]

    async def streams(self, responder: Responder, *frames: str) -> None:
        """Send the head and the first frames of an answer."""
        await responder.head(200, {"Content-Type": self.kind})
        for frame in filter(None, frames):  # nothing would be the end
            await responder.write(frame)

    async def says_hi(self, _: Request, responder: Responder) -> None:
        await self.streams(responder, self.answer)
        await responder.end()

    @asynccontextmanager
    async def reaching(self, url: str, **settings: Any) -> AsyncGenerator[Any]:
        """The provider for a server at that address."""
        provider = self.provider(self.settings(self.name, f"{url}{self.root}", **settings))
        try:
            yield provider
        finally:
            await provider.close()


def _sse(*values: Any) -> str:
    return "".join(f"event: {value.get('type', 'message')}\ndata: {json.dumps(value)}\n\n" for value in values)


def _choice(finish: str | None = None, **delta: Any) -> str:
    return _sse({"choices": [{"index": 0, "delta": delta, "finish_reason": finish}]})


def _candidate(*parts: Any, **more: Any) -> str:
    return _sse({"candidates": [{"content": {"parts": parts, "role": "model"}, **more}]})


def _block(start: Any, delta: Any) -> str:
    return _sse(
        {"type": "content_block_start", "index": 0, "content_block": start},
        {"type": "content_block_delta", "index": 0, "delta": delta},
        {"type": "content_block_stop", "index": 0},
    )


def _line(**message: Any) -> str:
    return json.dumps({"model": MODEL, "message": {"role": "assistant", **message}, "done": False}) + "\n"


OPENAI = Vendor(
    "openai",
    OpenAIProvider,
    OpenAISettings,
    "/v1",
    "/chat/completions",
    "text/event-stream",
    opening=_choice(role="assistant", content=""),
    text=_choice(content="Hi"),
    thought=_choice(reasoning_content="Hm"),
    call=_choice(tool_calls=[{"index": 0, "id": "1", "function": {"name": "read", "arguments": "{}"}}]),
    end=_choice("stop") + "data: [DONE]\n\n",
)
ANTHROPIC = Vendor(
    "anthropic",
    AnthropicProvider,
    AnthropicSettings,
    "",
    "/v1/messages",
    "text/event-stream",
    opening=_sse(
        {"type": "message_start", "message": {"role": "assistant", "content": [], "usage": {"input_tokens": 9}}},
        {"type": "ping"},
    ),
    text=_block({"type": "text", "text": ""}, {"type": "text_delta", "text": "Hi"}),
    thought=_block({"type": "thinking", "thinking": ""}, {"type": "thinking_delta", "thinking": "Hm"}),
    call=_block(
        {"type": "tool_use", "id": "1", "name": "read", "input": {}}, {"type": "input_json_delta", "partial_json": "{}"}
    ),
    end=_sse(
        {"type": "message_delta", "delta": {"stop_reason": "end_turn"}, "usage": {"output_tokens": 1}},
        {"type": "message_stop"},
    ),
    key_header="x-api-key",
)
GOOGLE = Vendor(
    "google",
    GoogleProvider,
    GoogleSettings,
    "/v1beta",
    f"/models/{MODEL}:streamGenerateContent?alt=sse",
    "text/event-stream",
    opening="",
    text=_candidate({"text": "Hi"}),
    thought=_candidate({"text": "Hm", "thought": True}),
    call=_candidate({"functionCall": {"name": "read", "args": {}}}),
    end=_candidate({"text": ""}, finishReason="STOP"),
    key_header="x-goog-api-key",
)
OLLAMA = Vendor(
    "ollama",
    OllamaProvider,
    OllamaSettings,
    "",
    "/api/chat",
    "application/x-ndjson",
    opening="",
    text=_line(content="Hi"),
    thought=_line(content="", thinking="Hm"),
    call=_line(content="", tool_calls=[{"function": {"name": "read", "arguments": {}}}]),
    end=json.dumps({"model": MODEL, "message": {"content": ""}, "done": True, "done_reason": "stop"}) + "\n",
)
VENDORS = (OPENAI, ANTHROPIC, GOOGLE, OLLAMA)


def ask(text: str = "Hello", model: str = MODEL, **more: Any) -> ChatRequest:
    return ChatRequest(model, (Message.user(text),), **more)


def no_waiting(monkeypatch: pytest.MonkeyPatch) -> list[float]:
    """Let the waits between attempts take no time, and collect them."""
    waits: list[float] = []

    async def sleep(seconds: float) -> None:
        waits.append(seconds)

    monkeypatch.setattr(http_provider, "asyncio", SimpleNamespace(sleep=sleep))
    return waits


def no_proxies(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in PROXIES:
        monkeypatch.delenv(name, raising=False)


def at_home(monkeypatch: pytest.MonkeyPatch, *, knows: bool = True) -> None:
    """Let `HOST` be this machine, or let nobody know it; there are no proxies."""

    async def resolve(host: str, port: int, **_: Any) -> list[Any]:
        if host in {HOST, "127.0.0.1"} and knows:
            return [(socket.AF_INET, socket.SOCK_STREAM, 6, "", ("127.0.0.1", port))]
        raise socket.gaierror(socket.EAI_NONAME, "Name or service not known")

    no_proxies(monkeypatch)
    monkeypatch.setattr(asyncio.get_running_loop(), "getaddrinfo", resolve)
