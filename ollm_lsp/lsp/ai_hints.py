"""Hints at comments for the model. A document is looked through when its user pauses, never at a keystroke."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, Any

from ollm_lsp.core.ai_comments import MARKS, ai_comment
from ollm_lsp.core.globs import matches
from ollm_lsp.core.splices import Spot
from ollm_lsp.lsp import uris
from ollm_lsp.lsp.published import SOURCE
from ollm_lsp.lsp.workspace_edit import position

if TYPE_CHECKING:
    from ollm_lsp.lsp.documents import Document
    from ollm_lsp.lsp.session import Session

PAUSE = 0.4
"""Seconds without an edit after which a document is looked through."""
MOST = 100
"""Comments that are marked in one document."""
OWNER = "ai-comments"
_HINT = 4


class AiHints:
    """What is marked in the open documents."""

    def __init__(self, session: Session) -> None:
        self._session = session
        self._waiting: dict[str, asyncio.TimerHandle] = {}

    def look(self, uri: str) -> None:
        """Look through a document soon, and only once if it changes again before."""
        key = uris.key(uri)
        if (timer := self._waiting.pop(key, None)) is not None:
            timer.cancel()
        self._waiting[key] = asyncio.get_running_loop().call_later(PAUSE, self._due, uri)

    def forget(self, uri: str) -> None:
        """A closed document has no hints."""
        if (timer := self._waiting.pop(uris.key(uri), None)) is not None:
            timer.cancel()
        self._session.published.put(OWNER, uri, ())

    def _due(self, uri: str) -> None:
        self._waiting.pop(uris.key(uri), None)
        document = self._session.documents.get(uri)
        if document is not None:
            hints = [] if uris.is_own(uri) else _hints(document)
            if hints:
                self._session.spawn(self._put(document, hints))
            else:
                self._session.published.put(OWNER, uri, ())

    async def _put(self, document: Document, hints: list[dict[str, Any]]) -> None:
        version = document.version
        settings = (await self._session.settings()).settings
        is_wanted = settings.actions.ai_comments and not any(
            matches(document.path, pattern) for pattern in settings.context.exclude
        )
        if self._session.documents.get(document.uri) is document and document.version == version:
            self._session.published.put(OWNER, document.uri, hints if is_wanted else ())


def _hints(document: Document) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = []
    for number in document.buffer.lines_with(*MARKS):
        line = document.buffer.line(number)
        comment = ai_comment(line, document.language_id)
        if comment is None or not comment.instruction or len(found) == MOST:
            continue
        encoding = document.buffer.encoding
        start, end = Spot(number, line[: comment.start]), Spot(number, line.rstrip())
        verb = "do this" if comment.wants_change else "answer this"
        found.append(
            {
                "range": {"start": position(start, encoding), "end": position(end, encoding)},
                "severity": _HINT,
                "source": SOURCE,
                "code": "ai-comment",
                "message": f"ollm can {verb} by a code action: {comment.instruction}",
            }
        )
    return found
