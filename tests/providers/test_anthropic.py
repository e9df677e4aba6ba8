"""The provider for Anthropic: its models, what they can, how its tokens are counted."""

from __future__ import annotations

import json
from functools import cache
from typing import TYPE_CHECKING, Any

import pytest
from anthropic.types import MessageCountTokensParams
from anthropic.types import ModelInfo as OfficialModel
from hypothesis import given
from pydantic import TypeAdapter

from ollm_lsp.core.errors import RateLimited
from ollm_lsp.core.messages import Message
from ollm_lsp.core.model import Capabilities, ModelId, ModelInfo
from ollm_lsp.core.request import ChatRequest
from ollm_lsp.core.tool import ToolChoice, ToolSpec
from ollm_lsp.providers.anthropic import MAX_TOKENS, PAGES, WINDOW
from tests.core.values import patient
from tests.providers import sendable
from tests.providers.listening import hear
from tests.providers.vendors import ANTHROPIC, ask
from tests.support.http_server import HttpServer, answering

if TYPE_CHECKING:
    from tests.support.http_server import Handler, Request, Responder

USUAL = Capabilities(tools=True, vision=True, reasoning=True)
HAIKU: dict[str, Any] = {
    "id": "claude-haiku-4-5",
    "type": "model",
    "display_name": "Claude Haiku 4.5",
    "created_at": "2025-10-15T00:00:00Z",
    "lifecycle": "active",
    "max_input_tokens": 150_000,
    "max_tokens": 64_000,
}
BLIND = HAIKU | {"id": "blind", "capabilities": {"image_input": {"supported": False}, "thinking": {"supported": False}}}
OLD = HAIKU | {"id": "claude-1", "lifecycle": "retired"}


def page(*entries: Any, more: str | None = None) -> Any:
    return {"data": entries, "has_more": more is not None, "last_id": more}


def test_the_model_is_one_that_anthropic_itself_would_know() -> None:
    assert OfficialModel.model_validate(HAIKU, strict=False).max_input_tokens == 150_000


@pytest.mark.prop("core-11")
async def test_the_models_of_all_pages_are_listed_without_those_that_are_retired() -> None:
    handler = answering(
        ("/v1/models?limit=1000", 200, page(HAIKU, OLD, more="claude/1")),
        ("/v1/models?limit=1000&after_id=claude%2F1", 200, page(BLIND, {"id": 7}, None)),
    )
    async with HttpServer(handler) as server, ANTHROPIC.reaching(server.url) as provider:
        assert await provider.models() == [
            ModelInfo(
                ModelId("anthropic", "claude-haiku-4-5"),
                Capabilities(tools=True, vision=True, reasoning=True, context_window=150_000),
            ),
            ModelInfo(ModelId("anthropic", "blind"), Capabilities(tools=True, context_window=150_000)),
        ]
        # They are known now.
        assert (await provider.capabilities("blind")).vision is False
    assert len(server.requests) == 2
    assert server.requests[0].headers["anthropic-version"] == "2023-06-01"


async def test_a_list_that_never_ends_is_not_read_for_ever() -> None:
    async def handle(_: Request, responder: Responder) -> None:
        await responder.json(200, page(more="again"))

    async with HttpServer(handle) as server, ANTHROPIC.reaching(server.url) as provider:
        assert await provider.models() == []
    assert len(server.requests) == PAGES


CAN: dict[str, tuple[Handler, str, dict[str, Any], Capabilities, int]] = {
    "its own page": (
        answering(("/v1/models/blind", 200, BLIND)),
        "blind",
        {},
        Capabilities(tools=True, context_window=150_000),
        1,
    ),
    "the list, where it has no page": (
        answering(("/v1/models?limit=1000", 200, page(BLIND))),
        "blind",
        {},
        Capabilities(tools=True, context_window=150_000),
        2,
    ),
    "not in the list": (
        answering(("/v1/models?limit=1000", 200, page(BLIND))),
        "other",
        {},
        USUAL,
        2,
    ),
    "the settings, where nobody tells": (
        answering(("/v1/models/m", 200, {"id": "m"})),
        "m",
        {"context_window": 5000},
        Capabilities(tools=True, vision=True, reasoning=True, context_window=5000),
        1,
    ),
    "the window that every Claude has": (
        answering(("/v1/models/claude-x", 200, {"id": "claude-x"})),
        "claude-x",
        {},
        Capabilities(tools=True, vision=True, reasoning=True, context_window=WINDOW),
        1,
    ),
    "a name with a slash": (
        answering(("/v1/models/a%2Fb%3F", 200, BLIND)),
        "a/b?",
        {},
        Capabilities(tools=True, context_window=150_000),
        1,
    ),
}


