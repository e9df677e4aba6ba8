"""get_diagnostics: what language servers have found."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ollm_lsp.core.copyable import copyable
from ollm_lsp.core.foreign_json import text_in
from ollm_lsp.core.tool import Location, ToolKind, ToolSpec
from ollm_lsp.core.visible import visible_name
from ollm_lsp.tools.parameters import parameters
from ollm_lsp.tools.words import counted, titled
from ollm_lsp.tools.workspace import may_show

if TYPE_CHECKING:
    from collections.abc import Sequence

    from ollm_lsp.core.diagnostic import Diagnostic
    from ollm_lsp.core.foreign_json import JsonObject
    from ollm_lsp.core.ports import Diagnostics, ToolRun
    from ollm_lsp.tools.workspace import Workspace

MAX_SHOWN = 200


class GetDiagnostics:
    """Tells the errors and warnings that the editor knows of."""

    kind = ToolKind.READ
    spec = ToolSpec(
        "get_diagnostics",
        "Get the errors and warnings that the editor shows, for one file or for all.",
        parameters({"path": {"type": "string", "maxLength": 4096, "description": "the file; nothing for all"}}),
    )

    def __init__(self, workspace: Workspace, diagnostics: Diagnostics) -> None:
        self._workspace = workspace
        self._diagnostics = diagnostics

    def title(self, arguments: JsonObject) -> str:
        path = text_in(arguments.get("path"))
        return f"Get the diagnostics of {titled(path)}" if path else "Get all diagnostics"

    def locations(self, arguments: JsonObject) -> Sequence[Location]:
        path = text_in(arguments.get("path"))
        return [Location(self._workspace.place(path).uri)] if path else []

    async def run(self, arguments: JsonObject, run: ToolRun) -> str:  # noqa: ARG002 (part of the contract)
        path = text_in(arguments.get("path"))
        known = await self._diagnostics.of(self._uri(path) if path else None)
        found = [(self._named(diagnostic), diagnostic) for diagnostic in known if self._may_show(diagnostic.uri)]
        if not found:
            return f"No diagnostics are known{f' for {visible_name(path)}' if path else ''}."
        found.sort(key=_order)
        lines = [diagnostic.described(name) for name, diagnostic in found[:MAX_SHOWN]]
        if len(found) > MAX_SHOWN:
            lines.append(f"[{counted(len(found) - MAX_SHOWN, 'more diagnostic')} not shown. Ask for a single file.]")
        return "\n".join(lines)

    def _uri(self, path: str) -> str:
        snapshot = self._workspace.elsewhere(path)
        return snapshot.uri if snapshot else self._workspace.place(path).uri

    def _named(self, diagnostic: Diagnostic) -> str:
        place = self._workspace.place_of(diagnostic.uri)
        return place.shown if place else copyable(diagnostic.uri)

    def _may_show(self, uri: str) -> bool:
        """Messages quote the text that they are about."""
        place = self._workspace.place_of(uri)
        return self._workspace.may_read(place) if place else may_show(uri)


def _order(found: tuple[str, Diagnostic]) -> tuple[int, str, int]:
    name, diagnostic = found
    return diagnostic.rank, name, diagnostic.line
