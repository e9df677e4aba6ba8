"""Ollama, by its native API."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ollm_lsp.core.completion import collect
from ollm_lsp.core.errors import ModelNotFound, ProviderError
from ollm_lsp.core.foreign_json import count_in, list_in, object_in, text_in
from ollm_lsp.core.model import Capabilities, ModelId, ModelInfo
from ollm_lsp.core.tokens import answer_reserve, estimate
from ollm_lsp.core.usage import FREE, UNKNOWN_COST
from ollm_lsp.providers.framing import NdjsonFramer
from ollm_lsp.providers.http import Endpoint
from ollm_lsp.providers.wire import ollama_chat
from ollm_lsp.settings.address import is_loopback

if TYPE_CHECKING:
    from collections.abc import AsyncGenerator, Sequence

    from ollm_lsp.core.completion import Completion
    from ollm_lsp.core.events import ProviderEvent
    from ollm_lsp.core.request import ChatRequest
    from ollm_lsp.core.usage import Cost, Usage
    from ollm_lsp.settings.resolved import OllamaSettings

SMALLEST_CONTEXT = 4_096
"""Ollama reloads a model whenever `num_ctx` changes, so that it grows in few, large steps."""


class OllamaProvider:
    """An Ollama server."""

    def __init__(self, settings: OllamaSettings) -> None:
        self.name = settings.name
        self._settings = settings
        self._endpoint = Endpoint(
            settings.base_url,
            settings.limits,
            api_key=settings.api_key,
            when_down="Start Ollama (`ollama serve`), or choose another model in ~/.ollm/config.yaml.",
        )
        self._known: dict[str, Capabilities] = {}

    async def stream(self, request: ChatRequest) -> AsyncGenerator[ProviderEvent]:
        window = (await self.capabilities(request.model)).context_window
        body = ollama_chat.encode(request, num_ctx=_context_for(request, window), keep_alive=self._settings.keep_alive)
        events = self._endpoint.stream("/api/chat", body, NdjsonFramer(), ollama_chat.Decoder())
        try:
            async for event in events:
                yield event
        except ModelNotFound as error:
            raise await self._missing(request.model, error) from None
        finally:
            await events.aclose()

    async def complete(self, request: ChatRequest) -> Completion:
        return await collect(self.stream(request))

    async def capabilities(self, model: str) -> Capabilities:
        if model not in self._known:
            try:
                shown = await self._endpoint.post("/api/show", {"model": model})
            except ModelNotFound as error:
                raise await self._missing(model, error) from None
            self._known[model] = _capabilities(shown)
        return self._known[model]

    def cost(self, model: str, usage: Usage) -> Cost:  # noqa: ARG002 (part of the contract)
        return FREE if is_loopback(self._settings.base_url) else UNKNOWN_COST

    async def models(self) -> Sequence[ModelInfo]:
        return [
            ModelInfo(ModelId(self.name, name), size_bytes=count_in(entry.get("size")) or None)
            for entry in map(object_in, list_in(object_in(await self._endpoint.get("/api/tags")).get("models")))
            if (name := text_in(entry.get("name")))
        ]

    async def close(self) -> None:
        await self._endpoint.close()

    async def _missing(self, model: str, error: ModelNotFound) -> ModelNotFound:
        try:
            available = [info.id.name for info in await self.models()]
        except ProviderError:
            available = []
        has = f"It has: {', '.join(available)}. " if available else ""
        return ModelNotFound(
            f"Ollama at {self._endpoint.base_url} has no model '{model}'.",
            remedy=f"{has}Fetch it with `ollama pull {model}`.",
            status=error.status,
            available=available,
        )


def _context_for(request: ChatRequest, window: int | None) -> int:
    """A context that holds the request and its answer: a power of two, within what the model can."""
    needed = estimate(request.messages) * 5 // 4
    needed += request.max_tokens or answer_reserve(window or needed * 2)
    size = SMALLEST_CONTEXT
    while size < needed:
        size *= 2
    return min(size, window) if window else size


def _capabilities(shown: Any) -> Capabilities:
    names = list_in(object_in(shown).get("capabilities"))
    info = object_in(object_in(shown).get("model_info"))
    lengths = [count_in(value) for key, value in info.items() if key.endswith(".context_length")]
    return Capabilities(
        tools="tools" in names,
        vision="vision" in names,
        reasoning="thinking" in names,
        context_window=max(lengths, default=0) or None,
    )
