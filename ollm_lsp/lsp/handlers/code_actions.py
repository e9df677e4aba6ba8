"""textDocument/codeAction: what can be decided and done here. No model is asked, and nothing is waited for."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ollm_lsp.core.foreign_json import object_in
from ollm_lsp.lsp import uris
from ollm_lsp.lsp.handlers.chat_document import chat_offers
from ollm_lsp.lsp.offers import AUTOMATIC, Offer, offers
from ollm_lsp.lsp.place import remember
from ollm_lsp.lsp.protocol import QUICKFIX
from ollm_lsp.lsp.published import SOURCE

if TYPE_CHECKING:
    from collections.abc import Iterator

    from ollm_lsp.lsp.proposals import Hunk, Pending
    from ollm_lsp.lsp.protocol import Range
    from ollm_lsp.lsp.session import Session
    from ollm_lsp.lsp.standard import CodeActionParams

ACCEPT, REJECT, SHOW = "ollm.proposal.accept", "ollm.proposal.reject", "ollm.proposal.show"


async def code_action(session: Session, params: CodeActionParams) -> list[dict[str, Any]]:
    """What a chat document offers, decisions about proposals that wait, and what a model can do here."""
    uri, context = params.text_document.uri, params.context
    others = [one for one in map(object_in, context.diagnostics) if one.get("source") != SOURCE]
    session.diagnostics[uri] = others
    remember(session, uri, params.range)
    session.renew_settings()
    if context.trigger_kind == AUTOMATIC and context.only:
        # An editor that runs actions of some kind by itself, as before it saves, gets none: no model runs unasked.
        return []
    found = [*chat_offers(session, params), *_decisions(session, params), *offers(session, params, others)]
    wired = (offer.to_wire(session.client) for offer in found if offer.is_in(context.only))
    return [action for action in wired if action is not None]


def _decisions(session: Session, params: CodeActionParams) -> Iterator[Offer]:
    encoding = session.client.encoding
    for pending in session.proposals:
        hunks = pending.hunks(encoding)
        if len(hunks) > 1:
            for hunk in hunks:
                if _is_at(hunk, params.text_document.uri, params.range):
                    yield from _of_hunk(pending, hunk)
        yield from _of_whole(pending)


def _of_hunk(pending: Pending, hunk: Hunk) -> Iterator[Offer]:
    where = f"line {hunk.range['start']['line'] + 1}"
    for title, command in ((f"Accept the change at {where}", ACCEPT), (f"Reject the change at {where}", REJECT)):
        argument = {"id": pending.proposal.id, "hunk": hunk.number}
        yield Offer(f"{title}: {pending.request.title}", QUICKFIX, command, argument)


def _of_whole(pending: Pending) -> Iterator[Offer]:
    for verb, command in (("Accept", ACCEPT), ("Reject", REJECT), ("Show", SHOW)):
        yield Offer(f"{verb}: {pending.request.title}", QUICKFIX, command, {"id": pending.proposal.id})


def _is_at(hunk: Hunk, uri: str, place: Range) -> bool:
    if uris.key(hunk.uri) != uris.key(uri):
        return False
    first, last = sorted((place.start.line, place.end.line))
    return hunk.range["start"]["line"] <= last and first <= hunk.range["end"]["line"]
