"""New chat documents: what they begin with, and how they are shown."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ollm_lsp.core.answer_markdown import AnswerMarkdown
from ollm_lsp.core.chat_file import Speaker, assemble, written
from ollm_lsp.core.conversation import not_found
from ollm_lsp.core.errors import ConversationNotFound, StoreFailed
from ollm_lsp.lsp import uris
from ollm_lsp.lsp.protocol import ChatOpenParams
from ollm_lsp.lsp.show import show_document, tell
from ollm_lsp.lsp.to_wire import clean

if TYPE_CHECKING:
    from ollm_lsp.lsp.session import Session


async def new_chat(session: Session, params: ChatOpenParams) -> tuple[str, int]:
    """Make a chat document; the result is its address, and the line for the user's words."""
    front = {"model": params.model} if params.model else {}
    messages: list[str] = []
    if params.conversation_id is not None:
        front["conversation"] = params.conversation_id
        messages = await kept_messages(session, params.conversation_id)
    text = clean(assemble(front, [*messages, written(Speaker.YOU, first_question(session, params))]))
    return await session.services.keep_chat(text), text.count("\n") - 1


async def show_answer(session: Session, title: str, text: str, conversation_id: str) -> None:
    """Show an answer to who has no view for it: as a chat document, so that its user can ask on, else as a message."""
    if session.client.show_document:
        try:
            uri, _ = await new_chat(session, ChatOpenParams(conversation_id=conversation_id))
        except (ConversationNotFound, StoreFailed):  # orders are not kept, and a disk may be full
            uri = ""
        if uri and await show_document(session, uri):
            return
    await tell(session, title, clean(text))


def first_question(session: Session, params: ChatOpenParams) -> str:
    """A mention of the document, the selection as code, and the words."""
    pieces = [mention_of(session, params.uri)] if params.uri else []
    document = session.documents.get(params.uri) if params.uri else None
    if document is not None and params.range is not None:
        selected = document.buffer.slice(params.range).strip("\r\n")
        fence = "```"
        while fence in selected:
            fence += "`"
        pieces += [f"{fence}{document.language_id}\n{selected}\n{fence}"] if selected else []
    return "\n\n".join([*pieces, params.text or ""])


def mention_of(session: Session, uri: str) -> str:
    """How a document is mentioned: by its path in the workspace where it has one."""
    path = uris.display_path(uri)
    for folder in map(uris.display_path, session.folders):
        inside = path.removeprefix(folder.rstrip("/") + "/")
        path = inside if inside != path else path
    return f'#file:"{path}"' if any(letter.isspace() for letter in path) else f"#file:{path}"


async def kept_messages(session: Session, conversation_id: str) -> list[str]:
    """The newest branch of a kept conversation; raises `ConversationNotFound`."""
    record = await (await session.store()).load(conversation_id)
    if record is None:
        raise not_found(conversation_id)
    responses = {kept.response.id: kept.response for kept in record.responses}
    path = [record.responses[-1].response] if record.responses else []
    while path and (parent := responses.get(path[-1].parent_id or "")):
        path.append(parent)
    messages: list[str] = []
    for response in reversed(path):
        if response.is_recap:
            continue
        messages.append(written(Speaker.YOU, "".join(message.text for message in response.input)))
        markdown = AnswerMarkdown()
        parts = [part for message in response.output for part in message.parts]
        answer = "".join(map(markdown.part, parts)) + markdown.end(response.finish_reason)
        messages.append(f"{Speaker.ASSISTANT.heading}\n\n{answer}")
    return messages
