"""textDocument/codeAction: what can be decided here. No model is asked."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ollm_lsp.core.foreign_json import object_in
from ollm_lsp.lsp import uris
from ollm_lsp.lsp.proposals import SOURCE

if TYPE_CHECKING:
    from collections.abc import Iterator

    from ollm_lsp.lsp.proposals import Hunk, Pending
    from ollm_lsp.lsp.protocol import CodeActionParams, Range
    from ollm_lsp.lsp.session import Session

KIND = "quickfix.ollm"
ACCEPT, REJECT, SHOW = "ollm.proposal.accept", "ollm.proposal.reject", "ollm.proposal.show"


async def code_action(session: Session, params: CodeActionParams) -> list[dict[str, Any]]:
    """The decisions about proposals that wait: first those about this place, then all others."""
    uri = params.text_document.uri
    others = [one for one in map(object_in, params.context.diagnostics) if one.get("source") != SOURCE]
    session.diagnostics[uri] = others
    if params.context.only is not None and not any(_covers(only) for only in params.context.only):
        return []
    actions: list[dict[str, Any]] = []
    for pending in session.proposals:
        hunks = [hunk for hunk in pending.hunks(session.client.encoding) if _is_at(hunk, uri, params.range)]
        if len(pending.hunks(session.client.encoding)) > 1:
            actions += (action for hunk in hunks for action in _of_hunk(pending, hunk))
        actions += _of_whole(pending)
    return actions


def _of_hunk(pending: Pending, hunk: Hunk) -> Iterator[dict[str, Any]]:
    where = f"line {hunk.range['start']['line'] + 1}"
    for title, command in ((f"Accept the change at {where}", ACCEPT), (f"Reject the change at {where}", REJECT)):
        yield _action(f"{title}: {pending.request.title}", command, {"id": pending.proposal.id, "hunk": hunk.number})


def _of_whole(pending: Pending) -> Iterator[dict[str, Any]]:
    for verb, command in (("Accept", ACCEPT), ("Reject", REJECT), ("Show", SHOW)):
        yield _action(f"{verb}: {pending.request.title}", command, {"id": pending.proposal.id})


def _action(title: str, command: str, argument: dict[str, Any]) -> dict[str, Any]:
    return {"title": title, "kind": KIND, "command": {"title": title, "command": command, "arguments": [argument]}}


def _is_at(hunk: Hunk, uri: str, place: Range) -> bool:
    if uris.key(hunk.uri) != uris.key(uri):
        return False
    first, last = sorted((place.start.line, place.end.line))
    return hunk.range["start"]["line"] <= last and first <= hunk.range["end"]["line"]


def _covers(only: str) -> bool:
    return only == KIND or KIND.startswith(f"{only}.")
