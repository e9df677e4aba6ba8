"""The Chat Completions provider: what servers tell of their models, and how their tokens are counted."""

from __future__ import annotations

import json
from contextlib import asynccontextmanager
from typing import TYPE_CHECKING, Any

import pytest

from ollm_lsp.core.errors import (
    ConnectionFailed,
    ModelNotFound,
    ProviderError,
)
from ollm_lsp.core.messages import Message
from ollm_lsp.core.model import Capabilities
from ollm_lsp.core.request import ChatRequest
from ollm_lsp.core.tool import ToolSpec
from ollm_lsp.core.usage import FREE, UNKNOWN_COST, Usage
from ollm_lsp.providers.openai import OpenAIProvider
from ollm_lsp.settings.resolved import OpenAISettings
from ollm_lsp.settings.secrets import Secret
from tests.providers.listening import hear
from tests.support.http_server import HttpServer, answering

if TYPE_CHECKING:
    from collections.abc import AsyncGenerator

    from tests.support.http_server import Handler, Request, Responder

PARIS = Message.user("What is the capital of France? Answer with one word.")


@asynccontextmanager
async def provider(url: str, key: str | None = None, window: int | None = None) -> AsyncGenerator[OpenAIProvider]:
    secret = Secret(key) if key else None
    openai = OpenAIProvider(OpenAISettings("local", url, api_key=secret, context_window=window))
    try:
        yield openai
    finally:
        await openai.close()


def ask(*messages: Message, model: str = "smollm2", **more: Any) -> ChatRequest:
    return ChatRequest(model, messages or (PARIS,), temperature=0.0, **more)


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


TOOL = ToolSpec("read", "Read a file", {"type": "object"})
VLLM = {"id": "m", "owned_by": "vllm", "max_model_len": 4096}
LLAMA = {"id": "m", "owned_by": "llamacpp", "meta": {"n_ctx": 4096}}


def serving(model: dict[str, Any], *answers: tuple[str, int, Any]) -> Handler:
    return answering(("/v1/models", 200, {"data": [model]}), *answers)


@pytest.mark.prop("core-23")
@pytest.mark.parametrize(("answer", "counted"), [({"count": 42, "max_model_len": 4096}, 42), ({}, None)])
async def test_vllm_counts_a_request_beside_its_api(answer: Any, counted: int | None) -> None:
    request = ask(model="m", tools=(TOOL,), max_tokens=7)
    async with HttpServer(serving(VLLM, ("/tokenize", 200, answer))) as server:
        async with provider(f"{server.url}/v1") as openai:
            assert await openai.count(request) == counted
        sent = server.requests[-1]
    assert sent.path == "/tokenize"
    assert sorted(sent.json) == ["messages", "model", "tools"]


@pytest.mark.prop("core-23")
async def test_llama_cpp_counts_the_prompt_that_its_template_makes() -> None:
    answers = ("/apply-template", 200, {"prompt": "<|user|>Hi"}), ("/tokenize", 200, {"tokens": [1, 2, 3]})
    async with HttpServer(serving(LLAMA, *answers)) as server:
        async with provider(f"{server.url}/v1") as openai:
            assert await openai.count(ask(model="m", tools=(TOOL,))) == 3
        template, tokens = server.requests[-2:]
    assert sorted(template.json) == ["messages", "tools"]
    assert tokens.json == {"content": "<|user|>Hi", "add_special": True, "parse_special": True}


@pytest.mark.parametrize("model", [VLLM, LLAMA], ids=["vLLM", "llama.cpp"])
async def test_a_server_without_a_way_to_count_says_so(model: dict[str, Any]) -> None:
    async with HttpServer(serving(model)) as server, provider(f"{server.url}/v1") as openai:
        with pytest.raises(ProviderError):
            await openai.count(ask(model="m"))


@pytest.mark.prop("core-23")
@pytest.mark.parametrize(("model", "counts"), [("gpt-4o", True), ("qwen3", False), ("gpt-oss-20b", False)])
async def test_openai_s_own_models_are_counted_here_and_others_not_at_all(model: str, counts: bool) -> None:
    async with HttpServer(serving({"id": model, "owned_by": "someone"})) as server:
        async with provider(f"{server.url}/v1") as openai:
            assert (await openai.count(ask(model=model)) is not None) is counts
        assert [request.path for request in server.requests] == ["/v1/models"]


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
