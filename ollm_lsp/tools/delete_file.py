"""delete_file: a text file goes away, and can be brought back."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ollm_lsp.core.change import DeleteFile as Deletion
from ollm_lsp.core.errors import PermissionDenied, StaleDocument
from ollm_lsp.core.tool import Location, ToolKind, ToolOutcome, ToolSpec
from ollm_lsp.tools.parameters import PATH, parameters, text
from ollm_lsp.tools.proposing import failure
from ollm_lsp.tools.protected import is_backup, is_history
from ollm_lsp.tools.walk import Kind
from ollm_lsp.tools.words import titled

if TYPE_CHECKING:
    from collections.abc import Sequence

    from ollm_lsp.core.foreign_json import JsonObject
    from ollm_lsp.core.ports import ToolRun
    from ollm_lsp.tools.proposing import Proposing

_BY_HAND = "The user can do it themselves."


class DeleteFile:
    """One text file less. Only what can be read can be brought back, so nothing else is deleted."""

    spec = ToolSpec(
        "delete_file",
        "Delete one text file. The user decides about it. Folders cannot be deleted.",
        parameters({"path": PATH}, required=["path"]),
    )
    kind = ToolKind.DELETE

    def __init__(self, proposing: Proposing) -> None:
        self._proposing = proposing

    def title(self, arguments: JsonObject) -> str:
        return f"Delete {titled(text(arguments, 'path'))}"

    def locations(self, arguments: JsonObject) -> Sequence[Location]:
        return [Location(self._proposing.view.place(text(arguments, "path")).uri)]

    async def run(self, arguments: JsonObject, run: ToolRun) -> ToolOutcome:
        view, log = self._proposing.view, self._proposing.log
        place = view.place(text(arguments, "path"))
        path = "/".join(place.names)
        if is_history(path):
            raise PermissionDenied("The data of version control is never deleted.", remedy=_BY_HAND)
        if is_backup(path):
            raise PermissionDenied("Backups are never deleted.", remedy=_BY_HAND)
        kind = await view.kind(place)
        if kind is not Kind.FILE:
            return failure(f"{place.shown} {'cannot be deleted: it is no file' if kind else 'is not there'}.")
        current = await view.read(place)
        if log.base(current).text != current.text:
            raise StaleDocument(f"{place.shown} has changed since you read it.", remedy="Read it before you delete it.")
        change = Deletion(place.uri, current)
        if outcome := await self._proposing.propose(self.spec.name, f"Delete {place.shown}", change, run):
            return outcome
        if await view.kind(place) is not None:
            return failure(f"The editor said that it deleted {place.shown}, but it is still there.")
        log.forget(place.uri)
        return ToolOutcome(f"{place.shown} was deleted.")
