"""textDocument/completion, in chat documents only: slash commands, mentions, and models."""

from __future__ import annotations

import asyncio
import re
from functools import partial
from itertools import islice
from typing import TYPE_CHECKING, Any

from ollm_lsp.core.chat_file import Speaker, parse
from ollm_lsp.core.errors import OllmError
from ollm_lsp.core.lines import split
from ollm_lsp.core.slash import HELP, NAMES
from ollm_lsp.core.splices import Spot
from ollm_lsp.lsp import uris
from ollm_lsp.lsp.buffer import Position, Range
from ollm_lsp.lsp.chat_opening import mention_of
from ollm_lsp.lsp.desk import desk_of
from ollm_lsp.lsp.handlers.models import list_models
from ollm_lsp.lsp.protocol import ModelsListParams
from ollm_lsp.lsp.workspace_edit import position
from ollm_lsp.tools.tree import Tree
from ollm_lsp.tools.watch import in_thread

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from ollm_lsp.core.chat_file import ChatFile
    from ollm_lsp.lsp.buffer import PositionEncoding
    from ollm_lsp.lsp.session import Session
    from ollm_lsp.lsp.standard import CompletionParams
    from ollm_lsp.tools.roots import Place
    from ollm_lsp.tools.watch import Watch

MOST_FILES = 200
FILES_TIME = 0.5
MODELS_TIME = 1.0
"""Seconds in which a provider tells its models, or they are not offered."""
_KEYWORD, _FILE, _VALUE = 14, 17, 12
_MODEL_FIELD = re.compile(r"model[ \t]*:[ \t]*(\S*)")
_MODEL_ORDER = re.compile(r"\s*/model[ \t]+(\S*)", re.IGNORECASE)
_ORDER = re.compile(r"\s*(/[\w-]*)")
_FILE_MENTION = re.compile(r'(?:.*[^\w#/&])?(#file:"?([^"\n]*))')
_MENTION = re.compile(r"(?:.*[^\w#/&])?(#\w*)")
_MENTIONS = {
    "#buffer": "the document that you used last",
    "#selection": "what is selected in it",
    "#diagnostics": "what language servers have found in it",
    "#file:": "a file of the workspace, by its path",
}


async def completion(session: Session, params: CompletionParams) -> dict[str, Any] | None:
    """What can be written at a place of a chat document."""
    uri, place = params.text_document.uri, params.position
    document = session.documents.get(uri) if uris.is_chat(uri) else None
    if document is None:
        return None
    before = document.buffer.slice(Range(Position(place.line, 0), place))
    file = parse(document.buffer.text)
    found = await _found(session, file, place.line, before)
    if found is None:
        return None
    typed, items, is_cut = found
    start = _start(document.buffer.encoding, place, typed)
    return {"isIncomplete": is_cut, "items": [_item(item, start, place) for item in items]}


async def _found(
    session: Session, file: ChatFile, line: int, before: str
) -> tuple[str, Sequence[tuple[str, str, int]], bool] | None:
    """What is typed already, and each text to put in its place with its description and its kind."""
    if line < _first_line(file):
        typed = _MODEL_FIELD.fullmatch(before)
        return (typed[1], await _models(session), False) if typed else None
    message = file.message_at(line)
    if message is not None and message.speaker is not Speaker.YOU:
        return None
    if typed := _MODEL_ORDER.fullmatch(before):
        return typed[1], await _models(session), False
    is_first = message is None or not _has_words(file, message.body, line)
    if is_first and (typed := _ORDER.fullmatch(before)):
        return typed[1], [(f"/{name}", HELP[order].does, _KEYWORD) for name, order in NAMES.items()], False
    if typed := _FILE_MENTION.fullmatch(before):
        paths, is_cut = await _files(session, typed[2])
        return typed[1], [(path, "", _FILE) for path in paths], is_cut
    if typed := _MENTION.fullmatch(before):
        return typed[1], [(name, told, _VALUE) for name, told in _MENTIONS.items()], False
    return None


def _first_line(file: ChatFile) -> int:
    """The line of the rule that closes the front matter."""
    return len(split(file.text[: file.front_end]))


def _has_words(file: ChatFile, start: int, line: int) -> bool:
    """Whether a message has words before a line."""
    first = len(split(file.text[:start]))
    return any(words.strip() for words in split(file.text[start:])[: line - first])


async def _models(session: Session) -> list[tuple[str, str, int]]:
    """The default model, and those of all providers that tell theirs in time."""
    settings = (await session.settings()).settings
    listed = await asyncio.gather(*(_models_of(session, name) for name in settings.providers))
    default = str(settings.model)
    names = dict.fromkeys([default, *(name for names in listed for name in names)])
    return [(name, "the default model" if name == default else "", _VALUE) for name in names]


async def _models_of(session: Session, provider: str) -> list[str]:
    try:
        async with asyncio.timeout(MODELS_TIME):
            listed = await list_models(session, ModelsListParams(provider))
    except (TimeoutError, OllmError):
        return []
    return [model["id"] for model in listed["models"]]


async def _files(session: Session, typed: str) -> tuple[list[str], bool]:
    """Open documents first, then files of the workspace; whether there may be more."""
    opened = [mention_of(session, one.uri) for one in session.documents.recent() if not uris.is_own(one.uri)]
    desk = desk_of(session, (await session.settings()).settings, "", is_external=False)
    if not desk.folders:
        return opened, False
    workspace = (await session.services.toolset()).workspace(desk)
    found, is_cut = await in_thread(partial(_below, workspace.roots.places, typed.lower()), FILES_TIME)
    allowed = [mention_of(session, place.uri) for place in found if workspace.may_read(place)]
    return list(dict.fromkeys((*opened, *allowed))), is_cut


def _below(folders: Sequence[Place], typed: str, watch: Watch) -> tuple[list[Place], bool]:
    trees = [Tree(folder, watch) for folder in folders]
    fitting: Iterator[Place] = (place for tree in trees for place in tree.files() if typed in place.shown.lower())
    found = list(islice(fitting, MOST_FILES))
    return found, len(found) == MOST_FILES or any(tree.is_cut for tree in trees)


def _start(encoding: PositionEncoding, place: Position, typed: str) -> Position:
    return Position(place.line, place.character - position(Spot(0, typed), encoding)["character"])


def _item(item: tuple[str, str, int], start: Position, end: Position) -> dict[str, Any]:
    text, told, kind = item
    places = {
        side: {"line": place.line, "character": place.character} for side, place in (("start", start), ("end", end))
    }
    shown = {"label": text, "kind": kind, "filterText": text, "textEdit": {"range": places, "newText": text}}
    return {**shown, "detail": told} if told else shown
