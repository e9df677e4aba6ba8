"""Every server that the contract suite knows, by the name that `--backend` takes."""

from __future__ import annotations

import asyncio
from contextlib import contextmanager
from typing import TYPE_CHECKING

from ollm_lsp.core.model import Capabilities
from ollm_lsp.providers.embedded import EmbeddedProvider
from ollm_lsp.providers.ollama import OllamaProvider
from ollm_lsp.providers.openai import OpenAIProvider
from ollm_lsp.settings.resolved import EmbeddedSettings, OllamaSettings, OpenAISettings
from ollm_lsp.settings.secrets import Secret
from tests.providers.contract.backend import Backend, Need, Running
from tests.support import real_ollama, tool_llama
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


def _openai(port: int, key: str | None) -> Provider:
    address = f"http://127.0.0.1:{port}/v1"
    return OpenAIProvider(OpenAISettings(NAME, address, api_key=Secret(key) if key else None))


def _ollama(port: int, key: str | None) -> Provider:
    address = f"http://127.0.0.1:{port}"
    return OllamaProvider(OllamaSettings(NAME, address, api_key=Secret(key) if key else None))


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
    Need.COUNT: "the embedded model does not count yet",
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
    capabilities = Capabilities(tools=True)
    return Running("gpt-4o", _openai, mock.port, "sk-any", capabilities, slow=_stalled(mock))


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


async def _real_ollama(servers: Servers) -> Running:
    capabilities = Capabilities(tools=True, context_window=real_ollama.CONTEXT)
    return Running(real_ollama.NAME, _ollama, await servers.ollama(), capabilities=capabilities)


BACKENDS: dict[str, Backend] = {
    "llama-openai": Backend(
        _llama_openai,
        _LLAMA_CANNOT
        | {
            Need.TOOL_NAMED: "llama.cpp does not enforce a named tool in this format",
            Need.TOOLS: "TODO",
            Need.COUNT: "TODO",
        },
    ),
    "embedded": Backend(_embedded, _EMBEDDED_CANNOT),
    "llmock-openai": Backend(_llmock_openai, _LLMOCK_CANNOT | {Need.TOOLS: "TODO"}),
    "fake-ollama": Backend(_fake_ollama, _OLLAMA_CANNOT | {Need.TOOLS: "TODO"}),
    "ollama": Backend(
        _real_ollama,
        _OLLAMA_CANNOT
        | {
            Need.TOOL_REQUIRED: "Ollama leaves it to the model whether it calls, and SmolLM2 seldom does",
            Need.VISION: "SmolLM2 is blind",
        },
        is_default=False,
    ),
}
