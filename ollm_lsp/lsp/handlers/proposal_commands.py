"""ollm.proposal.accept, reject, show and revert."""

from __future__ import annotations

from contextlib import suppress
from dataclasses import replace
from typing import TYPE_CHECKING, assert_never

from ollm_lsp.core.applied import Done, Failed, Rejected, Stale
from ollm_lsp.core.change import CreateFile, RenameFile
from ollm_lsp.core.errors import PermissionDenied, StaleDocument, StoreFailed, Unsupported
from ollm_lsp.core.rebase import renewed
from ollm_lsp.lsp.desk import desk_of
from ollm_lsp.lsp.session import new_id
from ollm_lsp.lsp.show import tell

if TYPE_CHECKING:
    from ollm_lsp.core.change import Change, Proposal
    from ollm_lsp.lsp.protocol import ProposalParams, SettleParams
    from ollm_lsp.lsp.session import Session
    from ollm_lsp.tools.broker import Broker

_GONE = "It may have been decided already, or its chat has ended."


async def accept(session: Session, params: SettleParams) -> None:
    """A yes to a proposal, or to one hunk of it."""
    _settle(session, params, accepts=True)


async def reject(session: Session, params: SettleParams) -> None:
    """A no, which may carry a word to the model."""
    _settle(session, params, accepts=False)


def _settle(session: Session, params: SettleParams, *, accepts: bool) -> None:
    if not session.proposals.settle(params.id, accepts=accepts, hunk=params.hunk, feedback=params.feedback or None):
        raise Unsupported("That proposal does not wait for an answer.", remedy=_GONE)


async def show(session: Session, params: ProposalParams) -> dict[str, str]:
    """Show what a proposal would change."""
    pending = session.proposals.get(params.id)
    if pending is None:
        raise Unsupported("That proposal does not wait for an answer.", remedy=_GONE)
    await tell(session, pending.request.title, pending.request.detail)
    return {"title": pending.request.title, "detail": pending.request.detail}


async def revert(session: Session, params: ProposalParams) -> dict[str, str]:
    """Take back a proposal that was accepted, or the last one that still stands. What was typed since then stays."""
    store = await session.services.proposals()
    wanted = params.id or await store.newest()
    reverse = await store.revert(wanted, new_id()) if wanted else None
    if wanted is None or reverse is None:
        raise Unsupported("There is no such proposal to take back.", remedy="Use the editor's undo.")
    settings = (await session.settings()).settings
    toolset = await session.services.toolset()
    broker = toolset.broker(desk_of(session, settings, "", is_external=False))
    applied = await broker.make(await _rebased(broker, reverse))
    match applied:
        case Done():
            # Neither of them changes anything any more; so the one before is the next to be taken back.
            with suppress(StoreFailed):
                await store.settle(wanted, ())
                await store.settle(reverse.id, ())
            return {"id": wanted}
        case Stale(uri):
            raise StaleDocument(f"{uri} has changed where it would be taken back.", remedy="Use the editor's undo.")
        case Rejected():
            raise PermissionDenied("The editor did not take it back.", remedy="Use the editor's undo.")
        case Failed(reason):
            raise Unsupported(reason, remedy="Use the editor's undo, or version control.")
        case _:
            assert_never(applied)


async def _rebased(broker: Broker, proposal: Proposal) -> Proposal:
    """The same on the texts that there are now; raises `StaleDocument`."""
    changes = [await _renewed(broker, change) for change in proposal.changes]
    return replace(proposal, changes=tuple(changes))


async def _renewed(broker: Broker, change: Change) -> Change:
    if isinstance(change, CreateFile | RenameFile):
        return change  # the broker looks whether something is in the way
    current = await broker.workspace.read(broker.workspace.place(change.uri))
    fresh = renewed(change, current)
    if fresh is None:
        raise StaleDocument(f"{change.uri} has changed where it would be taken back.", remedy="Use the editor's undo.")
    return fresh
