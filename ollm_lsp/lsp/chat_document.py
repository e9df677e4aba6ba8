"""Chat documents: what is in an open one, and an answer for it."""

from __future__ import annotations

import asyncio
import logging
from typing import TYPE_CHECKING, Any

from pygls.exceptions import JsonRpcException

from ollm_lsp.core.chat_file import parse
from ollm_lsp.core.errors import Busy, OllmError, StaleDocument, Unsupported
from ollm_lsp.core.model import ModelId
from ollm_lsp.core.prompt import MentionKind, mentions_in
from ollm_lsp.lsp import to_wire, uris
from ollm_lsp.lsp.chat_branch import branch
from ollm_lsp.lsp.chat_stream import ChatStream
from ollm_lsp.lsp.live_text import Interrupted
from ollm_lsp.lsp.orders.wording import is_about_code
from ollm_lsp.lsp.place import active, is_selection, last_range
from ollm_lsp.lsp.protocol import ChatContext, ChatSendParams

if TYPE_CHECKING:
    from ollm_lsp.core.chat_file import ChatFile, ChatMessage
    from ollm_lsp.lsp.protocol import ChatCommandParams
    from ollm_lsp.lsp.session import Session

REFRESH_TIME = 10.0
logger = logging.getLogger(__name__)


def chat_in(session: Session, uri: str) -> ChatFile | None:
    """The chat in an open document; nothing when it is none."""
    document = session.documents.get(uri) if uris.is_chat(uri) else None
    return parse(document.buffer.text) if document else None


async def send_document(session: Session, uri: str, params: ChatCommandParams) -> dict[str, Any]:
    """Answer a question of a chat document in the document itself.

    With a `workDoneToken` the answer is waited for. Without one only its beginning is: some editors stand still, or
    lose patience, while a command runs.
    """
    document = session.documents.get(uri)
    if document is None:
        raise Unsupported(f"{uri} is not open in the editor.", remedy="Open it and send it again.")
    if not session.client.apply_edit:
        raise Unsupported(
            "This editor does not make changes at the request of a language server.",
            remedy="Ask with `ollm.chat.send` and a text: the answer is shown as a document.",
        )
    key = uris.key(uri)
    if key in session.streams:
        raise Busy("This document is already being answered.", remedy="Wait for the answer, or stop it.")
    file = parse(document.buffer.text)
    question = file.question_at(params.line)
    if question is None or not question.text:
        raise Unsupported("There is no question to send.", remedy="Write one below a heading `## You`.")
    stream = session.streams[key] = ChatStream(session, document, question)
    running = session.spawn(_run(session, key, stream, file, question, params))
    begun = session.spawn(stream.has_begun.wait())
    awaited = [running, begun] if params.work_done_token is None else [running]
    try:
        await asyncio.wait(awaited, return_when=asyncio.FIRST_COMPLETED)
    except asyncio.CancelledError:
        await stream.stopped()
        raise
    finally:
        begun.cancel()
    return await running if running.done() else {"uri": uri}


async def _run(
    session: Session, key: str, stream: ChatStream, file: ChatFile, question: ChatMessage, params: ChatCommandParams
) -> dict[str, Any]:
    uri = params.uri or ""
    refresh_lenses(session)
    try:
        answer = await stream.run(await _message(session, file, question, params))
    except Interrupted as reason:
        raise StaleDocument(f"Nothing was sent. {reason}", remedy="Send it again.") from None
    except OllmError as error:
        if not stream.has_begun.is_set() or params.work_done_token is not None:
            raise
        logger.info("An answer failed: %s", error.code)  # it is in the document
        answer = None
    finally:
        del session.streams[key]
    refresh_lenses(session)
    if answer is None:
        return {"uri": uri, "finishReason": "cancelled"}
    return {"uri": uri, **to_wire.chat_result(answer.conversation_id, answer.response, answer.seconds)}


async def _message(
    session: Session, file: ChatFile, question: ChatMessage, params: ChatCommandParams
) -> ChatSendParams:
    """What is asked, and where in the conversation."""
    settings = await session.usable_settings()
    model = params.model or file.value("model")
    said, text = file.before(question)
    conversation_id, parent_id = await branch(
        session, file.value("conversation"), said, ModelId.parse(model) if model else settings.model
    )
    return ChatSendParams(
        text,
        conversation_id,
        parent_id,
        model,
        params.tools,
        params.context or _context(session, text),
        params.work_done_token,
        params.partial_result_token,
    )


def _context(session: Session, text: str) -> ChatContext | None:
    """A chat document is not what its orders and mentions speak of; that is the document which was used before it."""
    kinds = {mention.kind for mention in mentions_in(text)}
    is_action = is_about_code(text)
    document = active(session) if is_action or kinds - {MentionKind.FILE} else None
    if document is None:
        return None
    place = last_range(session, document) if is_action or MentionKind.SELECTION in kinds else None
    return ChatContext(document.uri, place if place and is_selection(document, place) else None)


def refresh_lenses(session: Session) -> None:
    """Let the client ask for lenses again: what can be sent or stopped has changed."""
    if session.client.refreshes_lenses:
        session.spawn(_refresh(session))


async def _refresh(session: Session) -> None:
    try:
        await session.rpc.ask("workspace/codeLens/refresh", None, timeout=REFRESH_TIME)
    except (TimeoutError, JsonRpcException):
        logger.debug("The client does not refresh code lenses.")
