"""ollm/chat/list, get, rename and delete: the conversations that are kept."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ollm_lsp.core.conversation import not_found
from ollm_lsp.lsp import to_wire

if TYPE_CHECKING:
    from ollm_lsp.lsp.protocol import ChatRenameParams, ConversationParams
    from ollm_lsp.lsp.session import Session
    from ollm_lsp.lsp.standard import NoParams


async def list_all(session: Session, _params: NoParams) -> dict[str, Any]:
    """All conversations, the newest first."""
    store = await session.store()
    return {"conversations": [to_wire.summary(summary) for summary in await store.list()]}


async def get(session: Session, params: ConversationParams) -> dict[str, Any]:
    """A conversation with all its responses."""
    store = await session.store()
    record = await store.load(params.conversation_id)
    if record is None:
        raise not_found(params.conversation_id)
    return to_wire.conversation(record)


async def rename(session: Session, params: ChatRenameParams) -> None:
    """Give a conversation another title."""
    store = await session.store()
    if not await store.retitle(params.conversation_id, params.title):
        raise not_found(params.conversation_id)


async def delete(session: Session, params: ConversationParams) -> None:
    """Forget a conversation, unless it is answering."""
    store = await session.store()
    conversation = session.conversations.get(params.conversation_id)
    if conversation is None:
        if not await store.delete(params.conversation_id):
            raise not_found(params.conversation_id)
        return
    with conversation.answering():
        await store.delete(params.conversation_id)
        session.conversations.forget(params.conversation_id)
