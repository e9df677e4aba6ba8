"""Every server that the contract suite knows, by the name that `--backend` takes."""

from __future__ import annotations

import asyncio
from contextlib import contextmanager
from functools import partial
from typing import TYPE_CHECKING

from ollm_lsp.core.model import Capabilities
from ollm_lsp.providers.anthropic import AnthropicProvider
from ollm_lsp.providers.embedded import EmbeddedProvider
from ollm_lsp.providers.google import GoogleProvider
from ollm_lsp.providers.ollama import OllamaProvider
from ollm_lsp.providers.openai import OpenAIProvider
from ollm_lsp.settings.resolved import (
    AnthropicSettings,
    EmbeddedSettings,
    GoogleSettings,
    OllamaSettings,
    OpenAISettings,
)
from ollm_lsp.settings.secrets import Secret
from tests.providers.contract.backend import Backend, Need, Running
from tests.support import litellm_proxy, real_ollama, tool_llama
from tests.support.llmock import stall

if TYPE_CHECKING:
    from collections.abc import Callable, Generator
    from contextlib import AbstractContextManager

    from ollm_lsp.core.ports import Provider
    from tests.providers.contract.servers import Servers
    from tests.support.fake_ollama import FakeOllama
    from tests.support.llmock import LLMock

NAME = "tested"
"""The name of the provider in the settings."""


# Nothing is tried twice: a failure that passes must be seen, and cost no time.


def _openai(port: int, key: str | None) -> Provider:
    url = f"http://127.0.0.1:{port}/v1"
    return OpenAIProvider(OpenAISettings(NAME, url, api_key=_secret(key), max_retries=0))


def _anthropic(port: int, key: str | None, path: str = "") -> Provider:
    url = f"http://127.0.0.1:{port}{path}"
    return AnthropicProvider(AnthropicSettings(NAME, url, api_key=_secret(key), max_retries=0))


def _google(port: int, key: str | None, path: str = "") -> Provider:
    url = f"http://127.0.0.1:{port}{path}/v1beta"
    return GoogleProvider(GoogleSettings(NAME, url, api_key=_secret(key), max_retries=0))


def _ollama(port: int, key: str | None) -> Provider:
    url = f"http://127.0.0.1:{port}"
    return OllamaProvider(OllamaSettings(NAME, url, api_key=_secret(key), max_retries=0))


def _secret(key: str | None) -> Secret | None:
    return Secret(key) if key else None


# llama.cpp, the real one, with the real model

_LLAMA_CANNOT = {
    Need.MODEL_REFUSED: "llama.cpp has one model and takes every name for it",
    Need.VISION: "SmolLM2 is blind",
}


async def _llama_openai(servers: Servers) -> Running:
    return Running(
        tool_llama.NAME,
        _openai,
        await servers.llama(),
        tool_llama.KEY,
        Capabilities(tools=True, context_window=tool_llama.CONTEXT),
    )


async def _llama_anthropic(servers: Servers) -> Running:
    # In this format nobody asks llama.cpp's own pages, so that these are the usual ones.
    capabilities = Capabilities(tools=True, vision=True, reasoning=True)
    return Running(tool_llama.NAME, _anthropic, await servers.llama(), tool_llama.KEY, capabilities)


# The embedded model


async def _embedded(servers: Servers) -> Running:
    def build(_port: int, _key: str | None) -> Provider:
        settings = EmbeddedSettings(NAME, servers.model, tool_llama.CONTEXT)
        return EmbeddedProvider(settings, servers.folder)

    return Running(servers.model.stem, build, capabilities=Capabilities(context_window=tool_llama.CONTEXT))


_EMBEDDED_CANNOT = {
    Need.ADDRESS: "the embedded model has an address that nobody else knows",
    Need.KEY_REFUSED: "the embedded model makes its own key",
    Need.MODEL_REFUSED: "there is only one embedded model",
    Need.TOOLS: "SmolLM2's own template knows no tools",
    Need.VISION: "SmolLM2 is blind",
}


# llmock, in the formats of three clouds


def _stalled(mock: LLMock) -> Callable[[], AbstractContextManager[object]]:
    @contextmanager
    def slow() -> Generator[None]:
        mock.will(stall(after=5))
        try:
            yield
        finally:
            mock.will()

    return slow


async def _llmock_openai(servers: Servers) -> Running:
    mock = await servers.llmock()
    capabilities = Capabilities(tools=True, vision=True, context_window=128_000)
    return Running("gpt-4o", _openai, mock.port, "sk-any", capabilities, slow=_stalled(mock))


async def _llmock_anthropic(servers: Servers) -> Running:
    mock = await servers.llmock()
    build = partial(_anthropic, path="/anthropic")
    capabilities = Capabilities(tools=True, vision=True, reasoning=True, context_window=200_000)
    return Running("claude-opus-4-6", build, mock.port, "sk-any", capabilities, slow=_stalled(mock))


