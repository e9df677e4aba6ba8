"""ollm/chat/send."""

from __future__ import annotations

import asyncio
from time import monotonic
from typing import TYPE_CHECKING, Any

from ollm_lsp.core.chat import Chat, ending
from ollm_lsp.core.errors import SettingsError
from ollm_lsp.core.model import ModelId
from ollm_lsp.core.recording import StoreRecording
from ollm_lsp.core.toolbox import Toolbox
from ollm_lsp.lsp import to_wire
from ollm_lsp.lsp.chat_progress import ChatProgress
from ollm_lsp.lsp.question import compose
from ollm_lsp.lsp.session import new_id
from ollm_lsp.lsp.sink import EventSink

if TYPE_CHECKING:
    from ollm_lsp.core.conversation import Conversation, Response
    from ollm_lsp.lsp.protocol import ChatSendParams
    from ollm_lsp.lsp.session import Session


async def send(session: Session, params: ChatSendParams) -> dict[str, Any]:
    """Answer a message, with the open buffers as context."""
    began = monotonic()
    response_id = new_id()
    conversation = None
    with session.work(params.work_done_token) as (work_done, work):
        progress = ChatProgress(work_done)
        sink = EventSink(session.rpc, session.writer, params.partial_result_token, progress.observe)
        try:
            async with ending(sink) as end:
                store = await session.store()
                conversation = await session.conversations.open(params.conversation_id, store, params.parent_id)
                with conversation.answering():
                    work_done.begin("Answering")
                    recording = StoreRecording(
                        store, conversation.id, sink, lambda warning: session.warn_of_store(warning, sink)
                    )
                    response = await _answer(session, params, conversation, response_id, recording)
                end.reason = response.finish_reason
        except asyncio.CancelledError:
            # The cancel button stops the work, it does not withdraw the request: what came so far is the answer.
            response = conversation.get(response_id) if conversation else None
            if conversation is None or response is None or not work.resume():
                raise
        finally:
            await work_done.end(progress.summary())
    return to_wire.chat_result(conversation.id, response, monotonic() - began)


async def _answer(
    session: Session, params: ChatSendParams, conversation: Conversation, response_id: str, sink: StoreRecording
) -> Response:
    resolution = await session.settings()
    if resolution.broken is not None:
        raise SettingsError(resolution.broken.finding, remedy=resolution.broken.remedy)
    settings = resolution.settings
    model = ModelId.parse(params.model) if params.model else settings.model
    parent_id = params.parent_id or conversation.head
    history = conversation.history(parent_id, model)
    tools = session.tools if settings.chat.tools and params.tools is not False else ()
    toolbox = Toolbox(tools, time_limit=settings.chat.tool_timeout)
    async with session.services.provider(model.provider) as provider:
        capabilities = await provider.capabilities(model.name)
        question = compose(params, history, session.documents, settings, capabilities, sink, toolbox.specs)
        session.tell_status(model=str(model), contextTokens=question.tokens, contextLimit=question.limit)
        chat = Chat(provider, model, sink, toolbox=toolbox, max_turns=settings.chat.max_turns, recording=sink)
        return await chat.run(question, conversation, parent_id=parent_id, response_id=response_id)
