"""What a briefing is made of: the editor's documents by the rules of the context, and the conversation."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ollm_lsp.core.diff import diff
from ollm_lsp.core.errors import OllmError
from ollm_lsp.core.tokens import estimate
from ollm_lsp.kraken.briefing import Piece
from ollm_lsp.lsp import uris
from ollm_lsp.lsp.context.assembly import assemble
from ollm_lsp.lsp.context.parts import Source, block
from ollm_lsp.lsp.context.surroundings import surroundings_of

if TYPE_CHECKING:
    from collections.abc import Sequence

    from ollm_lsp.core.compaction import Compactor
    from ollm_lsp.core.events import Warned
    from ollm_lsp.core.messages import Message
    from ollm_lsp.lsp.context.surroundings import Surroundings
    from ollm_lsp.lsp.protocol import ChatContext
    from ollm_lsp.lsp.session import Session
    from ollm_lsp.settings.resolved import Settings

SHARE = 2
"""The editor's part of a briefing is at most one of so many."""


async def pieces_of(
    session: Session, settings: Settings, wanted: ChatContext | None, goal: str, room: int
) -> tuple[list[Piece], Sequence[Warned]]:
    """The open documents as they are in the editor, what is not saved of them, and what is wrong in them."""
    around = await surroundings_of(session, settings, is_external=True)
    context = await assemble(around, wanted, goal, room // SHARE)
    pieces = [Piece(_source(around, part.source, part.uri), part.text) for part in context.parts]
    shown = dict.fromkeys(part.uri for part in context.parts if part.uri and part.source is not Source.DIAGNOSTICS)
    unsaved = [piece for uri in shown if (piece := await _unsaved(around, uri))]
    return [*pieces, *unsaved], context.warnings


async def said(history: tuple[Message, ...], compactor: Compactor | None, room: int) -> tuple[Message, ...]:
    """The history in so many tokens: summarised on this machine where it is longer, else its newest messages."""
    if compactor is None or estimate(history) <= room:
        return history
    return (await compactor.compact(history, window=room * 2)).messages


def _source(around: Surroundings, source: Source, uri: str | None) -> str:
    if source is Source.DIAGNOSTICS:
        return "diagnostics"
    place = around.sendable.place(uri) if uri else None
    name = place.shown if place else uris.display_path(uri) if uri else source.value
    return f"{name} (selection)" if source is Source.SELECTION else name


async def _unsaved(around: Surroundings, uri: str) -> Piece | None:
    """How a document differs from its file."""
    document, place = around.documents.get(uri), around.sendable.place(uri)
    if document is None or place is None:
        return None
    try:
        saved = (await around.workspace.raw(place)).decode()
    except (OllmError, UnicodeDecodeError):
        return None
    changes = diff(saved, document.buffer.text)
    if not changes:
        return None
    return Piece(f"{place.shown} (unsaved changes)", block(f"{place.shown}, not saved yet", "diff", changes))
