"""Chat documents: the commands for them, their code lenses, code actions, symbols and folds."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from attrs import evolve

from ollm_lsp.core.chat_file import Speaker
from ollm_lsp.core.errors import Unsupported
from ollm_lsp.lsp import uris
from ollm_lsp.lsp.chat_document import chat_in, refresh_lenses, send_document
from ollm_lsp.lsp.chat_opening import new_chat, show_answer
from ollm_lsp.lsp.handlers import chat
from ollm_lsp.lsp.offers import Offer
from ollm_lsp.lsp.protocol import SOURCE, ChatSendParams
from ollm_lsp.lsp.show import show_document

if TYPE_CHECKING:
    from collections.abc import Iterator

    from ollm_lsp.core.chat_file import ChatFile, ChatMessage
    from ollm_lsp.lsp.protocol import ChatCommandParams, ChatOpenParams, ChatStopParams
    from ollm_lsp.lsp.session import Session
    from ollm_lsp.lsp.standard import CodeActionParams, DocumentParams

SEND, STOP = "ollm.chat.send", "ollm.chat.stop"
_STRING = 15
"""The symbol kind of a message: a text."""


async def send(session: Session, params: ChatCommandParams) -> dict[str, Any]:
    """ollm.chat.send: answer a chat document, or a message."""
    if params.text is None:
        uri = params.uri or next((document.uri for document in session.documents.recent()), "")
        if not uris.is_chat(uri):
            remedy = f"Give a `text`, or the `uri` of a document NAME{uris.CHAT_SUFFIX}."
            raise Unsupported("There is nothing to send.", remedy=remedy)
        return await send_document(session, uri, evolve(params, uri=uri))
    message = ChatSendParams(
        params.text,
        params.conversation_id,
        params.parent_id,
        params.model,
        params.tools,
        params.context,
        params.work_done_token,
        params.partial_result_token,
    )
    result = await chat.send(session, message)
    if not session.client.is_ours:
        await show_answer(session, "Answer", result["text"], result["conversationId"])
    return result


async def stop(session: Session, params: ChatStopParams) -> None:
    """ollm.chat.stop: stop the answer of a chat document; what came stays."""
    for key, stream in tuple(session.streams.items()):
        if params.uri is None or key == uris.key(params.uri):
            await stream.stopped()
    refresh_lenses(session)


async def open_chat(session: Session, params: ChatOpenParams) -> dict[str, Any]:
    """ollm.chat.open: make a chat document and show it."""
    uri, line = await new_chat(session, params)
    if not await show_document(session, uri, line=line):
        message = f"ollm: Open {uris.display_path(uri)} to chat."
        session.rpc.notify("window/showMessage", {"type": 3, "message": message})
    return {"uri": uri}


async def code_lens(session: Session, params: DocumentParams) -> list[dict[str, Any]]:
    """Send below the last question, Retry above every answer, Stop while one comes."""
    uri = params.text_document.uri
    file = chat_in(session, uri)
    return [
        {"range": _lines(message.line, message.line), "command": command}
        for message, command in (_commands(session, uri, file) if file else ())
    ]


def chat_offers(session: Session, params: CodeActionParams) -> list[Offer]:
    """What a chat document offers: the commands of its lenses, as far as they are about this place."""
    uri = params.text_document.uri
    file = chat_in(session, uri)
    if file is None:
        return []
    here = file.message_at(params.range.start.line)
    found = [command for message, command in _commands(session, uri, file) if message == here]
    asked = file.question_at(params.range.start.line)
    if not found and asked is not None and asked == here and asked.text:
        found = [_command("Send this message again", SEND, uri, asked.line)]
    return [Offer(command["title"], SOURCE, command["command"], command["arguments"][0]) for command in found]


async def document_symbol(session: Session, params: DocumentParams) -> list[dict[str, Any]]:
    """The messages."""
    file = chat_in(session, params.text_document.uri)
    return [
        {
            "name": message.speaker.value,
            "detail": message.text.partition("\n")[0][:80],
            "kind": _STRING,
            "range": _lines(message.line, message.last_line + 1),
            "selectionRange": _lines(message.line, message.line),
        }
        for message in (file.messages if file else ())
    ]


async def folding_range(session: Session, params: DocumentParams) -> list[dict[str, Any]]:
    """The messages, and the notes in them."""
    file = chat_in(session, params.text_document.uri)
    found: list[dict[str, Any]] = []
    for message in file.messages if file else ():
        folds = [(message.line, message.last_line, "region"), *((*note, "comment") for note in message.notes)]
        found += [{"startLine": first, "endLine": last, "kind": kind} for first, last, kind in folds if last > first]
    return found


def _commands(session: Session, uri: str, file: ChatFile) -> Iterator[tuple[ChatMessage, dict[str, Any]]]:
    """What can be done with which message."""
    stream = session.streams.get(uris.key(uri))
    if stream is not None:
        answered = file.message_at(stream.line)
        if answered is not None:
            yield answered, _command("Stop", STOP, uri)
        return
    for number, message in enumerate(file.messages):
        if message.speaker is Speaker.YOU and number == len(file.messages) - 1 and message.text:
            yield message, _command("Send", SEND, uri, message.line)
        elif message.speaker is Speaker.ASSISTANT and (asked := file.question_at(message.line)):
            yield message, _command("Retry", SEND, uri, asked.line)


def _command(title: str, command: str, uri: str, line: int | None = None) -> dict[str, Any]:
    argument = {"uri": uri} if line is None else {"uri": uri, "line": line}
    return {"title": title, "command": command, "arguments": [argument]}


def _lines(first: int, last: int) -> dict[str, Any]:
    return {"start": {"line": first, "character": 0}, "end": {"line": last, "character": 0}}
