"""OpenAI, vLLM, llama.cpp, LM Studio and every other server with the Chat Completions API."""

from __future__ import annotations

import asyncio
from contextlib import suppress
from dataclasses import replace
from typing import TYPE_CHECKING

from ollm_lsp.core.errors import ProviderError
from ollm_lsp.core.foreign_json import count_in, list_in, object_in, text_in
from ollm_lsp.core.model import Capabilities, ModelId, ModelInfo
from ollm_lsp.providers import openai_tokenizer
from ollm_lsp.providers.framing import SseFramer
from ollm_lsp.providers.http_provider import Exchange, HttpProvider
from ollm_lsp.providers.told import Told, told
from ollm_lsp.providers.wire import openai_chat
from ollm_lsp.settings.address import is_private

if TYPE_CHECKING:
    from collections.abc import Sequence

    from ollm_lsp.core.request import ChatRequest
    from ollm_lsp.settings.resolved import OpenAISettings

_WANT_THOUGHTS = ("//api.deepseek.com", "//api.moonshot.")
"""Servers that refuse a tool call without the thoughts before it."""


class OpenAIProvider(HttpProvider):
    """A server with the Chat Completions API."""

    def __init__(self, settings: OpenAISettings) -> None:
        if is_private(settings.base_url):  # else it is a vendor's, and nobody but them can start it
            self.when_down = "Start that server, or correct the provider's baseUrl in ~/.ollm/config.yaml."
        super().__init__(settings)
        self._told: dict[str, Told] = {}
        self._makers: dict[str, str] = {}
        """Which program serves a model, where the list says so: it decides how tokens are counted."""

    async def _exchange(self, request: ChatRequest) -> Exchange:
        thoughts = "reasoning_content" if any(host in self._endpoint.base_url for host in _WANT_THOUGHTS) else None
        body = openai_chat.encode(request, thoughts=thoughts)
        return Exchange("/chat/completions", body, SseFramer, openai_chat.Decoder)

    async def capabilities(self, model: str) -> Capabilities:
        if model not in self._told:
            try:
                await self.models()
            except ProviderError:
                return self._capabilities(model, Told())  # the chat itself will tell what is wrong
            self._told.setdefault(model, Told())  # many servers do not list all that they have; they are asked once
        return self._capabilities(model, self._told[model])

    async def models(self) -> Sequence[ModelInfo]:
        answer = object_in(await self._endpoint.get("/models"))
        # Beside the list of OpenAI's format, llama.cpp has one of its own, which tells more.
        own = {text_in(entry.get("name")): entry for entry in map(object_in, list_in(answer.get("models")))}
        found: list[ModelInfo] = []
        for entry in map(object_in, list_in(answer.get("data"))):
            if name := text_in(entry.get("id")):
                self._makers[name] = text_in(entry.get("owned_by"))
                self._told[name] = await self._with_window(told({**own.get(name, {}), **entry}), name)
                found.append(ModelInfo(ModelId(self.name, name), self._capabilities(name, self._told[name])))
        return found

    async def count(self, request: ChatRequest) -> int | None:
        """The tokens of a request, by the server's own tokenizer or by that of OpenAI's models."""
        await self.capabilities(request.model)  # which tells whose server it is
        match self._makers.get(request.model):
            case "llamacpp":
                return await self._count_by_llama_cpp(request)
            case "vllm":
                body = openai_chat.encode(request)
                asked = {key: body[key] for key in ("model", "messages", "tools") if key in body}
                answer = object_in(await self._endpoint.post("/tokenize", asked, beside=True))
                return count_in(answer.get("count")) or None
            case _ if openai_tokenizer.is_openai_model(request.model):
                return await asyncio.to_thread(openai_tokenizer.count, request)
            case _:
                return None

    async def _count_by_llama_cpp(self, request: ChatRequest) -> int | None:
        body = openai_chat.encode(request)
        asked = {key: body[key] for key in ("messages", "tools") if key in body}
        prompt = text_in(object_in(await self._endpoint.post("/apply-template", asked, beside=True)).get("prompt"))
        asked = {"content": prompt, "add_special": True, "parse_special": True}
        return len(list_in(object_in(await self._endpoint.post("/tokenize", asked, beside=True)).get("tokens"))) or None

    def _capabilities(self, model: str, known: Told) -> Capabilities:
        usual = Capabilities(tools=True, vision=True, context_window=openai_tokenizer.window_of(model))
        return known.capabilities(usual, self._settings.context_window)

    async def _with_window(self, known: Told, model: str) -> Told:
        """Before `meta.n_ctx`, llama.cpp told its window only beside its API."""
        if known.context_window or self._makers[model] != "llamacpp":
            return known
        with suppress(ProviderError):
            properties = object_in(await self._endpoint.get("/props", beside=True))
            window = count_in(object_in(properties.get("default_generation_settings")).get("n_ctx"))
            return replace(known, context_window=window or None)
        return known
