"""find_files: files by a pattern of their names."""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import partial
from typing import TYPE_CHECKING

from ollm_lsp.core.foreign_json import text_in
from ollm_lsp.core.tool import Location, ToolKind, ToolSpec
from ollm_lsp.core.visible import visible_name
from ollm_lsp.tools.file_pattern import FilePattern
from ollm_lsp.tools.parameters import parameters
from ollm_lsp.tools.tree import Tree
from ollm_lsp.tools.watch import in_thread
from ollm_lsp.tools.words import titled

if TYPE_CHECKING:
    from collections.abc import Sequence

    from ollm_lsp.core.foreign_json import JsonObject
    from ollm_lsp.core.ports import ToolRun
    from ollm_lsp.tools.roots import Place
    from ollm_lsp.tools.watch import Watch
    from ollm_lsp.tools.workspace import Workspace

MAX_FOUND = 300
TIME_LIMIT = 10.0


@dataclass(slots=True)
class _Found:
    places: list[Place] = field(default_factory=list["Place"])
    is_cut: bool = False
    was_slow: bool = False


class FindFiles:
    """Finds files. What .gitignore leaves out is not looked at."""

    kind = ToolKind.SEARCH
    spec = ToolSpec(
        "find_files",
        "Find files by a glob pattern, such as *.py or src/**/test_*.ts. Files in .gitignore are left out.",
        parameters(
            {
                "pattern": {"type": "string", "minLength": 1, "maxLength": 500},
                "path": {"type": "string", "maxLength": 4096, "description": "the folder to look in; nothing for all"},
            },
            required=["pattern"],
        ),
    )

    def __init__(self, workspace: Workspace) -> None:
        self._workspace = workspace

    def title(self, arguments: JsonObject) -> str:
        return f"Find {titled(text_in(arguments.get('pattern')))}"

    def locations(self, arguments: JsonObject) -> Sequence[Location]:
        path = text_in(arguments.get("path"))
        return [Location(self._workspace.place(path).uri)] if path else []

    async def run(self, arguments: JsonObject, run: ToolRun) -> str:  # noqa: ARG002 (part of the contract)
        written = text_in(arguments.get("pattern"))
        pattern = FilePattern(written)
        folders = folders_of(self._workspace, text_in(arguments.get("path")))
        found = await in_thread(partial(_find, pattern, folders), TIME_LIMIT)
        unsaved = [
            place
            for place, _ in self._workspace.buffers()
            if place and place not in found.places and any(is_in(place, top, pattern) for top in folders)
        ]
        lines = [self._line(place) for place in sorted({*found.places, *unsaved}, key=lambda place: place.written)]
        if found.was_slow:
            lines.append("[Not everything was looked at: the workspace is too large. Give a path.]")
        elif found.is_cut or len(lines) > MAX_FOUND:
            lines[MAX_FOUND:] = [f"[Only {MAX_FOUND} files are shown. Give a narrower pattern or a path.]"]
        return "\n".join(lines) if lines else f"No file fits '{visible_name(written)}'."

    def _line(self, place: Place) -> str:
        return place.shown if self._workspace.may_read(place) else f"{place.shown} (secret, not read)"


def folders_of(workspace: Workspace, written: str) -> Sequence[Place]:
    """Where to look: in the named place, or in all folders of the workspace."""
    roots = workspace.roots.places
    return roots if written.strip() in ("", ".") and roots else [workspace.place(written)]


def _find(pattern: FilePattern, folders: Sequence[Place], watch: Watch) -> _Found:
    found = _Found()
    for folder in folders:
        tree = Tree(folder, watch)
        for place in tree.files():
            if pattern.fits(place, folder):
                found.places.append(place)
                if len(found.places) > MAX_FOUND:
                    found.is_cut = True
                    return found
        found.was_slow |= tree.is_cut
    return found


def is_in(place: Place, top: Place, pattern: FilePattern | None) -> bool:
    """Whether a place is below another one, or is that one, and its name is as it should be."""
    return (
        place.folder == top.folder
        and place.names[: len(top.names)] == top.names
        and (pattern is None or place == top or pattern.fits(place, top))
    )
