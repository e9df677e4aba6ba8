"""edit_file: pieces of a file are replaced, found by what they say."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ollm_lsp.core.errors import BadArgument
from ollm_lsp.core.search_replace import Block, replaced
from ollm_lsp.core.tool import Location, ToolKind, ToolSpec
from ollm_lsp.tools.parameters import AGAIN, BASE, PATH, optional_text, parameters, text
from ollm_lsp.tools.proposing import failure
from ollm_lsp.tools.walk import Kind
from ollm_lsp.tools.words import titled

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from ollm_lsp.core.foreign_json import JsonObject, JsonValue
    from ollm_lsp.core.ports import ToolRun
    from ollm_lsp.core.snapshot import Snapshot
    from ollm_lsp.core.tool import ToolOutcome
    from ollm_lsp.tools.proposing import Proposing

_EDITS: dict[str, Any] = {
    "type": "array",
    "minItems": 1,
    "maxItems": 100,
    "description": "All are made together, or none. Each is looked for in the file as it is now.",
    "items": {
        "type": "object",
        "properties": {
            "old": {"type": "string", "description": "Whole lines of the file, quoted exactly, enough to be unique."},
            "new": {"type": "string", "description": "What comes in their place; empty to remove them."},
            "all": {"type": "boolean", "description": "Replace every place where it is found. Default false."},
        },
        "required": ["old", "new"],
        "additionalProperties": False,
    },
}


class EditFile:
    """Search and replace in one file."""

    spec = ToolSpec(
        "edit_file",
        "Change parts of an existing text file. The user sees the changes and decides about them.",
        parameters({"path": PATH, "edits": _EDITS, "base": BASE}, required=["path", "edits"]),
    )
    kind = ToolKind.EDIT

    def __init__(self, proposing: Proposing) -> None:
        self._proposing = proposing

    def title(self, arguments: JsonObject) -> str:
        return f"Edit {titled(text(arguments, 'path'))}"

    def locations(self, arguments: JsonObject) -> Sequence[Location]:
        return [Location(self._proposing.view.place(text(arguments, "path")).uri)]

    async def run(self, arguments: JsonObject, run: ToolRun) -> ToolOutcome:
        place = self._proposing.view.place(text(arguments, "path"))
        if await self._proposing.view.kind(place) is not Kind.FILE:
            return failure(f"{place.shown} is not a file that can be edited. create_file makes new files.")
        blocks = list(_blocks(arguments.get("edits")))

        def compute(base: Snapshot) -> str:
            return replaced(base.text, blocks)

        return await self._proposing.edit(self.spec.name, place, compute, run, optional_text(arguments, "base"))


def _blocks(edits: JsonValue) -> Iterator[Block]:
    if not isinstance(edits, list) or not edits:
        raise BadArgument("'edits' must be a list of edits.", remedy=AGAIN)
    for edit in edits:
        if not isinstance(edit, dict):
            raise BadArgument("Each of the 'edits' must have 'old' and 'new'.", remedy=AGAIN)
        yield Block(text(edit, "old"), text(edit, "new"), edit.get("all") is True)
