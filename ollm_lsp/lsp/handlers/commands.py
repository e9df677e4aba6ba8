"""workspace/executeCommand: one function for each command, with the object that is its argument."""

from __future__ import annotations

from contextlib import suppress
from dataclasses import replace
from typing import TYPE_CHECKING, Any, assert_never

from ollm_lsp.core.applied import Done, Failed, Rejected, Stale
from ollm_lsp.core.change import CreateFile, RenameFile
from ollm_lsp.core.errors import OllmError, PermissionDenied, StaleDocument, StoreFailed, Unsupported
from ollm_lsp.core.foreign_json import object_in, text_in
from ollm_lsp.core.rebase import renewed
from ollm_lsp.lsp.desk import desk_of
from ollm_lsp.lsp.session import new_id
from ollm_lsp.lsp.show import tell

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable

    from ollm_lsp.core.change import Change, Proposal
    from ollm_lsp.lsp.protocol import ExecuteCommandParams
    from ollm_lsp.lsp.session import Session
    from ollm_lsp.tools.broker import Broker

_GONE = "It may have been decided already, or its chat has ended."


async def execute(session: Session, params: ExecuteCommandParams) -> Any:
    """Run a command. A failure is shown as well: many editors do not show the error of a command."""
    command = COMMANDS.get(params.command)
    try:
        if command is None:
            raise Unsupported(f"There is no command {params.command}.", remedy="Update the editor's plugin.")
        return await command(session, object_in(params.arguments[0] if params.arguments else {}))
    except OllmError as error:
        session.rpc.notify("window/showMessage", {"type": 1, "message": f"ollm: {error}"})
        raise


async def _accept(session: Session, argument: dict[str, Any]) -> None:
    _settle(session, argument, accepts=True)


async def _reject(session: Session, argument: dict[str, Any]) -> None:
    _settle(session, argument, accepts=False)


def _settle(session: Session, argument: dict[str, Any], *, accepts: bool) -> None:
    hunk, feedback = argument.get("hunk"), text_in(argument.get("feedback")) or None
    # Without a number all of it is meant; what is no number must not mean the same.
    is_number = hunk is None or type(hunk) is int
    if not is_number or not session.proposals.settle(
        text_in(argument.get("id")), accepts=accepts, hunk=hunk, feedback=feedback
    ):
        raise Unsupported("That proposal does not wait for an answer.", remedy=_GONE)


async def _show(session: Session, argument: dict[str, Any]) -> dict[str, str]:
    pending = session.proposals.get(text_in(argument.get("id")))
    if pending is None:
        raise Unsupported("That proposal does not wait for an answer.", remedy=_GONE)
    await tell(session, pending.request.title, pending.request.detail)
    return {"title": pending.request.title, "detail": pending.request.detail}


async def _revert(session: Session, argument: dict[str, Any]) -> dict[str, str]:
    """Take back a proposal that was accepted, or the last one that still stands. What was typed since then stays."""
    store = await session.services.proposals()
    wanted = text_in(argument.get("id")) or await store.newest()
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


COMMANDS: dict[str, Callable[[Session, dict[str, Any]], Awaitable[Any]]] = {
    "ollm.proposal.accept": _accept,
    "ollm.proposal.reject": _reject,
    "ollm.proposal.show": _show,
    "ollm.proposal.revert": _revert,
}
