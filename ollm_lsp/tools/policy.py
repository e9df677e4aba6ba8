"""What of the workspace may be read at all."""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:
    from ollm_lsp.tools.roots import Place


class Policy(Protocol):
    """A rule over places."""

    def may_read(self, place: Place) -> bool:
        """Whether a model may see what is in a file. It is asked for buffers and files alike."""
        ...
