"""The Chat Completions provider: against the real llama.cpp with the real model, and against odd servers."""

from __future__ import annotations

import asyncio
import json
from contextlib import asynccontextmanager
from typing import TYPE_CHECKING, Any

import pytest

from ollm_lsp.core.errors import (
    AuthenticationFailed,
    ConnectionFailed,
    ContextOverflow,
    IncompleteAnswer,
    ModelNotFound,
)
from ollm_lsp.core.events import Finished, FinishReason, TextDelta, UsageReported
from ollm_lsp.core.messages import Message, Role, Text
from ollm_lsp.core.model import Capabilities, ModelId, ModelInfo
from ollm_lsp.core.ports import ListsModels
from ollm_lsp.core.request import ChatRequest
from ollm_lsp.core.usage import FREE, UNKNOWN_COST, Usage
from ollm_lsp.providers.openai import OpenAIProvider
from ollm_lsp.settings.resolved import OpenAISettings
from ollm_lsp.settings.secrets import Secret
from tests.providers.listening import hear
from tests.support.http_server import HttpServer
from tests.support.real_model import CONTEXT

if TYPE_CHECKING:
    from collections.abc import AsyncGenerator

    from tests.support.http_server import Handler, Request, Responder
    from tests.support.real_model import LlamaServer

PARIS = Message.user("What is the capital of France? Answer with one word.")


@asynccontextmanager
async def provider(url: str, key: str | None = None, window: int | None = None) -> AsyncGenerator[OpenAIProvider]:
    secret = Secret(key) if key else None
    openai = OpenAIProvider(OpenAISettings("local", url, api_key=secret, context_window=window))
    try:
        yield openai
    finally:
        await openai.close()


@pytest.fixture
async def llama(real_llama: LlamaServer) -> AsyncGenerator[OpenAIProvider]:
    async with provider(real_llama.base_url, real_llama.key) as openai:
        yield openai


def ask(*messages: Message, model: str = "smollm2", **more: Any) -> ChatRequest:
    return ChatRequest(model, messages or (PARIS,), temperature=0.0, **more)


@pytest.mark.prop("core-15")
@pytest.mark.prop("eng-5")
async def test_the_real_model_answers_in_pieces_with_its_usage(llama: OpenAIProvider) -> None:
    heard = await hear(llama.stream(ask()))
    assert heard.error is None
    assert "Paris" in heard.text
    *_, usage, end = heard.events
    assert isinstance(usage, UsageReported)
    assert usage.usage.input_tokens > 10
    assert usage.usage.output_tokens >= len(heard.events) - 2 > 1
    assert end == Finished(FinishReason.STOP)


async def test_the_real_model_remembers_the_conversation(llama: OpenAIProvider) -> None:
    history = (
        Message.system("Answer with one word."),
        Message.user("My name is Ada."),
        Message(Role.ASSISTANT, (Text("Hello Ada!"),)),
        Message.user("What is my name?"),
    )
    assert "Ada" in (await hear(llama.stream(ask(*history, max_tokens=16)))).text


async def test_the_real_model_stops_at_the_token_limit(llama: OpenAIProvider) -> None:
    heard = await hear(llama.stream(ask(Message.user("Count from one to ten."), max_tokens=3)))
    usage, end = heard.events[-2:]
    assert isinstance(usage, UsageReported)
    assert (usage.usage.output_tokens, end) == (3, Finished(FinishReason.LENGTH))


@pytest.mark.prop("eng-7")
async def test_the_real_server_refuses_what_is_too_long(llama: OpenAIProvider) -> None:
    heard = await hear(llama.stream(ask(Message.user("word " * (CONTEXT + 100)))))
    assert type(heard.error) is ContextOverflow
    assert heard.failure.status == 400


async def test_the_real_server_takes_half_characters_of_an_editor(llama: OpenAIProvider) -> None:
    assert (await hear(llama.stream(ask(Message.user("Say hi \ud83d"), max_tokens=4)))).error is None


@pytest.mark.prop("eng-7")
async def test_the_real_server_refuses_a_wrong_key(real_llama: LlamaServer) -> None:
    async with provider(real_llama.base_url, "sk-wrong-key") as openai:
        heard = await hear(openai.stream(ask()))
    assert type(heard.error) is AuthenticationFailed
    assert (heard.failure.status, heard.failure.remedy != "") == (401, True)


async def test_the_real_server_lists_its_model_with_its_context(llama: OpenAIProvider, real_llama: LlamaServer) -> None:
    assert isinstance(llama, ListsModels)
    expected = Capabilities(tools=True, context_window=CONTEXT)
    assert await llama.models() == [ModelInfo(ModelId("local", real_llama.model), expected)]
    assert await llama.capabilities(real_llama.model) == expected


