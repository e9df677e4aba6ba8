"""The models of an Ollama server: fetched, shown and removed."""

from __future__ import annotations

from contextlib import aclosing
from time import monotonic
from typing import TYPE_CHECKING, Any, Protocol

from ollm_lsp.core.errors import IncompleteAnswer, ModelNotFound, ProviderError
from ollm_lsp.core.foreign_json import count_in, list_in, object_in, text_in
from ollm_lsp.core.model import Capabilities, ModelDetails, ModelId, ModelInfo
from ollm_lsp.providers.ollama_pull import Transfer, explained, failure, size_in_words
from ollm_lsp.providers.wire.faults import excerpt

if TYPE_CHECKING:
    from collections.abc import AsyncGenerator, Callable, Mapping

    from ollm_lsp.core.events import Activity

_CONTRACT = {"completion", "tools", "vision", "audio", "thinking"}


class Server(Protocol):
    """What is needed of an endpoint."""

    async def get(self, path: str) -> Any: ...

    async def post(self, path: str, body: Mapping[str, Any]) -> Any: ...

    async def delete(self, path: str, body: Mapping[str, Any]) -> Any: ...

    def lines(self, path: str, body: Mapping[str, Any]) -> AsyncGenerator[dict[str, Any]]: ...


class OllamaModels:
    """The models of the Ollama server behind an endpoint; `name` is that of its provider."""

    def __init__(self, endpoint: Server, name: str, clock: Callable[[], float] = monotonic) -> None:
        self._endpoint = endpoint
        self._name = name
        self._clock = clock

    async def pull(self, model: str) -> AsyncGenerator[Activity]:
        """Fetch a model, telling how far it is. Closing the stream makes Ollama stop."""
        transfer = Transfer(self._clock)
        last: Activity | None = None
        async with aclosing(self._lines(model)) as lines:
            async for line in lines:
                if "error" in line:
                    raise failure(model, str(line["error"]))
                activity = transfer.take(line)
                if activity != last:
                    last = activity
                    yield activity
        if not transfer.is_complete:
            raise IncompleteAnswer(
                f"The connection to Ollama ended before the model '{model}' was there.",
                remedy="Pull it again; what came so far is kept.",
            )

    async def show(self, model: str) -> ModelDetails:
        try:
            shown = object_in(await self._endpoint.post("/api/show", {"model": model}))
        except ModelNotFound as error:
            raise await self._missing(
                model, error, f"Fetch it with `ollm-lsp models pull {self._name}:{model}`."
            ) from None
        size = (await self._sizes()).get(_tagged(model))
        info = ModelInfo(ModelId(self._name, model), capabilities_in(shown), size)
        return ModelDetails(info, _facts(shown, info))

    async def delete(self, model: str) -> None:
        try:
            await self._endpoint.delete("/api/delete", {"model": model})
        except ModelNotFound as error:
            raise await self._missing(model, error, "There is nothing to delete.") from None

    async def _lines(self, model: str) -> AsyncGenerator[dict[str, Any]]:
        async with aclosing(self._endpoint.lines("/api/pull", {"model": model, "stream": True})) as lines:
            try:
                async for line in lines:
                    yield line
            except ProviderError as error:
                # With these statuses Ollama itself refuses; others come from what stands before it.
                raise (explained(model, error.message, error) if error.status in {400, 500} else error) from None

    async def _missing(self, model: str, error: ModelNotFound, remedy: str) -> ModelNotFound:
        available = list(await self._sizes())
        has = f"It has: {', '.join(available)}. " if available else ""
        return ModelNotFound(
            f"{self._name} has no model '{model}'.",
            remedy=f"{has}{remedy}",
            status=error.status,
            available=available,
        )

    async def sizes(self) -> dict[str, int | None]:
        """The size of every model that is there."""
        entries = map(object_in, list_in(object_in(await self._endpoint.get("/api/tags")).get("models")))
        return {name: count_in(entry.get("size")) or None for entry in entries if (name := text_in(entry.get("name")))}

    async def _sizes(self) -> dict[str, int | None]:
        """The same, where it is worth no failure."""
        try:
            return await self.sizes()
        except ProviderError:
            return {}


def capabilities_in(shown: Mapping[str, Any]) -> Capabilities:
    """What a model can do, by the answer to `/api/show`."""
    names = [name for name in list_in(shown.get("capabilities")) if isinstance(name, str)]
    return Capabilities(
        tools="tools" in names,
        vision="vision" in names,
        audio="audio" in names,
        reasoning="thinking" in names,
        context_window=_context_length(shown),
        extensions=tuple(name for name in names if name not in _CONTRACT),
    )


def _facts(shown: Mapping[str, Any], info: ModelInfo) -> dict[str, str]:
    details = object_in(shown.get("details"))
    length = info.capabilities.context_window
    names = [name for name in list_in(shown.get("capabilities")) if isinstance(name, str)]
    facts = {
        "family": text_in(details.get("family")),
        "parameters": text_in(details.get("parameter_size")),
        "quantization": text_in(details.get("quantization_level")),
        "context length": f"{length:,} tokens" if length else "",
        "capabilities": ", ".join(names),
        "size": size_in_words(info.size_bytes) if info.size_bytes else "",
        "license": text_in(shown.get("license")).strip().partition("\n")[0],
    }
    return {key: excerpt(value) for key, value in facts.items() if value}


def _context_length(shown: Mapping[str, Any]) -> int | None:
    info = object_in(shown.get("model_info"))
    return max((count_in(value) for key, value in info.items() if key.endswith(".context_length")), default=0) or None


def _tagged(model: str) -> str:
    """The name as Ollama lists it."""
    return model if ":" in model.rpartition("/")[2] else f"{model}:latest"
