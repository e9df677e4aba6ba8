"""Edits in an open document while its user types: each is made once, on the text that it was computed on.

The client's answer tells little: it comes before or after the `didChange`, some clients never send one, and some say
yes to an edit that they did not make. So an edit counts as made when a `didChange` brings its result.
"""

from __future__ import annotations

import asyncio
from contextlib import contextmanager
from typing import TYPE_CHECKING

from pygls.exceptions import JsonRpcException

from ollm_lsp.core.foreign_json import object_in
from ollm_lsp.core.inset import Inset
from ollm_lsp.core.lines import adopted
from ollm_lsp.core.snapshot import Snapshot
from ollm_lsp.core.splices import Splice, spots
from ollm_lsp.lsp.apply import APPLY_TIME
from ollm_lsp.lsp.buffer import Position, Range, TextBuffer
from ollm_lsp.lsp.workspace_edit import document_edit, position

if TYPE_CHECKING:
    from collections.abc import Callable, Generator, Sequence

    from ollm_lsp.core.inset import Span
    from ollm_lsp.lsp.documents import Document
    from ollm_lsp.lsp.session import Session

ECHO_TIME = 1.0
"""Seconds after a yes and another change in which our edit has to show up, or it was not made."""
PATIENCE = 1.0
"""Seconds for which the next edit waits for an answer to the last one, although that was made."""
MOST_TRIES = 20
PAUSE = 0.05


class Interrupted(Exception):
    """The text cannot grow any more; the message is for people."""


class LiveText:
    """Our inset in a document. `news` is set whenever something may have changed."""

    def __init__(self, session: Session, document: Document, label: str) -> None:
        self.news = asyncio.Event()
        self._session = session
        self._document = document
        self._label = label
        self._inset = Inset()
        self._unanswered: asyncio.Future[bool] | None = None

    @property
    def text(self) -> str:
        return self._document.buffer.text

    @property
    def span(self) -> Span | None:
        """Where our text is; nothing before it was opened."""
        return self._inset.span

    @property
    def end(self) -> int:
        if self._inset.span is None:
            raise AssertionError("the inset was opened")
        return self._inset.span.end

    @contextmanager
    def following(self) -> Generator[None]:
        """Follow the document's changes."""
        with self._session.documents.following(self._document.uri, self._changed):
            yield

    def check(self) -> None:
        """Raises `Interrupted` when the user has closed the document or changed our text."""
        if self._session.documents.get(self._document.uri) is not self._document:
            raise Interrupted("The document was closed.")
        if self._inset.is_touched:
            raise Interrupted("The answer was edited.")
        if self._inset.is_astray:
            raise Interrupted("The editor put a part of the answer elsewhere. Undo it there.")

    async def open(self, compute: Callable[[str], tuple[Splice, int]]) -> None:
        """Make the edit that opens the inset: what to replace, and how much of its text comes before the inset."""
        await self._make(compute)

    async def grow(self, text: str) -> None:
        """Append to the inset."""
        await self._make(lambda base: (Splice(self.end, self.end, adopted(text, base)), 0))

    async def edit(self, compute: Callable[[str], Splice]) -> None:
        """Make an edit outside the inset."""
        await self._make(lambda base: (compute(base), 0))

    async def _make(self, compute: Callable[[str], tuple[Splice, int]]) -> None:
        for attempt in range(MOST_TRIES):
            if self._unanswered is not None:
                await asyncio.wait([self._unanswered], timeout=PATIENCE)
            self.check()
            base, version = self.text, self._document.version
            splice, lead = compute(base)
            if not splice.text and splice.start == splice.end:
                return
            self._inset.expect(splice, self._stray(base, splice), lead=lead)
            self._unanswered = asking = self._session.spawn(self._ask(base, version, splice))
            asking.add_done_callback(lambda _: self.news.set())
            try:
                if await self._is_made(asking, version):
                    return
            finally:
                self._inset.forget()
            await asyncio.sleep(PAUSE * (attempt + 1))
        raise Interrupted("The editor did not take the answer.")

    async def _is_made(self, asking: asyncio.Future[bool], version: int) -> bool:
        """Wait for the edit to show up; false when it was refused, or is not going to come."""
        loop = asyncio.get_running_loop()
        end = loop.time() + APPLY_TIME
        hopeless: float | None = None
        while True:
            self.news.clear()
            if not self._inset.is_expecting:
                return True
            self.check()
            if asking.done() and (asking.cancelled() or not asking.result()):
                return False
            if hopeless is None and asking.done() and self._document.version != version:
                hopeless = loop.time() + ECHO_TIME
            left = min(end, hopeless or end) - loop.time()
            if left <= 0:
                if hopeless is None:
                    raise Interrupted("The editor did not say whether it took the answer.")
                return False
            try:
                async with asyncio.timeout(left):
                    await self.news.wait()
            except TimeoutError:
                continue

    async def _ask(self, base: str, version: int, splice: Splice) -> bool:
        """Ask for the edit; false when the client says no."""
        known = Snapshot(self._document.uri, base, version)
        params = {"label": self._label, "edit": document_edit(known, [splice], self._session.client)}
        try:
            answer = await self._session.rpc.ask("workspace/applyEdit", params, timeout=APPLY_TIME)
        except TimeoutError:
            return True  # some clients never answer, and make the edit all the same
        except JsonRpcException:
            return False
        return object_in(answer).get("applied") is True

    def _stray(self, base: str, splice: Splice) -> Callable[[str], int]:
        """Where the edit lands when the client makes it on another text."""
        ((spot, _, _),) = spots(base, [Splice(splice.start, splice.start, "")])
        encoding = self._session.client.encoding
        where = position(spot, encoding)
        place = Position(where["line"], where["character"])
        return lambda text: TextBuffer(text, encoding).offsets(Range(place, place))[0]

    def _changed(self, states: Sequence[str], changes: Sequence[Splice]) -> None:
        self._inset.changed(states, changes)
        self.news.set()
