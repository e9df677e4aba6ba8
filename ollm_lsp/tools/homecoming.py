"""Homecoming: edits that somebody else wants are brought onto the documents as they are, and proposed to the user."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Final, assert_never
from uuid import uuid4

from ollm_lsp.core.applied import Done, Failed, Rejected, Stale
from ollm_lsp.core.change import CreateFile, DeleteFile, EditText, Proposal, uris
from ollm_lsp.core.errors import OllmError, StaleDocument
from ollm_lsp.core.foreign_edit import ForeignEdit, Landed
from ollm_lsp.core.lines import adopted
from ollm_lsp.core.rebase import rebased
from ollm_lsp.core.search_replace import Block, NoMatch, replaced
from ollm_lsp.core.tool import ToolKind
from ollm_lsp.core.visible import visible_name
from ollm_lsp.tools.walk import Kind

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence

    from ollm_lsp.core.applied import Applied
    from ollm_lsp.core.change import Change
    from ollm_lsp.core.ports import ToolRun
    from ollm_lsp.core.snapshot import Snapshot
    from ollm_lsp.tools.broker import Broker
    from ollm_lsp.tools.roots import Place

ATTEMPTS: Final = 3
"""How often changes are proposed anew when a document changed while the user thought about them."""
_TOOLS: Final = {EditText: "edit_file", CreateFile: "create_file", DeleteFile: "delete_file"}
"""Under whose rules a change is. Those of one tool are one proposal, so that no rule for one lets another pass."""


def _new_id() -> str:
    return uuid4().hex


@dataclass(frozen=True, slots=True)
class Homecoming:
    """The way home to one workspace; `known` are the open documents as they were when the other side began."""

    broker: Broker
    known: Mapping[str, Snapshot]
    new_id: Callable[[], str] = field(default=_new_id)

    async def land(self, edits: Iterable[ForeignEdit], who: str, run: ToolRun) -> Landed:
        """Propose the edits; all that the user takes is made, by their editor."""
        landed = Landed()
        changes: dict[str, Change] = {}
        for place, wanted in self._by_place(edits, landed).items():
            try:
                change = await self._change(place, wanted)
            except (OllmError, NoMatch) as reason:
                landed.missed[visible_name(wanted[0].path)] = str(reason).rstrip(".")
                continue
            if change is not None and changes.setdefault(change.uri, change) is not change:
                landed.missed[visible_name(wanted[0].path)] = "it is named in another way before"
        for kind, tool in _TOOLS.items():
            if some := [change for change in changes.values() if isinstance(change, kind)]:
                await self._propose(tool, who, some, landed, run)
        return landed

    def _by_place(self, edits: Iterable[ForeignEdit], landed: Landed) -> dict[Place, list[ForeignEdit]]:
        """The edits of each file in their order, however its path is written. What was tried twice is wanted once."""
        found: dict[Place, list[ForeignEdit]] = {}
        for edit in dict.fromkeys(edits):
            try:
                found.setdefault(self.broker.workspace.place(edit.path), []).append(edit)
            except OllmError as reason:
                landed.missed[visible_name(edit.path)] = str(reason).rstrip(".")
        return found

    async def _propose(self, tool: str, who: str, changes: Sequence[Change], landed: Landed, run: ToolRun) -> None:
        shown = {change.uri: visible_name(self.broker.workspace.place(change.uri).shown) for change in changes}
        applied: Applied = Stale("")
        for _ in range(ATTEMPTS):
            proposal = Proposal(self.new_id(), tool, f"{who}: {', '.join(shown.values())}", tuple(changes))
            applied = await self.broker.propose(proposal, run)
            if not isinstance(applied, Stale):
                break
            try:
                changes = [await self._renewed(change) for change in changes]
            except OllmError:
                break
        missed = _missed(changes, applied)
        if isinstance(applied, Done):
            missed = {change.uri: "you left it out" for change in changes if not await self._is_touched(change)}
        landed.made += [path for uri, path in shown.items() if uri not in missed]
        landed.missed |= {shown[uri]: why for uri, why in missed.items()}

    async def _change(self, place: Place, edits: Sequence[ForeignEdit]) -> Change | None:
        """The one change that the edits of a file come to; nothing when it is as they want it already."""
        kind = await self.broker.workspace.kind(place)
        if kind is None:
            return _creation(place, edits)
        if kind is not Kind.FILE:
            raise NoMatch("it is not a file")
        current = await self.broker.workspace.read(place)
        if edits[-1].kind is ToolKind.DELETE:
            return DeleteFile(current.uri, current)
        base = self.known.get(current.uri, current)
        text = await asyncio.to_thread(_edited, base.text, edits)
        edit = await asyncio.to_thread(rebased, EditText(current.uri, base, text), current)
        if edit is None:
            raise NoMatch("you have changed the same place meanwhile")
        return edit if edit.text != current.text else None

    async def _is_touched(self, change: Change) -> bool:
        """Whether anything of a change was made: the user may have taken a part of a proposal."""
        workspace = self.broker.workspace
        place = workspace.place(change.uri)
        if isinstance(change, EditText):
            try:
                return (await workspace.read(place)).text != change.base.text
            except OllmError:
                return True
        return (await workspace.kind(place) is None) is isinstance(change, DeleteFile)

    async def _renewed(self, change: Change) -> Change:
        """The same change of what there is now."""
        workspace = self.broker.workspace
        if not isinstance(change, EditText):
            raise StaleDocument("It has changed.", remedy="Ask again.")
        current = await workspace.read(workspace.place(change.uri))
        edit = await asyncio.to_thread(rebased, change, current)
        if edit is None:
            raise StaleDocument("It has changed in the same place.", remedy="Ask again.")
        return edit


def _creation(place: Place, edits: Sequence[ForeignEdit]) -> Change:
    last = edits[-1]
    if last.kind is ToolKind.DELETE or last.before or last.after is None:
        raise NoMatch("there is no such file")
    text = last.after
    return CreateFile(place.uri, text if text.endswith("\n") or not text else f"{text}\n")


def _edited(text: str, edits: Sequence[ForeignEdit]) -> str:
    """The text with the edits, one after the other; raises `NoMatch`."""
    for edit in edits:
        if edit.after is None:
            raise NoMatch("it was not told how")
        if edit.before is None and edit.kind is ToolKind.CREATE:
            raise NoMatch("it is there already")
        if edit.before is None:
            text = edit.after if "\r" in edit.after else adopted(edit.after, text)
            continue
        try:
            text = replaced(text, [Block(edit.before, edit.after)])
        except NoMatch:
            if not edit.after.strip() or edit.after not in text:
                raise
    return text


def _missed(changes: Sequence[Change], applied: Applied) -> dict[str, str]:
    """The documents that were not changed, and why."""
    match applied:
        case Done():
            return {}
        case Rejected(feedback):
            why = f"you said no: {feedback.rstrip('.')}" if feedback else "you said no"
        case Failed(reason):
            why = reason.rstrip(".")
        case Stale():
            why = "it changed while you were asked"
        case _:
            assert_never(applied)
    made = {uri for change in (applied.done if isinstance(applied, Failed) else ()) for uri in uris(change)}
    return {change.uri: why for change in changes if change.uri not in made}