@pytest.mark.prop("eng-6")
async def test_one_provider_serves_many_chats_of_the_real_model_at_once(llama: OpenAIProvider) -> None:
    questions = [Message.user(f"Repeat the number {number}.") for number in range(4)]
    heard = await asyncio.gather(*(hear(llama.stream(ask(one, max_tokens=12))) for one in questions))
    assert [one.error for one in heard] == [None] * 4
    assert all(isinstance(one.events[-1], Finished) and one.text for one in heard)


@pytest.mark.prop("core-5")
async def test_the_real_server_is_free_again_after_a_chat_is_stopped(llama: OpenAIProvider) -> None:
    stream = llama.stream(ask(Message.user("Write a very long story about the sea.")))
    assert isinstance(await anext(stream), TextDelta)
    await stream.aclose()
    assert "Paris" in (await hear(llama.stream(ask()))).text


@pytest.mark.prop("eng-6")
async def test_closing_the_provider_ends_its_chats(real_llama: LlamaServer) -> None:
    async with provider(real_llama.base_url, real_llama.key) as openai:
        stream = openai.stream(ask(Message.user("Write a very long story about the sea.")))
        assert isinstance(await anext(stream), TextDelta)
        await openai.close()
        assert type((await hear(stream)).error) is IncompleteAnswer


# Odd servers


def listing(*models: dict[str, Any], chat: int = 404) -> Handler:
    """A server that has these models, and refuses every chat."""

    async def handle(request: Request, responder: Responder) -> None:
        if request.path == "/v1/models":
            await responder.json(200, {"object": "list", "data": models})
        else:
            await responder.json(chat, {"error": {"message": "The model does not exist."}})

    return handle


@pytest.mark.prop("eng-7")
async def test_a_model_that_is_missing_is_named_with_those_that_are_there() -> None:
    async with HttpServer(listing({"id": "a"}, {"id": "b"})) as server, provider(f"{server.url}/v1") as openai:
        heard = await hear(openai.stream(ask(model="c")))
    assert isinstance(heard.error, ModelNotFound)
    assert (heard.error.available, heard.error.status) == (("a", "b"), 404)
    assert "'c'" in heard.error.message
    assert "a, b." in heard.error.remedy


async def test_an_error_does_not_list_hundreds_of_models() -> None:
    models = [{"id": f"model-{number}"} for number in range(300)]
    async with HttpServer(listing(*models)) as server, provider(f"{server.url}/v1") as openai:
        heard = await hear(openai.stream(ask(model="c")))
    assert isinstance(heard.error, ModelNotFound)
    assert len(heard.error.available) == 300
    assert len(heard.error.remedy) < 200


async def test_a_list_that_does_not_help_leaves_the_error_as_it_was() -> None:
    async with HttpServer(listing({"id": "c"})) as server, provider(f"{server.url}/v1") as openai:
        heard = await hear(openai.stream(ask(model="c")))
    assert type(heard.error) is ModelNotFound
    assert "The model does not exist." in heard.failure.message
    assert "baseUrl" in heard.failure.remedy


@pytest.mark.parametrize(
    ("entry", "window"),
    [
        ({"id": "m", "max_model_len": 4096}, 4096),
        ({"id": "m", "context_length": 8192, "top_provider": {}}, 8192),
        ({"id": "m", "context_window": 131_072}, 131_072),
        ({"id": "m", "max_context_length": 32_768}, 32_768),
        ({"id": "m", "owned_by": "llamacpp", "meta": {"n_ctx": 2048, "n_ctx_train": 8192}}, 2048),
        ({"id": "m", "meta": None, "max_model_len": "4096"}, None),
        ({"id": "m"}, None),
        ({"id": "other", "max_model_len": 4096}, None),
    ],
    ids=["vLLM", "OpenRouter", "Groq", "Mistral", "llama.cpp", "senseless", "OpenAI", "another model"],
)
async def test_the_context_is_what_the_server_tells_and_is_asked_once(entry: Any, window: int | None) -> None:
    async with HttpServer(listing(entry)) as server, provider(f"{server.url}/v1") as openai:
        for _ in range(3):
            assert await openai.capabilities("m") == Capabilities(tools=True, vision=True, context_window=window)
    assert len(server.requests) == 1


