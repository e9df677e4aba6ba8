"""ollm/chat/send."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ollm_lsp.lsp import to_wire
from ollm_lsp.lsp.answering import answer

if TYPE_CHECKING:
    from ollm_lsp.lsp.protocol import ChatSendParams
    from ollm_lsp.lsp.session import Session


async def send(session: Session, params: ChatSendParams) -> dict[str, Any]:
    """Answer a message, with the open buffers as context."""
    made = await answer(session, params)
    return to_wire.chat_result(made.conversation_id, made.response, made.seconds)
