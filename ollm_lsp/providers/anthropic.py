"""Anthropic, and every other server with its Messages API."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, ClassVar
from urllib.parse import quote

from ollm_lsp.core.errors import ProviderError
from ollm_lsp.core.foreign_json import count_in, list_in, object_in, text_in
from ollm_lsp.core.model import Capabilities, ModelId, ModelInfo
from ollm_lsp.providers.framing import SseFramer
from ollm_lsp.providers.http_provider import Exchange, HttpProvider
from ollm_lsp.providers.told import Told, told
from ollm_lsp.providers.wire import anthropic_messages

if TYPE_CHECKING:
    from collections.abc import Sequence

    from ollm_lsp.core.request import ChatRequest
    from ollm_lsp.settings.resolved import AnthropicSettings

MAX_TOKENS = 8_192
"""The API wants a limit for each answer; every model accepts this one."""
WINDOW = 200_000
"""What every model of Anthropic's reads, where its server does not tell."""
PAGES = 20
"""How many pages of models are read, whatever a server says of more."""
_USUAL = Capabilities(tools=True, vision=True, reasoning=True)


class AnthropicProvider(HttpProvider):
    """A server with the Messages API."""

    key_header = "x-api-key"
    headers: ClassVar = {"anthropic-version": "2023-06-01"}

    def __init__(self, settings: AnthropicSettings) -> None:
        # The wish for thoughts is sent where it fits the request, and not in every one as other parameters are.
        others = {name: value for name, value in settings.extra.items() if name != "thinking"}
        super().__init__(replace(settings, extra=others))
        self._thinking = object_in(settings.extra.get("thinking")) or None
        self._max_tokens = settings.max_tokens or MAX_TOKENS
        self._told: dict[str, Told] = {}

    async def _exchange(self, request: ChatRequest) -> Exchange:
        body = anthropic_messages.encode(request, max_tokens=self._max_tokens, thinking=self._thinking)
        return Exchange("/v1/messages", body, SseFramer, anthropic_messages.Decoder)

    async def capabilities(self, model: str) -> Capabilities:
        if model not in self._told:
            try:
                self._told[model] = told(object_in(await self._endpoint.get(f"/v1/models/{quote(model, safe='')}")))
            except ProviderError as error:
                # A server that has no page for one model may still have it in its list.
                known = await self._listed(model) if error.status else None
                if known is None:
                    return self._capabilities(model, Told())
                self._told[model] = known
        return self._capabilities(model, self._told[model])

    async def models(self) -> Sequence[ModelInfo]:
        found: list[ModelInfo] = []
        after = ""
        for _ in range(PAGES):
            page = object_in(await self._endpoint.get(f"/v1/models?limit=1000{after}"))
            for entry in map(object_in, list_in(page.get("data"))):
                if (name := text_in(entry.get("id"))) and entry.get("lifecycle") != "retired":
                    self._told[name] = told(entry)
                    found.append(ModelInfo(ModelId(self.name, name), self._capabilities(name, self._told[name])))
            last = text_in(page.get("last_id"))
            if page.get("has_more") is not True or not last:
                break
            after = f"&after_id={quote(last, safe='')}"
        return found

    async def count(self, request: ChatRequest) -> int | None:
        """The tokens of a request, as the server counts them."""
        body = anthropic_messages.encode(request, max_tokens=1)
        asked = {key: body[key] for key in ("model", "messages", "system", "tools", "tool_choice") if key in body}
        answer = object_in(await self._endpoint.post("/v1/messages/count_tokens", asked))
        return count_in(answer.get("input_tokens")) or None

    async def _listed(self, model: str) -> Told | None:
        try:
            await self.models()
        except ProviderError:
            return None
        return self._told.get(model, Told())

    def _capabilities(self, model: str, known: Told) -> Capabilities:
        usual = replace(_USUAL, context_window=WINDOW) if model.startswith("claude") else _USUAL
        return known.capabilities(usual, self._settings.context_window)
