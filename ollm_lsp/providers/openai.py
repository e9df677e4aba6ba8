"""OpenAI, vLLM, llama.cpp, LM Studio and every other server with the Chat Completions API."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ollm_lsp.core.errors import ProviderError
from ollm_lsp.core.foreign_json import count_in, list_in, object_in, text_in
from ollm_lsp.core.model import Capabilities, ModelId, ModelInfo
from ollm_lsp.core.usage import FREE, UNKNOWN_COST
from ollm_lsp.providers.framing import SseFramer
from ollm_lsp.providers.http import Endpoint
from ollm_lsp.providers.wire import openai_chat
from ollm_lsp.settings.address import is_loopback

if TYPE_CHECKING:
    from collections.abc import AsyncGenerator, Sequence

    from ollm_lsp.core.events import ProviderEvent
    from ollm_lsp.core.request import ChatRequest
    from ollm_lsp.core.usage import Cost, Usage
    from ollm_lsp.settings.resolved import OpenAISettings


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
        self._windows: dict[str, int] = {}

    def stream(self, request: ChatRequest) -> AsyncGenerator[ProviderEvent]:
        body = openai_chat.encode(request)
        return self._endpoint.stream("/chat/completions", body, SseFramer(), openai_chat.Decoder())

    async def capabilities(self, model: str) -> Capabilities:
        if self._settings.context_window is not None:
            return Capabilities(tools=True, context_window=self._settings.context_window)
        if model not in self._windows:
            try:
                await self.models()
            except ProviderError:
                return Capabilities(tools=True)  # the list is optional; the chat itself will tell what is wrong
        return Capabilities(tools=True, context_window=self._windows.get(model))

    def cost(self, model: str, usage: Usage) -> Cost:  # noqa: ARG002 (part of the contract)
        return FREE if is_loopback(self._settings.base_url) else UNKNOWN_COST

    async def models(self) -> Sequence[ModelInfo]:
        found: list[ModelInfo] = []
        for entry in map(object_in, list_in(object_in(await self._endpoint.get("/models")).get("data"))):
            if name := text_in(entry.get("id")):
                # vLLM says `max_model_len`, llama.cpp `meta.n_ctx`.
                meta = object_in(entry.get("meta"))
                window = count_in(entry.get("max_model_len")) or count_in(meta.get("n_ctx")) or None
                if window is not None:
                    self._windows[name] = window
                found.append(ModelInfo(ModelId(self.name, name), Capabilities(tools=True, context_window=window)))
        return found

    async def close(self) -> None:
        await self._endpoint.close()
