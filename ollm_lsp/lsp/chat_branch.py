"""From a chat as it is written to the conversation that it goes on: the file says what was said.

Where the conversation has a branch that says the same, the chat goes on from there, with the tool calls and thoughts
that are kept of it. What was written otherwise becomes a branch of its own.
"""

from __future__ import annotations

from contextlib import suppress
from typing import TYPE_CHECKING

from ollm_lsp.core.branch import followed
from ollm_lsp.core.conversation import Response
from ollm_lsp.core.errors import ConversationNotFound, StoreFailed, Unsupported
from ollm_lsp.core.events import FinishReason
from ollm_lsp.core.messages import Message, Role, Text
from ollm_lsp.core.prompt import read_prompt
from ollm_lsp.core.slash import Slash
from ollm_lsp.core.usage import FREE, Usage
from ollm_lsp.lsp.session import new_id
from ollm_lsp.lsp.to_wire import clean

if TYPE_CHECKING:
    from collections.abc import Sequence

    from ollm_lsp.core.chat_file import Exchange
    from ollm_lsp.core.conversation import Conversation
    from ollm_lsp.core.model import ModelId
    from ollm_lsp.core.ports import ResponseStore
    from ollm_lsp.lsp.session import Session

_ASIDES = {Slash.HELP, Slash.MODEL, Slash.CONTEXT, Slash.COMPACT, Slash.COST}
"""Orders that no model hears of."""
_KRAKEN_ASIDES = {"", "status", "config", "history"}


async def branch(
    session: Session, conversation_id: str | None, exchanges: Sequence[Exchange], model: ModelId
) -> tuple[str | None, str | None]:
    """The conversation and the response to go on from; an empty one means its beginning, none a new conversation."""
    said = [exchange for exchange in exchanges if _is_said(exchange)]
    store = await session.store()
    conversation = await _opened(session, conversation_id, store)
    if conversation is None:
        if not said:
            return None, None
        conversation = session.conversations.new()
    responses = await _responses(conversation, store)
    parent_id, depth = followed(responses, said, clean)
    for exchange in said[depth:]:
        parent_id = await _add(conversation, store, exchange, parent_id, model)
    return conversation.id, parent_id or ""


def _is_said(exchange: Exchange) -> bool:
    """Whether the model shall know of it."""
    if not exchange.question or not exchange.answer:
        return False
    try:
        prompt = read_prompt(exchange.question)
    except Unsupported:
        return True
    is_aside = prompt.order in _ASIDES or (prompt.order is Slash.KRAKEN and prompt.text in _KRAKEN_ASIDES)
    return not is_aside


async def _opened(session: Session, conversation_id: str | None, store: ResponseStore) -> Conversation | None:
    if conversation_id is None:
        return None
    try:
        return await session.conversations.open(conversation_id, store)
    except (ConversationNotFound, StoreFailed):
        return None


async def _responses(conversation: Conversation, store: ResponseStore) -> list[Response]:
    """What is kept of it, and what is only here. Another server may have added to it."""
    try:
        record = await store.load(conversation.id)
    except StoreFailed:
        record = None
    if record is not None:
        conversation.restore(record)
    return list(conversation)


async def _add(
    conversation: Conversation, store: ResponseStore, exchange: Exchange, parent_id: str | None, model: ModelId
) -> str:
    """Keep what the user has written as if it had been said."""
    answer = Message(Role.ASSISTANT, (Text(exchange.answer),))
    question = Message.user(exchange.question)
    written = Response(new_id(), parent_id, model, (question,), (answer,), Usage(), FREE, FinishReason.STOP)
    conversation.append(written)
    with suppress(StoreFailed):  # the chat itself will tell that nothing is kept
        await store.finish(conversation.id, written)
    return written.id
