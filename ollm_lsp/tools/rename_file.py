"""rename_file: a file or a folder moves to where nothing is."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ollm_lsp.core.change import RenameFile as Move
from ollm_lsp.core.errors import OllmError, PermissionDenied
from ollm_lsp.core.tool import Location, ToolKind, ToolOutcome, ToolSpec
from ollm_lsp.tools.parameters import PATH, parameters, text
from ollm_lsp.tools.proposing import failure
from ollm_lsp.tools.protected import is_history
from ollm_lsp.tools.walk import Kind
from ollm_lsp.tools.words import titled

if TYPE_CHECKING:
    from collections.abc import Sequence

    from ollm_lsp.core.foreign_json import JsonObject
    from ollm_lsp.core.ports import ToolRun
    from ollm_lsp.tools.proposing import Proposing
    from ollm_lsp.tools.roots import Place

_NEW_PATH: dict[str, Any] = {"type": "string", "minLength": 1, "description": "Its new path. Nothing may be there yet."}


class RenameFile:
    """Another name or another folder for one file or folder."""

    spec = ToolSpec(
        "rename_file",
        "Move or rename a file or folder. Its new folder must exist, its new path must not. The user decides about it.",
        parameters({"path": PATH, "new_path": _NEW_PATH}, required=["path", "new_path"]),
    )
    kind = ToolKind.MOVE

    def __init__(self, proposing: Proposing) -> None:
        self._proposing = proposing

    def title(self, arguments: JsonObject) -> str:
        return f"Move {titled(text(arguments, 'path'))} to {titled(text(arguments, 'new_path'))}"

    def locations(self, arguments: JsonObject) -> Sequence[Location]:
        place = self._proposing.view.place
        return [Location(place(text(arguments, "path")).uri), Location(place(text(arguments, "new_path")).uri)]

    async def run(self, arguments: JsonObject, run: ToolRun) -> ToolOutcome:
        view = self._proposing.view
        old, new = view.place(text(arguments, "path")), view.place(text(arguments, "new_path"))
        if is_history("/".join(old.names)) or is_history("/".join(new.names)):
            raise PermissionDenied(
                "The data of version control is never moved.", remedy="The user can do it themselves."
            )
        if reason := await self._obstacle(old, new):
            return failure(f"{reason} Nothing was moved.")
        kind, text_before = await view.kind(old), await self._text(old, only_closed=True)
        change = Move(old.uri, new.uri)
        title = f"Move {old.shown} to {new.shown}"
        if outcome := await self._proposing.propose(self.spec.name, title, change, run):
            return outcome
        is_there = await view.kind(old) is None and await view.kind(new) == kind
        if not is_there or (text_before is not None and await self._text(new) != text_before):
            return failure(
                f"The editor said that it moved {old.shown}, but {new.shown} is not what it was. Look there."
            )
        self._proposing.log.move(old.uri, new.uri)
        return ToolOutcome(f"{old.shown} is now {new.shown}.")

    async def _text(self, place: Place, *, only_closed: bool = False) -> str | None:
        """What a file says, if it can be read: between file systems an editor copies it, and a copy can be cut."""
        try:
            snapshot = await self._proposing.view.read(place)
        except OllmError:
            return None
        return None if only_closed and snapshot.version is not None else snapshot.text

    async def _obstacle(self, old: Place, new: Place) -> str | None:
        view = self._proposing.view
        if await view.kind(old) not in (Kind.FILE, Kind.FOLDER):
            return f"{old.shown} is not a file or folder."
        if new.path == old.path or old.path in new.path.parents:
            return f"{old.shown} cannot be moved to {new.shown}, which is the same or inside it."
        if await view.kind(new) is not None:
            return f"{new.shown} is there already."
        if await view.kind(new.parent) is not Kind.FOLDER:
            return f"The folder of {new.shown} is not there."
        return None
