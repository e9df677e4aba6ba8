"""Google's models by the Gemini API."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING
from urllib.parse import quote

from ollm_lsp.core.errors import ProviderError
from ollm_lsp.core.foreign_json import count_in, list_in, object_in, text_in
from ollm_lsp.core.model import Capabilities, ModelId, ModelInfo
from ollm_lsp.providers.framing import SseFramer
from ollm_lsp.providers.http_provider import Exchange, HttpProvider
from ollm_lsp.providers.told import Told, told
from ollm_lsp.providers.wire import google_generate

if TYPE_CHECKING:
    from collections.abc import Sequence

    from ollm_lsp.core.request import ChatRequest
    from ollm_lsp.settings.resolved import GoogleSettings

PAGES = 20
"""How many pages of models are read, whatever a server says of more."""
_USUAL = Capabilities(tools=True, vision=True)
_PREFIX = "models/"


class GoogleProvider(HttpProvider):
    """A server with the Gemini API."""

    key_header = "x-goog-api-key"

    def __init__(self, settings: GoogleSettings) -> None:
        super().__init__(settings)
        self._max_tokens = settings.max_tokens
        self._told: dict[str, Told] = {}

    async def _exchange(self, request: ChatRequest) -> Exchange:
        if request.max_tokens is None and self._max_tokens is not None:
            request = replace(request, max_tokens=self._max_tokens)
        thinks = (await self.capabilities(request.model)).reasoning
        body = google_generate.encode(request, thinking={"includeThoughts": True} if thinks else None)
        path = f"{_path(request.model)}:streamGenerateContent?alt=sse"
        return Exchange(path, body, SseFramer, google_generate.Decoder)

    async def capabilities(self, model: str) -> Capabilities:
        if model not in self._told:
            try:
                self._told[model] = told(object_in(await self._endpoint.get(_path(model))))
            except ProviderError as error:
                if error.status == 404:
                    self._told[model] = Told()  # a server that has no such pages has none the next time either
                return self._capabilities(Told())  # the chat itself will tell what is wrong
        return self._capabilities(self._told[model])

    async def models(self) -> Sequence[ModelInfo]:
        found: list[ModelInfo] = []
        token = ""
        for _ in range(PAGES):
            page = object_in(await self._endpoint.get(f"/models?pageSize=1000{token}"))
            for entry in map(object_in, list_in(page.get("models"))):
                name = text_in(entry.get("name")).removeprefix(_PREFIX)
                if name and "generateContent" in list_in(entry.get("supportedGenerationMethods")):
                    self._told[name] = told(entry)
                    found.append(ModelInfo(ModelId(self.name, name), self._capabilities(self._told[name])))
            following = text_in(page.get("nextPageToken"))
            if not following:
                break
            token = f"&pageToken={quote(following, safe='')}"
        return found

    async def count(self, request: ChatRequest) -> int | None:
        """The tokens of a request, as the server counts them."""
        name = f"{_PREFIX}{request.model.removeprefix(_PREFIX)}"
        asked = {"generateContentRequest": {"model": name, **google_generate.encode(request)}}
        answer = object_in(await self._endpoint.post(f"{_path(request.model)}:countTokens", asked))
        return count_in(answer.get("totalTokens")) or None

    def _capabilities(self, known: Told) -> Capabilities:
        return known.capabilities(_USUAL, self._settings.context_window)


def _path(model: str) -> str:
    return f"/models/{quote(model.removeprefix(_PREFIX), safe='')}"