@pytest.mark.prop("eng-1")
@pytest.mark.prop("core-26")
@pytest.mark.parametrize(("handler", "model", "settings", "can", "asked"), CAN.values(), ids=CAN)
async def test_what_a_model_can_is_found_out_once(
    handler: Handler, model: str, settings: dict[str, Any], can: Capabilities, asked: int
) -> None:
    async with HttpServer(handler) as server, ANTHROPIC.reaching(server.url, **settings) as provider:
        for _ in range(3):
            assert await provider.capabilities(model) == can
    assert len(server.requests) == asked


async def test_a_server_that_tells_nothing_is_asked_again_and_can_still_chat() -> None:
    async with HttpServer(answering()) as server, ANTHROPIC.reaching(server.url) as provider:
        for _ in range(2):
            assert await provider.capabilities("m") == USUAL
    assert [request.path for request in server.requests] == ["/v1/models/m", "/v1/models?limit=1000"] * 2


@pytest.mark.parametrize(
    ("configured", "asked", "sent"), [(None, None, MAX_TOKENS), (500, None, 500), (500, 7, 7), (None, 7, 7)]
)
async def test_an_answer_has_the_limit_that_is_nearest(configured: int | None, asked: int | None, sent: int) -> None:
    async with HttpServer(ANTHROPIC.serving(ANTHROPIC.says_hi)) as server:
        async with ANTHROPIC.reaching(server.url, max_tokens=configured) as provider:
            await hear(provider.stream(ask(max_tokens=asked)))
        assert ANTHROPIC.chats(server.requests)[0].json["max_tokens"] == sent


async def test_thoughts_are_wished_for_where_anthropic_accepts_the_wish() -> None:
    thinking = {"type": "enabled", "budget_tokens": 2000}
    tool = ToolSpec("read", "Read", {"type": "object"})
    async with HttpServer(ANTHROPIC.serving(ANTHROPIC.says_hi)) as server:
        async with ANTHROPIC.reaching(server.url, extra={"thinking": thinking, "top_k": 3}) as provider:
            await hear(provider.stream(ask()))
            await hear(provider.stream(ask(tools=(tool,), tool_choice=ToolChoice.REQUIRED)))
        free, forced = (request.json for request in ANTHROPIC.chats(server.requests))
    assert (free["thinking"], free["top_k"]) == (thinking, 3)
    assert (forced.get("thinking"), forced["top_k"]) == (None, 3)


@cache
def judge() -> TypeAdapter[Any]:
    return TypeAdapter(MessageCountTokensParams)


@pytest.mark.prop("core-23")
@pytest.mark.parametrize(("answer", "counted"), [({"input_tokens": 42}, 42), ({}, None), ([], None)])
async def test_the_server_counts_what_would_be_sent(answer: Any, counted: int | None) -> None:
    tool = ToolSpec("read", "Read", {"type": "object"})
    request = ChatRequest("m", (Message.system("Be brief."), Message.user("Hi")), (tool,), max_tokens=7)
    handler = answering(("/v1/messages/count_tokens", 200, answer))
    async with HttpServer(handler) as server, ANTHROPIC.reaching(server.url) as provider:
        assert await provider.count(request) == counted
    (sent,) = server.requests
    assert sorted(sent.json) == ["messages", "model", "system", "tools"]
    judge().validate_python(sent.json, strict=True)


async def test_a_count_that_is_refused_is_the_error_of_the_server() -> None:
    refusal = {"type": "error", "error": {"type": "rate_limit_error", "message": "Too many"}}
    handler = answering(("/v1/messages/count_tokens", 429, refusal))
    async with HttpServer(handler) as server, ANTHROPIC.reaching(server.url) as provider:
        with pytest.raises(RateLimited):
            await provider.count(ask())


@patient
@given(sendable.requests)
async def test_any_request_can_be_counted_by_anthropic(request: ChatRequest) -> None:
    bodies: list[Any] = []

    async def handle(sent: Request, responder: Responder) -> None:
        bodies.append(json.loads(sent.body))
        await responder.json(200, {"input_tokens": 1})

    async with HttpServer(handle) as server, ANTHROPIC.reaching(server.url) as provider:
        assert await provider.count(request) == 1
    judge().validate_python(bodies[0], strict=True)
