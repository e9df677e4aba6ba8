"""list_buffers: what the user has open."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ollm_lsp.core.copyable import copyable
from ollm_lsp.core.lines import split
from ollm_lsp.core.tool import Location, ToolKind, ToolSpec
from ollm_lsp.tools.parameters import parameters
from ollm_lsp.tools.watch import in_thread
from ollm_lsp.tools.words import counted
from ollm_lsp.tools.workspace import may_show

if TYPE_CHECKING:
    from collections.abc import Sequence

    from ollm_lsp.core.foreign_json import JsonObject
    from ollm_lsp.core.ports import ToolRun
    from ollm_lsp.core.snapshot import Snapshot
    from ollm_lsp.tools.roots import Place
    from ollm_lsp.tools.workspace import Workspace

MAX_BUFFERS = 200
_TIME_LIMIT = 30.0


class ListBuffers:
    """Lists the open documents, each by the name under which `read_file` takes it."""

    kind = ToolKind.READ
    spec = ToolSpec(
        "list_buffers",
        "List the files that the user has open in the editor, the one used last first. read_file takes their names.",
        parameters({}),
    )

    def __init__(self, workspace: Workspace) -> None:
        self._workspace = workspace

    def title(self, arguments: JsonObject) -> str:  # noqa: ARG002 (part of the contract)
        return "List the open files"

    def locations(self, arguments: JsonObject) -> Sequence[Location]:  # noqa: ARG002 (part of the contract)
        return []

    async def run(self, arguments: JsonObject, run: ToolRun) -> str:  # noqa: ARG002 (part of the contract)
        buffers = self._workspace.buffers()
        if not buffers:
            return "No file is open."
        shown = buffers[:MAX_BUFFERS]
        lines = await in_thread(lambda _: [self._line(place, snapshot) for place, snapshot in shown], _TIME_LIMIT)
        if len(buffers) > MAX_BUFFERS:
            lines.append(f"[{counted(len(buffers) - MAX_BUFFERS, 'more open file')} not shown.]")
        return "\n".join(lines)

    def _line(self, place: Place | None, snapshot: Snapshot) -> str:
        name = place.shown if place else copyable(snapshot.uri)
        if not (self._workspace.may_read(place) if place else may_show(snapshot.uri)):
            return f"{name} (secret, not read)"
        return f"{name} ({counted(len(split(snapshot.text)), 'line')})"
