"""workspace/applyEdit: the only way in which a file is ever changed."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

from pygls.exceptions import JsonRpcException

from ollm_lsp.core.applied import Done, Failed, Rejected, Stale
from ollm_lsp.core.change import CreateFile, EditText, Proposal
from ollm_lsp.core.foreign_json import object_in, text_in
from ollm_lsp.core.snapshot import Snapshot
from ollm_lsp.lsp.workspace_edit import CannotApply, workspace_edit

if TYPE_CHECKING:
    from ollm_lsp.core.applied import Applied
    from ollm_lsp.core.change import Change
    from ollm_lsp.lsp.session import Session

APPLY_TIME = 30.0
"""Seconds for an edit that needs no question. Some clients make it and never say so."""
ECHO_TIME = 2.0
"""Seconds in which a client tells that an open document has changed: some do so only after their answer."""


async def apply(
    session: Session, proposal: Proposal, *, ask_time: float | None = None, apply_time: float = APPLY_TIME
) -> Applied:
    """Let the editor make the changes. With a time for asking, it confirms them with its user first."""
    if not session.client.apply_edit:
        return Failed("This editor does not make changes at the request of a language server.")
    current = _on_open_documents(session, proposal)
    if isinstance(current, Stale):
        return current
    try:
        edit = workspace_edit(current, session.client, asks=ask_time is not None)
    except CannotApply as reason:
        return Failed(str(reason))
    params = {"label": proposal.title, "edit": edit}
    try:
        answer = object_in(await session.rpc.ask("workspace/applyEdit", params, timeout=ask_time or apply_time))
    except TimeoutError:
        return Rejected() if ask_time else Failed("The editor did not say whether it made the change.")
    except JsonRpcException as error:
        return Failed(f"The editor refused the change: {error.message}.")
    if answer.get("applied") is not True:
        if ask_time is not None:
            return Rejected()
        reason = text_in(answer.get("failureReason")) or "it gave no reason"
        return Failed(f"The editor did not make the change: {reason}.", _failed(current, answer.get("failedChange")))
    await _echo(session, current)
    return Done()


def _on_open_documents(session: Session, proposal: Proposal) -> Proposal | Stale:
    """The proposal with the versions of the documents as they are now, if they still say what it was computed on."""
    changes: list[Change] = []
    for change in proposal.changes:
        document = session.documents.get(change.uri)
        if document is None or not isinstance(change, EditText):
            changes.append(change)
        elif document.buffer.text != change.base.text:
            return Stale(change.uri)
        else:
            base = Snapshot(change.uri, change.base.text, document.version)
            changes.append(replace(change, base=base))
    return replace(proposal, changes=tuple(changes))


async def _echo(session: Session, proposal: Proposal) -> None:
    """Wait until the open documents are what the editor made of them, so that nobody computes on what was before."""
    before = {
        change.uri: change.base.version
        for change in proposal.changes
        if isinstance(change, EditText) and change.base.version is not None
    }

    def has_come() -> bool:
        documents = [session.documents.get(change.uri) for change in proposal.changes]
        return all(document is None or document.version != before.get(document.uri) for document in documents) and all(
            not isinstance(change, CreateFile) or document is None or document.buffer.text == change.text
            for change, document in zip(proposal.changes, documents, strict=True)
        )

    await session.documents.until(has_come, seconds=ECHO_TIME)


def _failed(proposal: Proposal, index: Any) -> Change | None:
    """The change that the client means by the number of a step; a file that is created and filled takes two."""
    steps = [
        change for change in proposal.changes for _ in range(2 if isinstance(change, CreateFile) and change.text else 1)
    ]
    return steps[index] if isinstance(index, int) and 0 <= index < len(steps) else None
