"""The broker: nothing is changed or run but through it, by a rule of the user or with their yes."""

from __future__ import annotations

import asyncio
from contextlib import suppress
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, assert_never

from ollm_lsp.core.applied import Done, Failed, Rejected, Stale
from ollm_lsp.core.before_image import BeforeImage
from ollm_lsp.core.change import CreateFile, DeleteFile, EditText, RenameFile, kind_of, uris
from ollm_lsp.core.errors import OllmError, StoreFailed
from ollm_lsp.core.permission import Option, PermissionRequest, Verdict
from ollm_lsp.core.shown import shown
from ollm_lsp.tools.gate import Matter
from ollm_lsp.tools.walk import Kind

if TYPE_CHECKING:
    from collections.abc import Sequence

    from ollm_lsp.core.applied import Applied
    from ollm_lsp.core.change import Change, Proposal
    from ollm_lsp.core.permission import Reply
    from ollm_lsp.core.ports import Editor, ProposalStore, ToolRun
    from ollm_lsp.core.snapshot import Snapshot
    from ollm_lsp.tools.gate import Gate
    from ollm_lsp.tools.roots import Place
    from ollm_lsp.tools.workspace import Workspace


@dataclass(frozen=True, slots=True)
class Broker:
    """What stands between the tools of one conversation and the world."""

    editor: Editor
    workspace: Workspace
    gate: Gate
    conversation_id: str
    proposals: ProposalStore | None = None
    making: asyncio.Lock = field(default_factory=asyncio.Lock)
    """Held while a change is made: what is due is only true until the next change, of whatever conversation."""

    async def permit(self, request: PermissionRequest, run: ToolRun) -> Verdict:
        """Ask for something that is not a change of files."""
        matter = Matter(request.tool, request.kind, (), request.scope)
        if (settled := await self.gate.verdict(matter, self.conversation_id)) is not None:
            return settled
        with run.asking():
            reply = await self.editor.ask(request, may_stand=self.gate.may_stand(matter))
        await self._keep(reply, matter)
        return Verdict(reply.option.allows, reply.feedback)

    async def propose(self, proposal: Proposal, run: ToolRun) -> Applied:
        """Ask for changes, and have made what was shown or nothing."""
        request, matter = await self._asked(proposal)
        if (settled := await self.gate.verdict(matter, self.conversation_id)) is not None:
            return await self.make(proposal) if settled.allowed else Rejected(settled.feedback)
        with run.asking():
            offered = await self.editor.offer(proposal, request, may_stand=self.gate.may_stand(matter))
            if offered.asks_later:
                return await self.make(offered.proposal, asks=True)
        await self._keep(offered.reply, matter)
        return await self.make(offered.proposal) if offered.reply.option.allows else Rejected(offered.reply.feedback)

    async def make(self, proposal: Proposal, *, asks: bool = False) -> Applied:
        """Have the editor make changes that the user allowed, after what was before is safe."""
        try:
            await self._record(proposal)
        except StoreFailed as error:
            return Failed(f"What was there before cannot be kept, so nothing is changed. {error}")
        async with self.making:
            stale = await self._stale(proposal)
            applied = stale or await self._seen(proposal, await self.editor.apply(proposal, asks=asks))
        if self.proposals is not None:
            # Without that, whoever takes the proposal back has to look at all of its changes.
            with suppress(StoreFailed):
                await self.proposals.settle(proposal.id, _done(proposal, applied))
        return applied

    async def _stale(self, proposal: Proposal) -> Stale | None:
        """The first document that is not what the proposal was computed on. The editor follows links, so any is one."""
        for change in proposal.changes:
            try:
                if not await self._is_due(change):
                    return Stale(change.uri)
            except OllmError:
                return Stale(change.uri)
        return None

    async def _is_due(self, change: Change) -> bool:
        match change:
            case EditText(uri, base) | DeleteFile(uri, base):
                now = await self._text(uri)
                return now is not None and now.text == base.text
            case CreateFile(uri):
                return await self._kind(uri) is None
            case RenameFile(uri, new_uri):
                return await self._kind(uri) in (Kind.FILE, Kind.FOLDER) and await self._kind(new_uri) is None
            case _:
                assert_never(change)

    async def _seen(self, proposal: Proposal, applied: Applied) -> Applied:
        """What became of a proposal, by looking: an editor may fail half-way, or never say what it did."""
        if isinstance(applied, Stale):
            return applied
        is_made = [await self._is_made(change) for change in proposal.changes]
        if isinstance(applied, Rejected):
            if not any(is_made):
                return applied
            applied = Failed("The editor said that the change was rejected, but made it.")
        if isinstance(applied, Failed) and not all(is_made):
            done = tuple(change for change, made in zip(proposal.changes, is_made, strict=True) if made)
            first = next(change for change, made in zip(proposal.changes, is_made, strict=True) if not made)
            return Failed(applied.reason, applied.failed or first, done)
        return Done()

    async def _is_made(self, change: Change) -> bool:
        try:
            match change:
                case EditText(uri, _, text) | CreateFile(uri, text):
                    now = await self._text(uri)
                    return now is not None and now.text == text
                case RenameFile(uri, new_uri):
                    return await self._kind(uri) is None and await self._kind(new_uri) is not None
                case DeleteFile(uri):
                    return await self._kind(uri) is None
                case _:
                    assert_never(change)
        except OllmError:
            return False

    async def _text(self, uri: str) -> Snapshot | None:
        try:
            return await self.workspace.read(self.workspace.place(uri))
        except OllmError:
            return None

    async def _kind(self, uri: str) -> Kind | None:
        return await self.workspace.kind(self.workspace.place(uri))

    async def _keep(self, reply: Reply, matter: Matter) -> None:
        """Let an answer stand that the user gave for more than this time."""
        if reply.option in (Option.ALLOW_ONCE, Option.REJECT_ONCE):
            return
        for_good = reply.option is not Option.ALLOW_SESSION
        # Where it cannot be kept for good, it stands for this conversation.
        with suppress(StoreFailed):
            await self.gate.keep(matter, self.conversation_id, allows=reply.option.allows, for_good=for_good)

    async def _record(self, proposal: Proposal) -> None:
        if self.proposals is None:
            return
        touched = [uri for change in proposal.changes for uri in uris(change)]
        images = [BeforeImage(uri, await self._bytes(self.workspace.place(uri))) for uri in touched]
        await self.proposals.record(proposal, images)

    async def _bytes(self, place: Place) -> bytes | None:
        try:
            return await self.workspace.raw(place)
        except OllmError:
            return None  # a folder, or nothing at all

    async def _asked(self, proposal: Proposal) -> tuple[PermissionRequest, Matter]:
        """What the user is shown of a proposal, and what the rules look at."""
        places = [self.workspace.place(uri) for change in proposal.changes for uri in uris(change)]
        paths = tuple("/".join(place.names) for place in places)
        # Of several kinds the one that is asked about in any case: all of them change something.
        kind = kind_of(proposal.changes[0])
        is_folder = Kind.FOLDER in [await self.workspace.kind(place) for place in places]
        detail = shown(proposal, lambda uri: str(self.workspace.place(uri).path))
        request = PermissionRequest(proposal.tool, kind, proposal.title, detail, proposal.digest)
        # Two folders of a workspace may have a file of the same name.
        about = "\n".join(str(place.path) for place in places)
        return request, Matter(proposal.tool, kind, paths, about, is_folder=is_folder)


def _done(proposal: Proposal, applied: Applied) -> Sequence[Change]:
    match applied:
        case Done():
            return proposal.changes
        case Failed(done=done):
            return done
        case Rejected() | Stale():
            return ()
