"""create_file: a new file where nothing is."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ollm_lsp.core.change import CreateFile as Creation
from ollm_lsp.core.errors import OllmError
from ollm_lsp.core.tool import Location, ToolKind, ToolOutcome, ToolSpec
from ollm_lsp.tools.parameters import CONTENT, PATH, parameters, text
from ollm_lsp.tools.proposing import failure
from ollm_lsp.tools.walk import Kind
from ollm_lsp.tools.words import titled

if TYPE_CHECKING:
    from collections.abc import Sequence

    from ollm_lsp.core.foreign_json import JsonObject
    from ollm_lsp.core.ports import ToolRun
    from ollm_lsp.tools.proposing import Proposing


class CreateFile:
    """A file that was not there before."""

    spec = ToolSpec(
        "create_file",
        "Create a new text file, with the folders that it needs. The user sees it and decides about it.",
        parameters({"path": PATH, "content": CONTENT}, required=["path", "content"]),
    )
    kind = ToolKind.CREATE

    def __init__(self, proposing: Proposing) -> None:
        self._proposing = proposing

    def title(self, arguments: JsonObject) -> str:
        return f"Create {titled(text(arguments, 'path'))}"

    def locations(self, arguments: JsonObject) -> Sequence[Location]:
        return [Location(self._proposing.view.place(text(arguments, "path")).uri)]

    async def run(self, arguments: JsonObject, run: ToolRun) -> ToolOutcome:
        view = self._proposing.view
        place = view.place(text(arguments, "path"))
        if await view.kind(place) is not None:
            return failure(f"{place.shown} is there already. Change it with edit_file or write_file.")
        if await view.kind(place.parent) not in (Kind.FOLDER, None):
            return failure(f"{place.shown} cannot be created: what should be its folder is a file.")
        change = Creation(place.uri, text(arguments, "content"))
        if outcome := await self._proposing.propose(self.spec.name, f"Create {place.shown}", change, run):
            return outcome
        try:
            now = await view.read(place)
        except OllmError as error:
            return failure(f"The editor said that it created {place.shown}, but it cannot be read: {error}")
        tag = self._proposing.log.note(now)
        if now.text != change.text:
            return failure(f"{place.shown} was created, but its text is not what you wrote. Read it; its tag is {tag}.")
        return ToolOutcome(f"{place.shown} was created. Its tag is {tag}.")
