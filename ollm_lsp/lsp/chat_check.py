"""Mistakes in a chat document, found before it is sent: an unknown model, command or file."""

from __future__ import annotations

import asyncio
import re
from typing import TYPE_CHECKING, Any

from ollm_lsp.core.chat_file import Speaker, parse
from ollm_lsp.core.errors import OllmError
from ollm_lsp.core.model import ModelId
from ollm_lsp.core.prompt import MentionKind, mentions_in, read_prompt
from ollm_lsp.core.splices import Splice, spots
from ollm_lsp.lsp import uris
from ollm_lsp.lsp.desk import desk_of
from ollm_lsp.lsp.published import SOURCE
from ollm_lsp.lsp.workspace_edit import position

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Iterator

    from ollm_lsp.core.chat_file import ChatFile, ChatMessage
    from ollm_lsp.core.prompt import Mention
    from ollm_lsp.lsp.session import Session
    from ollm_lsp.settings.resolved import Settings

DELAY = 0.3
"""Seconds after the last keystroke."""
_OWNER = "chat"
_WARNING = 2
_ORDER = re.compile(r"\s*(/\S+)")


def look_soon(session: Session, uri: str) -> None:
    """Look when the user has stopped typing."""
    key = uris.key(uri)
    if due := session.checks.pop(key, None):
        due.cancel()
    if session.documents.get(uri) is None:
        session.published.put(_OWNER, uri, ())
    else:
        session.checks[key] = session.spawn(_look(session, uri))


async def _look(session: Session, uri: str) -> None:
    await asyncio.sleep(DELAY)
    document = session.documents.get(uri)
    if document is None or uris.key(uri) in session.streams:
        return
    text = document.buffer.text
    found = [problem async for problem in _problems(session, parse(text))]
    if document.buffer.text != text:
        return  # another look is due
    places = spots(text, [Splice(start, end, "") for start, end, _ in found])
    encoding = session.client.encoding
    diagnostics: list[dict[str, Any]] = [
        {
            "range": {"start": position(first, encoding), "end": position(last, encoding)},
            "severity": _WARNING,
            "source": SOURCE,
            "code": "chat",
            "message": message,
        }
        for (first, last, _), (_, _, message) in zip(places, found, strict=True)
    ]
    session.published.put(_OWNER, uri, diagnostics)


async def _problems(session: Session, file: ChatFile) -> AsyncIterator[tuple[int, int, str]]:
    """Each with its place, in the order of the text."""
    settings = (await session.settings()).settings
    for problem in _model_problems(file, settings):
        yield problem
    question = file.messages[-1] if file.messages else None
    if question is not None and question.speaker is Speaker.YOU:
        for problem in _order_problems(file, question):
            yield problem
        raw = file.text[question.body : question.stop]
        for mention in mentions_in(raw):
            if mention.kind is MentionKind.FILE and not await _is_there(session, settings, mention):
                message = f"{mention.path} is neither open nor in the workspace."
                yield question.body + mention.start, question.body + mention.end, message


def _model_problems(file: ChatFile, settings: Settings) -> Iterator[tuple[int, int, str]]:
    field = file.front.get("model")
    if field is None or not field.value:
        return
    try:
        model = ModelId.parse(field.value)
    except OllmError as error:
        yield field.start, field.end, str(error)
        return
    if model.provider not in settings.providers:
        known = ", ".join(settings.providers)
        yield field.start, field.end, f"There is no provider {model.provider}. Use one of these: {known}."


def _order_problems(file: ChatFile, question: ChatMessage) -> Iterator[tuple[int, int, str]]:
    raw = file.text[question.body : question.stop]
    try:
        read_prompt(raw)
    except OllmError as error:
        if found := _ORDER.match(raw):
            yield question.body + found.start(1), question.body + found.end(1), str(error)


async def _is_there(session: Session, settings: Settings, mention: Mention) -> bool:
    shown = mention.path.replace("\\", "/").removeprefix("./")
    if any(f"/{document.path}".endswith(f"/{shown}") for document in session.documents.recent()):
        return True
    desk = desk_of(session, settings, "", is_external=False)
    if not desk.folders:
        return False
    workspace = (await session.services.toolset()).workspace(desk)
    try:
        return await workspace.kind(workspace.place(mention.path)) is not None
    except OllmError:
        return False
