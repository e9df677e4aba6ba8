"""What Ollama says while it pulls a model, after ollama's own `server/images.go` and `server/download.go`."""

from __future__ import annotations

from hashlib import sha256
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Iterator

UNKNOWN = "pull model manifest: file does not exist"
_LICENSE, _CONFIG = 11_343, 488
_TICKS = 4


def pull_lines(name: str, size: int | None, space: int | None = None) -> Iterator[dict[str, Any]]:
    """The lines for a model of some size, or of none when the library does not have it.

    With a `space` on the disk they end when it is used up. As in the real one, the last line of a layer that had to be
    fetched does not say that it is complete: the next layer begins instead.
    """
    yield {"status": "pulling manifest"}
    if size is None:
        yield {"error": UNKNOWN}
        return
    left = size if space is None else space
    for layer in (size - _LICENSE - _CONFIG, _LICENSE, _CONFIG):
        digest = sha256(f"{name} {layer}".encode()).hexdigest()
        for tick in range(_TICKS):
            completed = layer * tick // _TICKS
            if completed > left:
                blob = f"/usr/share/ollama/.ollama/models/blobs/sha256-{digest}-partial"
                yield {"error": f"write {blob}: no space left on device"}
                return
            line = {"status": f"pulling {digest[:12]}", "digest": f"sha256:{digest}", "total": layer}
            yield line | {"completed": completed} if completed else line
        left -= layer
    yield {"status": "verifying sha256 digest"}
    yield {"status": "writing manifest"}
    yield {"status": "success"}
