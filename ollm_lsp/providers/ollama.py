"""Ollama, by its native API."""

from __future__ import annotations

from contextlib import aclosing
from dataclasses import replace
from typing import TYPE_CHECKING

from ollm_lsp.core.errors import ContextOverflow, ModelNotFound
from ollm_lsp.core.events import UsageReported, Warned, is_speech
from ollm_lsp.core.foreign_json import object_in
from ollm_lsp.core.model import ModelId, ModelInfo
from ollm_lsp.core.tokens import IMAGE_TOKENS, answer_reserve, count_images, estimate_request, most
from ollm_lsp.providers.framing import NdjsonFramer
from ollm_lsp.providers.http_provider import Exchange, HttpProvider
from ollm_lsp.providers.ollama_models import OllamaModels, capabilities_in
from ollm_lsp.providers.wire import ollama_chat

if TYPE_CHECKING:
    from collections.abc import AsyncGenerator, Sequence

    from ollm_lsp.core.events import Activity, ProviderEvent
    from ollm_lsp.core.model import Capabilities, ModelDetails
    from ollm_lsp.core.request import ChatRequest
    from ollm_lsp.settings.resolved import OllamaSettings

SMALLEST_CONTEXT = 4_096
"""Ollama reloads a model whenever `num_ctx` changes, so that it grows in few, large steps and never shrinks."""
BYTES_PER_TOKEN = 3
"""Dense text has fewer bytes in a token than prose has: Chinese three, program text about as many."""
CLEARLY_LONG = 1_000
"""Tokens below which an estimate says nothing about what the server has seen."""


class OllamaProvider(HttpProvider):
    """An Ollama server."""

    when_down = "Start Ollama (`ollama serve`), or choose another model in ~/.ollm/config.yaml."

    def __init__(self, settings: OllamaSettings) -> None:
        super().__init__(settings)
        self._own = settings
        self._models = OllamaModels(self._endpoint, settings.name)
        self._known: dict[str, Capabilities] = {}
        self._contexts: dict[str, int] = {}

    async def stream(self, request: ChatRequest) -> AsyncGenerator[ProviderEvent]:
        """Answer; a context that turns out to be too small grows as far as the model's own does."""
        has_spoken = False
        while True:
            try:
                async with aclosing(super().stream(request)) as events:
                    async for event in events:
                        has_spoken = has_spoken or is_speech(event)
                        yield event
                        if isinstance(event, UsageReported) and (warning := _cut(request, event)):
                            yield warning
            except ContextOverflow:
                known, size = self._known.get(request.model), self._contexts.get(request.model, 0)
                window = known.context_window if known else None
                if has_spoken or window is None or size >= window:
                    raise
                self._contexts[request.model] = min(size * 2, window)
            else:
                return

    async def _exchange(self, request: ChatRequest) -> Exchange:
        window = (await self.capabilities(request.model)).context_window
        size = max(self._contexts.get(request.model, 0), _context_for(request, window))
        self._contexts[request.model] = size
        body = ollama_chat.encode(request, num_ctx=size, keep_alive=self._own.keep_alive, think=self._own.think)
        return Exchange("/api/chat", body, NdjsonFramer, ollama_chat.Decoder)

    async def capabilities(self, model: str) -> Capabilities:
        if model not in self._known:
            try:
                shown = await self._endpoint.post("/api/show", {"model": model})
            except ModelNotFound as error:
                raise await self._missing(model, error) from None
            known = capabilities_in(object_in(shown))
            self._known[model] = replace(known, context_window=known.context_window or self._settings.context_window)
        return self._known[model]

    async def models(self) -> Sequence[ModelInfo]:
        sizes = await self._models.sizes()
        return [ModelInfo(ModelId(self.name, name), size_bytes=size) for name, size in sizes.items()]

    def pull(self, model: str) -> AsyncGenerator[Activity]:
        self._known.pop(model, None)
        return self._models.pull(model)

    async def show(self, model: str) -> ModelDetails:
        return await self._models.show(model)

    async def delete(self, model: str) -> None:
        self._known.pop(model, None)
        await self._models.delete(model)

    def _how_to_get(self, model: str) -> str:
        return f"Fetch it with `ollm-lsp models pull {self.name}:{model}`."


def _context_for(request: ChatRequest, window: int | None) -> int:
    """A context that holds the request and its answer: a power of two, within what the model can."""
    needed = max(estimate_request(request), most(request) // BYTES_PER_TOKEN)
    needed += request.max_tokens or answer_reserve(window or needed * 2)
    size = SMALLEST_CONTEXT
    while size < needed:
        size *= 2
    return min(size, window) if window else size


def _cut(request: ChatRequest, event: UsageReported) -> Warned | None:
    """A warning when the server has seen far less than it was sent. No usual text has so few tokens.

    What an image takes differs too much from model to model to tell anything.
    """
    images = count_images(request.messages)
    seen, sent = event.usage.input_tokens, estimate_request(request) - IMAGE_TOKENS * images
    if not 0 < seen * 2 < sent or sent < CLEARLY_LONG:
        return None
    return Warned(
        "prompt_cut",
        f"The server has read {seen:,} tokens of about {sent:,}: it has cut the conversation.",
        "Update Ollama, which then refuses what is too long, or raise OLLAMA_CONTEXT_LENGTH on the server.",
    )
