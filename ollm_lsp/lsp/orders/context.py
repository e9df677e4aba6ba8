"""/context: what would be sent along with a question."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ollm_lsp.lsp.handlers.context import overview, preview
from ollm_lsp.lsp.protocol import ChatContext, ContextPreviewParams

if TYPE_CHECKING:
    from ollm_lsp.lsp.orders.errand import Errand


async def tell_context(errand: Errand) -> str:
    """The parts in their order, with their tokens and why they are there; not their texts, which may be long."""
    params, conversation = errand.params, errand.conversation
    wanted = params.context or ChatContext()
    asked = ContextPreviewParams(
        text=errand.words,
        uri=wanted.uri,
        range=wanted.range,
        files=wanted.files,
        images=wanted.images,
        conversation_id=conversation.id,
        parent_id=conversation.going_on_from(params.parent_id) or "",
        model=params.model,
        tools=params.tools,
    )
    return f"{overview(await preview(errand.session, asked))}\n\nThe command ollm.context.show shows the texts."
