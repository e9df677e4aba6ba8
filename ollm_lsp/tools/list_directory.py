"""list_directory: what is in a folder."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ollm_lsp.core.copyable import copyable
from ollm_lsp.core.errors import UnreadableFile
from ollm_lsp.core.foreign_json import text_in
from ollm_lsp.core.tool import Location, ToolKind, ToolSpec
from ollm_lsp.tools.parameters import parameters
from ollm_lsp.tools.walk import Entry, Kind
from ollm_lsp.tools.words import counted, sized, titled

if TYPE_CHECKING:
    from collections.abc import Sequence

    from ollm_lsp.core.foreign_json import JsonObject
    from ollm_lsp.core.ports import ToolRun
    from ollm_lsp.tools.roots import Place
    from ollm_lsp.tools.workspace import Workspace

MAX_ENTRIES = 1_000
_MOST_SCANNED = 100_000


class ListDirectory:
    """Lists one folder. Links and special files are named, so that nobody wonders, and never followed."""

    kind = ToolKind.READ
    spec = ToolSpec(
        "list_directory",
        "List the files and folders in one folder of the workspace. Folders end with '/'.",
        parameters(
            {
                "path": {"type": "string", "maxLength": 4096, "description": "the folder; '.' or nothing for the top"},
            }
        ),
    )

    def __init__(self, workspace: Workspace) -> None:
        self._workspace = workspace

    def title(self, arguments: JsonObject) -> str:
        return f"List {titled(_path(arguments))}"

    def locations(self, arguments: JsonObject) -> Sequence[Location]:
        return [Location(self._workspace.place(_path(arguments)).uri)]

    async def run(self, arguments: JsonObject, run: ToolRun) -> str:  # noqa: ARG002 (part of the contract)
        roots = self._workspace.roots.places
        if _path(arguments) == "." and len(roots) > 1:
            return "\n".join(("The folders of the workspace:", *(f"{place.shown}/" for place in roots)))
        folder = self._workspace.place(_path(arguments))
        unsaved = self._unsaved(folder)
        try:
            entries = list(await self._workspace.scan(folder, _MOST_SCANNED))
        except UnreadableFile:
            if not unsaved:
                raise
            entries = []
        there = {entry.name for entry in entries}
        lines = [self._line(folder, entry) for entry in sorted(entries, key=_order)]
        lines += [f"{copyable(name)} (open, never saved)" for name in unsaved if name not in there]
        if not lines:
            return f"{folder.shown}/ is empty."
        cut = len(lines) > MAX_ENTRIES
        counts = "at least " * (len(entries) >= _MOST_SCANNED) + counted(len(lines), "entry").replace(
            "entrys", "entries"
        )
        shown = [f"{folder.shown}/ has {counts}:", *lines[:MAX_ENTRIES]]
        return "\n".join(
            [*shown, f"[Only {MAX_ENTRIES:,} are shown. Use find_files for the others.]"] if cut else shown
        )

    def _unsaved(self, folder: Place) -> list[str]:
        """The names of open documents in the folder, of which some may not be on the disk yet."""
        places = [place for place, _ in self._workspace.buffers() if place]
        return sorted(place.names[-1] for place in places if place.names and place.parent == folder)

    def _line(self, folder: Place, entry: Entry) -> str:
        name = copyable(entry.name)
        match entry.kind:
            case Kind.FOLDER:
                return f"{name}/"
            case Kind.LINK:
                return f"{name} (link, not followed)"
            case Kind.OTHER:
                return f"{name} (hard link or no file, not read)"
            case Kind.FILE:
                size = "" if entry.size is None else f" ({sized(entry.size)})"
                return name + (size if self._workspace.may_read(folder.below(entry.name)) else " (secret, not read)")


def _order(entry: Entry) -> tuple[bool, str]:
    return entry.kind is not Kind.FOLDER, entry.name


def _path(arguments: JsonObject) -> str:
    written = text_in(arguments.get("path"))
    return written if written.strip() else "."