async def _llmock_google(servers: Servers) -> Running:
    mock = await servers.llmock()
    build = partial(_google, path="/gemini")
    capabilities = Capabilities(tools=True, vision=True)  # llmock has no page for one model
    return Running("gemini-2.5-pro", build, mock.port, "sk-any", capabilities, slow=_stalled(mock))


_LLMOCK_CANNOT = {
    Need.MODEL_REFUSED: "llmock answers for every model",
    Need.KEY_REFUSED: "llmock takes every key",
    Need.LIMIT: "llmock passes over max_tokens",
    Need.COUNT: "llmock does not count",
}


# Our fake of Ollama


def _paced(fake: FakeOllama) -> Callable[[], AbstractContextManager[object]]:
    @contextmanager
    def slow() -> Generator[None]:
        fake.pace = asyncio.Semaphore(2)
        try:
            yield
        finally:
            fake.pace = None

    return slow


async def _fake_ollama(servers: Servers) -> Running:
    fake = await servers.fake_ollama()
    capabilities = Capabilities(tools=True, vision=True, context_window=8192)
    return Running("smollm2:135m", _ollama, fake.http.port, capabilities=capabilities, slow=_paced(fake))


_OLLAMA_CANNOT = {
    Need.KEY_REFUSED: "Ollama has no keys",
    Need.OVERFLOW_REFUSED: "Ollama cuts a prompt that is too long, without a word",
    Need.TOOL_NAMED: "Ollama's API has no tool choice",
    Need.COUNT: "Ollama has no way to count",
}


def _calling_ollama(port: int, key: str | None) -> Provider:
    """Ollama leaves it to the model whether it calls, and SmolLM2 seldom does; a grammar leaves it no choice."""
    url = f"http://127.0.0.1:{port}"
    extra = {"format": real_ollama.call_of("get_weather", city="Paris")}
    return OllamaProvider(OllamaSettings(NAME, url, api_key=_secret(key), max_retries=0, extra=extra))


async def _real_ollama(servers: Servers) -> Running:
    capabilities = Capabilities(tools=True, context_window=real_ollama.CONTEXT)
    port = await servers.ollama()
    return Running(real_ollama.NAME, _ollama, port, capabilities=capabilities, build_calling=_calling_ollama)


# LiteLLM in front of the real llama.cpp

_LITELLM_CANNOT = {
    Need.KEY_REFUSED: "LiteLLM without a database answers every other key with a 400 about that",
    Need.VISION: "SmolLM2 is blind",
    Need.COUNT: "LiteLLM guesses",
}


async def _litellm_openai(servers: Servers) -> Running:
    capabilities = Capabilities(tools=True, vision=True)  # of a model that it does not know, anything is thinkable
    return Running(litellm_proxy.NAME, _openai, await servers.litellm(), litellm_proxy.KEY, capabilities)


async def _litellm_anthropic(servers: Servers) -> Running:
    capabilities = Capabilities(tools=True, vision=True, reasoning=True)
    return Running(litellm_proxy.NAME, _anthropic, await servers.litellm(), litellm_proxy.KEY, capabilities)


async def _litellm_google(servers: Servers) -> Running:
    capabilities = Capabilities(tools=True, vision=True)
    return Running(litellm_proxy.NAME, _google, await servers.litellm(), litellm_proxy.KEY, capabilities)


BACKENDS: dict[str, Backend] = {
    "llama-openai": Backend(
        _llama_openai, _LLAMA_CANNOT | {Need.TOOL_NAMED: "llama.cpp does not enforce a named tool in this format"}
    ),
    "llama-anthropic": Backend(_llama_anthropic, _LLAMA_CANNOT),
    "embedded": Backend(_embedded, _EMBEDDED_CANNOT),
    "llmock-openai": Backend(_llmock_openai, _LLMOCK_CANNOT),
    "llmock-anthropic": Backend(_llmock_anthropic, _LLMOCK_CANNOT),
    "llmock-google": Backend(_llmock_google, _LLMOCK_CANNOT),
    "fake-ollama": Backend(_fake_ollama, _OLLAMA_CANNOT),
    "ollama": Backend(
        _real_ollama,
        _OLLAMA_CANNOT | {Need.VISION: "SmolLM2 is blind"},
        is_default=False,
    ),
    "litellm-openai": Backend(
        _litellm_openai,
        _LITELLM_CANNOT | {Need.TOOL_NAMED: "llama.cpp does not enforce a named tool in this format"},
        is_default=False,
    ),
    "litellm-anthropic": Backend(
        _litellm_anthropic,
        _LITELLM_CANNOT
        | {
            Need.LIMIT: "LiteLLM drops the limit in this format",
            Need.TOOL_NAMED: "LiteLLM does not enforce a named tool in this format",
        },
        is_default=False,
    ),
    "litellm-google": Backend(
        _litellm_google,
        _LITELLM_CANNOT
        | {
            Need.USAGE: "LiteLLM streams a usage of zero in this format",
            Need.MODELS: "LiteLLM has no list in this format",
            Need.MODEL_REFUSED: "LiteLLM has no list in this format that the error could name",
        },
        is_default=False,
    ),
}
