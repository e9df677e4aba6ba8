"""The diagnostics that the server publishes: of one document there is one list, to which several may add."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ollm_lsp.lsp import uris

if TYPE_CHECKING:
    from collections.abc import Sequence

    from ollm_lsp.lsp.rpc import Rpc

SOURCE = "ollm"


class Published:
    """What is shown of each owner in each document. Nothing is sent that says nothing new."""

    def __init__(self, rpc: Rpc) -> None:
        self._rpc = rpc
        self._shown: dict[str, dict[str, list[dict[str, Any]]]] = {}

    def put(self, owner: str, uri: str, diagnostics: Sequence[dict[str, Any]]) -> None:
        """Show these of this owner in this document, instead of what the owner showed there before."""
        shown = self._shown.setdefault(uris.key(uri), {})
        if list(diagnostics) == shown.get(owner, []):
            return
        shown[owner] = list(diagnostics)
        found = [one for owned in shown.values() for one in owned]
        if not found:
            del self._shown[uris.key(uri)]
        self._rpc.notify("textDocument/publishDiagnostics", {"uri": uri, "diagnostics": found})
