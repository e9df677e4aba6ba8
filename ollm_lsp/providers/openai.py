"""OpenAI, vLLM, llama.cpp, LM Studio and every other server with the Chat Completions API."""

from __future__ import annotations

from contextlib import aclosing, suppress
from typing import TYPE_CHECKING, Any

from ollm_lsp.core.completion import collect
from ollm_lsp.core.errors import ModelNotFound, ProviderError
from ollm_lsp.core.foreign_json import count_in, list_in, object_in, text_in
from ollm_lsp.core.model import Capabilities, ModelId, ModelInfo
from ollm_lsp.core.usage import FREE, UNKNOWN_COST
from ollm_lsp.providers.framing import SseFramer
from ollm_lsp.providers.http import Endpoint
from ollm_lsp.providers.wire import openai_chat
from ollm_lsp.settings.address import is_loopback

if TYPE_CHECKING:
    from collections.abc import AsyncGenerator, Sequence

    from ollm_lsp.core.completion import Completion
    from ollm_lsp.core.events import ProviderEvent
    from ollm_lsp.core.request import ChatRequest
    from ollm_lsp.core.usage import Cost, Usage
    from ollm_lsp.settings.resolved import OpenAISettings

# vLLM, OpenRouter, Groq, Mistral
_WINDOWS = ("max_model_len", "context_length", "context_window", "max_context_length")
SHOWN = 10
"""How many of the available models an error names."""


class OpenAIProvider:
    """A server with the Chat Completions API."""

    def __init__(self, settings: OpenAISettings) -> None:
        self.name = settings.name
        self._settings = settings
        self._endpoint = Endpoint(
            settings.base_url,
            settings.limits,
            api_key=settings.api_key,
            when_down="Start that server, or correct the provider's baseUrl in ~/.ollm/config.yaml.",
        )
        self._windows: dict[str, int | None] = {}

    async def stream(self, request: ChatRequest) -> AsyncGenerator[ProviderEvent]:
        body = openai_chat.encode(request)
        answer = self._endpoint.stream("/chat/completions", body, SseFramer(), openai_chat.Decoder())
        try:
            async with aclosing(answer) as events:
                async for event in events:
                    yield event
        except ModelNotFound as error:
            raise await self._missing(request.model, error) from None

    async def complete(self, request: ChatRequest) -> Completion:
        return await collect(self.stream(request))

    async def capabilities(self, model: str) -> Capabilities:
        if self._settings.context_window is not None:
            return Capabilities(tools=True, context_window=self._settings.context_window)
        if model not in self._windows:
            try:
                await self.models()
            except ProviderError:
                return Capabilities(tools=True)  # the list is optional; the chat itself will tell what is wrong
            self._windows.setdefault(model, None)  # many servers list models without it; they are asked once
        return Capabilities(tools=True, context_window=self._windows[model])

    def cost(self, model: str, usage: Usage) -> Cost:  # noqa: ARG002 (part of the contract)
        return FREE if is_loopback(self._settings.base_url) else UNKNOWN_COST

    async def models(self) -> Sequence[ModelInfo]:
        found: list[ModelInfo] = []
        for entry in map(object_in, list_in(object_in(await self._endpoint.get("/models")).get("data"))):
            if name := text_in(entry.get("id")):
                window = self._windows[name] = await self._window(entry)
                found.append(ModelInfo(ModelId(self.name, name), Capabilities(tools=True, context_window=window)))
        return found

    async def close(self) -> None:
        await self._endpoint.close()

    async def _window(self, entry: dict[str, Any]) -> int | None:
        """The context window of a model, which has a name of its own on every server."""
        meta = object_in(entry.get("meta"))
        window = max(count_in(value) for value in (*map(entry.get, _WINDOWS), meta.get("n_ctx")))
        if window or entry.get("owned_by") != "llamacpp":
            return window or None
        # Before `meta.n_ctx`, llama.cpp told it only beside its API.
        with suppress(ProviderError):
            properties = object_in(await self._endpoint.get("/../props"))
            return count_in(object_in(properties.get("default_generation_settings")).get("n_ctx")) or None
        return None

    async def _missing(self, model: str, error: ModelNotFound) -> ModelNotFound:
        """The error with what there is instead; as it was when the server tells nothing else."""
        try:
            available = [info.id.name for info in await self.models()]
        except ProviderError:
            return error
        if not available or model in available:
            return error
        return ModelNotFound(
            f"{self._endpoint.base_url} has no model '{model}'.",
            remedy=f"Choose one that it has: {', '.join(available[:SHOWN])}{', …' if available[SHOWN:] else '.'}",
            status=error.status,
            available=available,
        )