@pytest.mark.parametrize(
    ("properties", "window"),
    [
        ((200, {"default_generation_settings": {"n_ctx": 512}}), 512),
        ((200, {"default_generation_settings": None}), None),
        ((501, {"error": {"message": "This server does not support it."}}), None),
    ],
    ids=["told", "not told", "refused"],
)
async def test_an_older_llama_cpp_tells_the_context_beside_its_api(
    properties: tuple[int, Any], window: int | None
) -> None:
    model = {"id": "m", "owned_by": "llamacpp", "meta": {"n_ctx_train": 8192}}

    async def handle(request: Request, responder: Responder) -> None:
        await (responder.json(*properties) if request.path == "/props" else listing(model)(request, responder))

    async with HttpServer(handle) as server, provider(f"{server.url}/v1") as openai:
        assert await openai.capabilities("m") == Capabilities(tools=True, vision=True, context_window=window)
    assert [request.path for request in server.requests] == ["/v1/models", "/props"]


@pytest.mark.prop("core-26")
@pytest.mark.parametrize(
    ("entry", "window"),
    [({"id": "m", "max_model_len": 4096}, 4096), ({"id": "m"}, 999), ({"id": "gpt-4o"}, 999)],
    ids=["told", "not told", "another model"],
)
async def test_the_context_in_the_settings_counts_where_the_server_tells_none(entry: Any, window: int) -> None:
    async with HttpServer(listing(entry)) as server, provider(f"{server.url}/v1", window=999) as openai:
        assert (await openai.capabilities("m")).context_window == window


async def test_the_context_of_openai_s_own_models_is_known() -> None:
    async with HttpServer(listing({"id": "gpt-4.1-mini"})) as server, provider(f"{server.url}/v1") as openai:
        assert (await openai.capabilities("gpt-4.1-mini")).context_window == 1_047_576


@pytest.mark.prop("eng-1")
@pytest.mark.parametrize(
    ("entry", "can"),
    [
        ({"capabilities": {"vision": False, "function_calling": True}}, Capabilities(tools=True)),
        ({"architecture": {"input_modalities": ["text", "image"]}}, Capabilities(tools=True, vision=True)),
        ({"supported_parameters": ["temperature", "reasoning"]}, Capabilities(vision=True, reasoning=True)),
        ({"capabilities": ["completion"]}, Capabilities(tools=True)),
        ({"capabilities": ["completion", "multimodal"]}, Capabilities(tools=True, vision=True)),
        ({"capabilities": 7, "architecture": [], "supported_parameters": {}}, Capabilities(tools=True, vision=True)),
    ],
    ids=["Mistral", "OpenRouter sees", "OpenRouter thinks", "llama.cpp", "llama.cpp sees", "senseless"],
)
async def test_what_a_model_can_do_is_what_the_server_tells(entry: Any, can: Capabilities) -> None:
    async with HttpServer(listing({"id": "m", **entry})) as server, provider(f"{server.url}/v1") as openai:
        assert await openai.capabilities("m") == can


async def test_a_server_without_a_list_is_asked_again_and_can_still_chat() -> None:
    async def handle(request: Request, responder: Responder) -> None:
        if request.path == "/v1/models":
            await responder.whole(404, "")
        else:
            choice = {"delta": {"content": "Hi"}, "finish_reason": "stop"}
            await responder.whole(200, f"data: {json.dumps({'choices': [choice]})}\n\n")

    async with HttpServer(handle) as server, provider(f"{server.url}/v1") as openai:
        for _ in range(2):
            assert await openai.capabilities("m") == Capabilities(tools=True, vision=True)
        assert (await hear(openai.stream(ask(model="m")))).text == "Hi"
    assert [request.path for request in server.requests] == ["/v1/models", "/v1/models", "/v1/chat/completions"]


@pytest.mark.parametrize("body", ["[]", "{}", '{"data": 1}', '{"data": [null, 1, {}, {"id": 2}]}'])
async def test_a_list_of_another_shape_is_empty(body: str) -> None:
    async def handle(_: Request, responder: Responder) -> None:
        await responder.whole(200, body)

    async with HttpServer(handle) as server, provider(f"{server.url}/v1") as openai:
        assert await openai.models() == []


@pytest.mark.prop("core-16")
async def test_a_server_that_is_down_is_named_with_a_remedy() -> None:
    async with HttpServer(listing()) as server:
        url = f"{server.url}/v1"
    async with provider(url) as openai:
        heard = await hear(openai.stream(ask()))
    assert type(heard.error) is ConnectionFailed
    assert url in heard.failure.message
    assert "baseUrl" in heard.failure.remedy


@pytest.mark.parametrize(("url", "cost"), [("http://[::1]:1/v1", FREE), ("https://api.example/v1", UNKNOWN_COST)])
async def test_only_what_runs_on_this_machine_costs_nothing(url: str, cost: Any) -> None:
    async with provider(url) as openai:
        assert openai.cost("m", Usage(10, 10)) == cost
