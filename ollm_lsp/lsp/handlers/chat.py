"""ollm/chat/send."""

from __future__ import annotations

import asyncio
from time import monotonic
from typing import TYPE_CHECKING, Any

from ollm_lsp.core.chat import ending
from ollm_lsp.core.errors import SettingsError
from ollm_lsp.core.recording import StoreRecording
from ollm_lsp.lsp import to_wire
from ollm_lsp.lsp.chat_progress import ChatProgress
from ollm_lsp.lsp.chat_work import ChatWork
from ollm_lsp.lsp.session import new_id
from ollm_lsp.lsp.sink import EventSink

if TYPE_CHECKING:
    from ollm_lsp.lsp.protocol import ChatSendParams
    from ollm_lsp.lsp.session import Session
    from ollm_lsp.settings.resolved import Settings

COMPACT = "/compact"


async def send(session: Session, params: ChatSendParams) -> dict[str, Any]:
    """Answer a message, with the open buffers as context."""
    began = monotonic()
    response_id = new_id()
    conversation = None
    with session.work(params.work_done_token) as (work_done, stoppable):
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
                    work = ChatWork(session, await _settings(session), params, conversation, recording)
                    is_order = params.text.strip() == COMPACT
                    response = await (work.compact(response_id) if is_order else work.answer(response_id))
                end.reason = response.finish_reason
        except asyncio.CancelledError:
            # The cancel button stops the work, it does not withdraw the request: what came so far is the answer.
            response = conversation.get(response_id) if conversation else None
            if conversation is None or response is None or not stoppable.resume():
                raise
        finally:
            await work_done.end(progress.summary())
    return to_wire.chat_result(conversation.id, response, monotonic() - began)


async def _settings(session: Session) -> Settings:
    resolution = await session.settings()
    if resolution.broken is not None:
        raise SettingsError(resolution.broken.finding, remedy=resolution.broken.remedy)
    return resolution.settings
