"""Landing: a change that came of an action is brought onto the document as it is by now, asked about, and made."""

from __future__ import annotations

import asyncio
from contextlib import nullcontext
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, assert_never

from ollm_lsp.core.applied import Done, Failed, Rejected, Stale
from ollm_lsp.core.change import CreateFile, EditText, Proposal, kind_of
from ollm_lsp.core.errors import OllmError
from ollm_lsp.core.permission import PermissionRequest
from ollm_lsp.core.rebase import rebased
from ollm_lsp.core.shown import shown
from ollm_lsp.core.snapshot import Snapshot
from ollm_lsp.core.tests_of import tests_of
from ollm_lsp.core.visible import visible_name
from ollm_lsp.lsp import uris
from ollm_lsp.lsp.desk import desk_of
from ollm_lsp.lsp.permission import EditorOfSession
from ollm_lsp.lsp.session import new_id
from ollm_lsp.tools.gate import Matter
from ollm_lsp.tools.walk import Kind

if TYPE_CHECKING:
    from contextlib import AbstractContextManager

    from ollm_lsp.core.applied import Applied
    from ollm_lsp.core.change import Change
    from ollm_lsp.lsp.session import Session
    from ollm_lsp.settings.resolved import Settings
    from ollm_lsp.tools.broker import Broker

ATTEMPTS = 3
"""How often a change is proposed anew when the document changed while the user thought about it."""


@dataclass(frozen=True, slots=True)
class Landed:
    """What became of a change; without a reason it was made, or the user said no."""

    applied: bool
    reason: str = ""


class OwnRun:
    """The broker's view of who wants a change that no tool asks for: there is no time limit."""

    id = "action"

    def asking(self) -> AbstractContextManager[None]:
        return nullcontext()


class Landing:
    """The way to a change of one document, or of a file beside it."""

    def __init__(self, session: Session, broker: Broker, uri: str) -> None:
        self._session = session
        self._broker = broker
        self._uri = uri

    @classmethod
    async def of(cls, session: Session, settings: Settings, conversation_id: str, uri: str) -> Landing:
        """In the workspace, and in the folder of the document wherever that is: its user has opened it."""
        desk = desk_of(session, settings, conversation_id, is_external=False)
        own = uris.folder(uri)
        if own is not None and own.is_absolute() and not any(own.is_relative_to(folder) for folder in desk.folders):
            desk = replace(desk, folders=(*desk.folders, own.parent))
        return cls(session, (await session.services.toolset()).broker(desk), uri)

    async def edit(self, title: str, base: Snapshot, text: str) -> Landed:
        """Propose that a text becomes another; what was typed since the base stays."""
        wanted = EditText(self._uri, base, text)
        for _ in range(ATTEMPTS):
            document = self._session.documents.get(self._uri)
            if document is None:
                return Landed(applied=False, reason="The document was closed meanwhile.")
            current = Snapshot(self._uri, document.buffer.text, document.version)
            edit = await asyncio.to_thread(rebased, wanted, current)
            if edit is None:
                return Landed(applied=False, reason="The document has changed in the same place meanwhile.")
            if edit.text == current.text:
                return Landed(applied=False, reason="There is nothing to change.")
            applied = await self._propose("edit_file", title, edit)
            if not isinstance(applied, Stale):
                return _landed(applied)
        return Landed(applied=False, reason="The document changed each time while you were asked.")

    async def tests(self, title: str, text: str) -> Landed:
        """Propose the file for the tests of the document, where its language has a place for it and none is there."""
        try:
            place = self._broker.workspace.place_of(self._uri)
            if place is None:
                return Landed(applied=False, reason="The document is no file: there is no place beside it for tests.")
            places = [replace(place, names=names) for names in tests_of(place.names)]
            if not places:
                return Landed(applied=False, reason="It is not known where tests of this language belong.")
            for test in places:
                if await self._broker.workspace.kind(test) is not None:
                    return Landed(applied=False, reason=f"{test.shown} is there already.")
            folders = [test for test in places if await self._broker.workspace.kind(test.parent) is Kind.FOLDER]
            chosen = (folders or places)[0]
            return _landed(await self._propose("create_file", title, CreateFile(chosen.uri, text)))
        except OllmError as error:
            return Landed(applied=False, reason=str(error))

    async def _propose(self, tool: str, title: str, change: Change) -> Applied:
        proposal = Proposal(new_id(), tool, visible_name(title), (change,))
        try:
            if uris.folder(change.uri) is None:
                return await self._propose_no_file(proposal, change)
            return await self._broker.propose(proposal, OwnRun())
        except OllmError as error:
            return Failed(str(error))

    async def _propose_no_file(self, proposal: Proposal, change: Change) -> Applied:
        """For a document that only the editor has: it is in no folder, and there is nothing on the disk to keep."""
        kind, editor = kind_of(change), EditorOfSession(self._session)
        path = uris.display_path(change.uri).partition(":")[2].lstrip("/")
        matter = Matter(proposal.tool, kind, (path,), change.uri)
        settled = await self._broker.gate.verdict(matter, self._broker.conversation_id)
        if settled is not None:
            return await editor.apply(proposal) if settled.allowed else Rejected(settled.feedback)
        detail = shown(proposal, lambda uri: visible_name(uris.display_path(uri)))
        request = PermissionRequest(proposal.tool, kind, proposal.title, detail, proposal.digest)
        offered = await editor.offer(proposal, request, may_stand=False)
        if offered.asks_later or offered.reply.option.allows:
            return await editor.apply(offered.proposal, asks=offered.asks_later)
        return Rejected(offered.reply.feedback)


def _landed(applied: Applied) -> Landed:
    match applied:
        case Done():
            return Landed(applied=True)
        case Rejected(feedback):
            return Landed(applied=False, reason=feedback or "")
        case Failed(reason):
            return Landed(applied=False, reason=reason)
        case Stale(uri):
            return Landed(applied=False, reason=f"{Path(uri).name} has changed meanwhile.")
        case _:
            assert_never(applied)
