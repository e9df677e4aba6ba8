"""How a pull of Ollama goes on: its lines become activities, its complaints errors with a remedy."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ollm_lsp.core.errors import AuthenticationFailed, ModelNotFound, ProviderError, ServerFailed, Unsupported
from ollm_lsp.core.events import Activity
from ollm_lsp.core.foreign_json import count_in, text_in
from ollm_lsp.providers.wire.faults import excerpt

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

_PHASES = {
    "pulling manifest": "Looking for the model",
    "verifying sha256 digest": "Verifying what came",
    "writing manifest": "Finishing",
    "removing unused layers": "Removing what is no longer used",
    "success": "Done",
}
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
"""What Ollama complains of, and what to do about it; the first whose words occur counts."""
_UNKNOWN = ("file does not exist", "invalid model name")


class Transfer:
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
            so_far = f"{size_in_words(self._done)} of {size_in_words(self._whole)}"
            return Activity(f"{so_far}{self._pace()}", self._percentage)
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


def failure(model: str, said: str) -> ProviderError:
    """The error for a complaint in the middle of a pull."""
    told = f"Ollama reports: {excerpt(said)}"
    return explained(model, said, ServerFailed(told, remedy="Look at Ollama's log, or pull it again."))


def explained(model: str, said: str, otherwise: ProviderError) -> ProviderError:
    """What a complaint means; where its words mean nothing to us, it stays the other error."""
    said = said.lower()
    if any(words in said for words in _UNKNOWN):
        return ModelNotFound(
            f"Ollama's library has no model '{model}'.",
            remedy="Look its name and tag up on ollama.com/library.",
            status=otherwise.status,
        )
    for words, kind, remedy in _TROUBLES:
        if any(word in said for word in words):
            return kind(otherwise.message, remedy=remedy, status=otherwise.status)
    return otherwise


def size_in_words(size: int) -> str:
    """Bytes for people, with as many digits as matter."""
    for unit, factor in (("GB", 1_000_000_000), ("MB", 1_000_000), ("kB", 1_000)):
        if size >= factor:
            return f"{size / factor:.1f} {unit}" if unit == "GB" else f"{size // factor} {unit}"
    return f"{size} B"
