"""The models of an Ollama server: fetched, shown and removed."""

from __future__ import annotations

from contextlib import aclosing
from time import monotonic
from typing import TYPE_CHECKING, Any, Protocol

from ollm_lsp.core.errors import (
    AuthenticationFailed,
    IncompleteAnswer,
    ModelNotFound,
    ProviderError,
    ServerFailed,
    Unsupported,
)
from ollm_lsp.core.events import Activity
from ollm_lsp.core.foreign_json import count_in, list_in, object_in, text_in
from ollm_lsp.core.model import Capabilities, ModelDetails, ModelId, ModelInfo
from ollm_lsp.providers.wire.faults import excerpt

if TYPE_CHECKING:
    from collections.abc import AsyncGenerator, Callable, Mapping

_LOOK = "Look at Ollama's log, or pull it again."
_AGAIN = "Then pull it again; what came so far is kept."
_TROUBLES: tuple[tuple[tuple[str, ...], type[ProviderError], str], ...] = (
    (
        ("no space left", "not enough space"),
        ServerFailed,
        f"Free some space on the disk with Ollama's models, or point OLLAMA_MODELS to another one. {_AGAIN}",
    ),
    (("newer version of ollama", "requires mlx"), Unsupported, "Update Ollama, or choose another model."),
    (("unauthorized", "access denied"), AuthenticationFailed, "Sign in with `ollama signin`, or check the name."),
    (("digest mismatch",), ServerFailed, "Pull it again: what came was not what was announced, and is thrown away."),
    (
        ("dial tcp", "no such host", "i/o timeout", "max retries exceeded", "tls:", "proxyconnect"),
        ServerFailed,
        f"See whether the machine with Ollama reaches its library, also through a proxy (HTTPS_PROXY). {_AGAIN}",
    ),
)
"""What Ollama says in passing, and what to do about it; the first whose words occur counts."""
_SPOKEN = {400, 404, 500}
"""With these Ollama itself refuses a pull that has not begun; others come from what stands before it."""
_UNKNOWN = ("file does not exist", "invalid model name")
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
        transfer = _Transfer(self._clock)
        last: Activity | None = None
        async with aclosing(self._lines(model)) as lines:
            async for line in lines:
                if "error" in line:
                    said = str(line["error"])
                    raise _failure(model, said, ServerFailed(f"Ollama reports: {excerpt(said)}", remedy=_LOOK))
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
            raise await self._missing(model, error, self._fetch_it(model)) from None
        size = (await self._sizes()).get(_tagged(model))
        info = ModelInfo(ModelId(self._name, model), capabilities_in(shown), size)
        return ModelDetails(info, _facts(shown, info))

    async def delete(self, model: str) -> None:
        try:
            await self._endpoint.delete("/api/delete", {"model": model})
        except ModelNotFound as error:
            raise await self._missing(model, error) from None

    async def _lines(self, model: str) -> AsyncGenerator[dict[str, Any]]:
        async with aclosing(self._endpoint.lines("/api/pull", {"model": model, "stream": True})) as lines:
            try:
                async for line in lines:
                    yield line
            except ProviderError as error:
                raise (_failure(model, error.message, error) if error.status in _SPOKEN else error) from None

    async def _missing(self, model: str, error: ModelNotFound, remedy: str = "") -> ModelNotFound:
        available = list(await self._sizes())
        has = f"It has: {', '.join(available)}." if available else "It has none at all."
        return ModelNotFound(
            f"{self._name} has no model '{model}'.",
            remedy=" ".join(filter(None, (has, remedy))),
            status=error.status,
            available=available,
        )

    def _fetch_it(self, model: str) -> str:
        return f"Fetch it with `ollm-lsp models pull {self._name}:{model}`."

    async def _sizes(self) -> dict[str, int | None]:
        """The size of every model that is there; it is told in the list only, and worth no failure."""
        try:
            listed = list_in(object_in(await self._endpoint.get("/api/tags")).get("models"))
        except ProviderError:
            return {}
        entries = map(object_in, listed)
        return {name: count_in(entry.get("size")) or None for entry in entries if (name := text_in(entry.get("name")))}


class _Transfer:
    """How far a model is, over all of its layers.

    Ollama tells a layer's size when it comes to that layer, so that the whole grows on the way. The percentage does not
    go back then, and is 100 only at the end.
    """

    def __init__(self, clock: Callable[[], float]) -> None:
        self._clock = clock
        self._totals: dict[str, int] = {}
        self._completed: dict[str, int] = {}
        self._percentage = 0
        self._first: tuple[float, int] | None = None
        self.is_complete = False

    def take(self, line: Mapping[str, Any]) -> Activity:
        status, layer, total = text_in(line.get("status")), text_in(line.get("digest")), count_in(line.get("total"))
        if layer and total:
            self._totals[layer] = total
            self._completed[layer] = min(count_in(line.get("completed")), total)
            self._percentage = max(self._percentage, min(99, self._done * 100 // self._whole))
            return Activity(
                f"{size_in_words(self._done)} of {size_in_words(self._whole)}{self._pace()}", self._percentage
            )
        if status == "success":
            self.is_complete = True
            self._percentage = 100
        return Activity(_PHASES.get(status) or excerpt(status), self._percentage)

    @property
    def _whole(self) -> int:
        return sum(self._totals.values())

    @property
    def _done(self) -> int:
        return sum(self._completed.values())

    def _pace(self) -> str:
        """The mean since the first line; what earlier pulls left behind does not count."""
        now = self._clock()
        if self._first is None:
            self._first = now, self._done
        began, before = self._first
        if now - began < 1 or self._done <= before:
            return ""
        return f", {size_in_words(round((self._done - before) / (now - began)))}/s"


_PHASES = {
    "pulling manifest": "Looking for the model",
    "verifying sha256 digest": "Verifying what came",
    "writing manifest": "Finishing",
    "removing unused layers": "Removing what is no longer used",
    "success": "Done",
}


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


def size_in_words(size: int) -> str:
    """Bytes for people, with as many digits as matter."""
    for unit, factor in (("GB", 1_000_000_000), ("MB", 1_000_000), ("kB", 1_000)):
        if size >= factor:
            return f"{size / factor:.1f} {unit}" if unit == "GB" else f"{size // factor} {unit}"
    return f"{size} B"


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


def _failure(model: str, said: str, otherwise: ProviderError) -> ProviderError:
    """The error for what Ollama says when a pull fails; where its words mean nothing to us, the other one."""
    said = said.lower()
    if isinstance(otherwise, ModelNotFound) or any(words in said for words in _UNKNOWN):
        return ModelNotFound(
            f"Ollama's library has no model '{model}'.",
            remedy="Look its name and tag up on ollama.com/library.",
            status=otherwise.status,
        )
    for words, kind, remedy in _TROUBLES:
        if any(word in said for word in words):
            return kind(otherwise.message, remedy=remedy, status=otherwise.status)
    return otherwise


def _tagged(model: str) -> str:
    """The name as Ollama lists it."""
    return model if ":" in model.rpartition("/")[2] else f"{model}:latest"
