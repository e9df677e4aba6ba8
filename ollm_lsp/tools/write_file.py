"""write_file: a file gets a whole new content."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ollm_lsp.core.lines import adopted
from ollm_lsp.core.tool import Location, ToolKind, ToolSpec
from ollm_lsp.tools.parameters import BASE, CONTENT, PATH, optional_text, parameters, text
from ollm_lsp.tools.proposing import failure
from ollm_lsp.tools.walk import Kind
from ollm_lsp.tools.words import titled

if TYPE_CHECKING:
    from collections.abc import Sequence

    from ollm_lsp.core.foreign_json import JsonObject
    from ollm_lsp.core.ports import ToolRun
    from ollm_lsp.core.snapshot import Snapshot
    from ollm_lsp.core.tool import ToolOutcome
    from ollm_lsp.tools.proposing import Proposing

_MARK = "\ufeff"


class WriteFile:
    """The whole text of one file. Its line endings and its byte-order mark stay what they are."""

    spec = ToolSpec(
        "write_file",
        "Replace the whole content of an existing text file. Prefer edit_file for small changes. The user sees the "
        "changes and decides about them.",
        parameters({"path": PATH, "content": CONTENT, "base": BASE}, required=["path", "content"]),
    )
    kind = ToolKind.EDIT

    def __init__(self, proposing: Proposing) -> None:
        self._proposing = proposing

    def title(self, arguments: JsonObject) -> str:
        return f"Write {titled(text(arguments, 'path'))}"

    def locations(self, arguments: JsonObject) -> Sequence[Location]:
        return [Location(self._proposing.view.place(text(arguments, "path")).uri)]

    async def run(self, arguments: JsonObject, run: ToolRun) -> ToolOutcome:
        place = self._proposing.view.place(text(arguments, "path"))
        if await self._proposing.view.kind(place) is not Kind.FILE:
            return failure(f"{place.shown} is not a file that can be written. create_file makes new files.")
        content = text(arguments, "content")

        def compute(base: Snapshot) -> str:
            new = content if "\r" in content else adopted(content, base.text)
            return _MARK + new if base.text.startswith(_MARK) and not new.startswith(_MARK) else new

        return await self._proposing.edit(self.spec.name, place, compute, run, optional_text(arguments, "base"))
