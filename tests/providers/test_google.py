"""The provider for Google: its models, what they can, how its tokens are counted."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import pytest
from google.genai import types
from hypothesis import given

from ollm_lsp.core.errors import AuthenticationFailed
from ollm_lsp.core.messages import Message
from ollm_lsp.core.model import Capabilities, ModelId, ModelInfo
from ollm_lsp.core.request import ChatRequest
from ollm_lsp.providers.google import PAGES
from tests.core.values import patient
from tests.providers import sendable
from tests.providers.listening import hear
from tests.providers.vendors import GOOGLE, MODEL, ask
from tests.support.http_server import HttpServer, answering

if TYPE_CHECKING:
    from tests.support.http_server import Handler, Request, Responder

USUAL = Capabilities(tools=True, vision=True)
FLASH: dict[str, Any] = {
    "name": "models/gemini-2.5-flash",
    "displayName": "Gemini 2.5 Flash",
    "inputTokenLimit": 1_048_576,
    "outputTokenLimit": 65_536,
    "supportedGenerationMethods": ["generateContent", "countTokens"],
    "thinking": True,
}
EMBEDDING = FLASH | {"name": "models/embedding", "supportedGenerationMethods": ["embedContent"]}
THINKS = Capabilities(tools=True, vision=True, reasoning=True, context_window=1_048_576)


@pytest.mark.prop("core-11")
async def test_the_models_of_all_pages_that_can_chat_are_listed() -> None:
    handler = answering(
        ("/v1beta/models?pageSize=1000", 200, {"models": [FLASH, EMBEDDING], "nextPageToken": "a/b"}),
        (
            "/v1beta/models?pageSize=1000&pageToken=a%2Fb",
            200,
            {"models": [FLASH | {"name": "models/x", "thinking": False}]},
        ),
    )
    async with HttpServer(handler) as server, GOOGLE.reaching(server.url) as provider:
        assert await provider.models() == [
            ModelInfo(ModelId("google", "gemini-2.5-flash"), THINKS),
            ModelInfo(ModelId("google", "x"), Capabilities(tools=True, vision=True, context_window=1_048_576)),
        ]
        # They are known now.
        assert await provider.capabilities("gemini-2.5-flash") == THINKS
    assert len(server.requests) == 2


async def test_a_list_that_never_ends_is_not_read_for_ever() -> None:
    async def handle(_: Request, responder: Responder) -> None:
        await responder.json(200, {"models": [], "nextPageToken": "again"})

    async with HttpServer(handle) as server, GOOGLE.reaching(server.url) as provider:
        assert await provider.models() == []
    assert len(server.requests) == PAGES


CAN: dict[str, tuple[Handler, str, dict[str, Any], Capabilities]] = {
    "its own page": (answering(("/v1beta/models/gemini-2.5-flash", 200, FLASH)), "gemini-2.5-flash", {}, THINKS),
    "its full name": (
        answering(("/v1beta/models/gemini-2.5-flash", 200, FLASH)),
        "models/gemini-2.5-flash",
        {},
        THINKS,
    ),
    "no such page": (answering(), "m", {}, USUAL),
    "the settings, where nobody tells": (
        answering(),
        "m",
        {"context_window": 5000},
        Capabilities(tools=True, vision=True, context_window=5000),
    ),
}


@pytest.mark.prop("eng-1")
@pytest.mark.prop("core-26")
@pytest.mark.parametrize(("handler", "model", "settings", "can"), CAN.values(), ids=CAN)
async def test_what_a_model_can_is_found_out_once(
    handler: Handler, model: str, settings: dict[str, Any], can: Capabilities
) -> None:
    async with HttpServer(handler) as server, GOOGLE.reaching(server.url, **settings) as provider:
        for _ in range(3):
            assert await provider.capabilities(model) == can
    assert len(server.requests) == 1


async def test_a_failure_to_tell_is_not_remembered() -> None:
    async with HttpServer(answering()) as server, GOOGLE.reaching(server.url) as provider:
        server.handler = answering((f"/v1beta/models/{MODEL}", 403, {"error": {"code": 403, "message": "No"}}))
        assert await provider.capabilities(MODEL) == USUAL
        server.handler = answering((f"/v1beta/models/{MODEL}", 200, FLASH))
        assert await provider.capabilities(MODEL) == THINKS


@pytest.mark.parametrize("thinks", [True, False])
@pytest.mark.parametrize(("configured", "asked", "sent"), [(None, None, None), (500, None, 500), (500, 7, 7)])
async def test_an_answer_has_the_nearest_limit_and_the_thoughts_of_a_model_that_thinks(
    thinks: bool, configured: int | None, asked: int | None, sent: int | None
) -> None:
    async def handle(request: Request, responder: Responder) -> None:
        if request.method == "GET":
            await responder.json(200, FLASH | {"thinking": thinks})
        else:
            await GOOGLE.says_hi(request, responder)

    async with HttpServer(handle) as server:
        async with GOOGLE.reaching(server.url, max_tokens=configured) as provider:
            assert (await hear(provider.stream(ask(max_tokens=asked)))).text == "Hi"
        config = GOOGLE.chats(server.requests)[0].json.get("generationConfig", {})
    assert config.get("maxOutputTokens") == sent
    assert config.get("thinkingConfig") == ({"includeThoughts": True} if thinks else None)


@pytest.mark.prop("core-23")
@pytest.mark.parametrize(("answer", "counted"), [({"totalTokens": 42}, 42), ({}, None), ([], None)])
async def test_the_server_counts_what_would_be_sent(answer: Any, counted: int | None) -> None:
    request = ChatRequest("models/m", (Message.system("Be brief."), Message.user("Hi")), max_tokens=7)
    handler = answering(("/v1beta/models/m:countTokens", 200, answer))
    async with HttpServer(handler) as server, GOOGLE.reaching(server.url) as provider:
        assert await provider.count(request) == counted
    (sent,) = server.requests
    assert sent.json == {
        "generateContentRequest": {
            "model": "models/m",
            "contents": [{"role": "user", "parts": [{"text": "Hi"}]}],
            "systemInstruction": {"parts": [{"text": "Be brief."}]},
            "generationConfig": {"maxOutputTokens": 7},
        }
    }


async def test_a_count_that_is_refused_is_the_error_of_the_server() -> None:
    refusal = {"error": {"code": 403, "message": "No", "status": "PERMISSION_DENIED"}}
    handler = answering((f"/v1beta/models/{MODEL}:countTokens", 403, refusal))
    async with HttpServer(handler) as server, GOOGLE.reaching(server.url) as provider:
        with pytest.raises(AuthenticationFailed):
            await provider.count(ask())


@patient
@given(sendable.requests)
async def test_any_request_can_be_counted_by_google(request: ChatRequest) -> None:
    bodies: list[Any] = []

    async def handle(sent: Request, responder: Responder) -> None:
        bodies.append(json.loads(sent.body))
        await responder.json(200, {"totalTokens": 1})

    async with HttpServer(handle) as server, GOOGLE.reaching(server.url) as provider:
        assert await provider.count(request) == 1
    asked = bodies[0]["generateContentRequest"]
    for content in asked["contents"]:
        types.Content.model_validate(content)
