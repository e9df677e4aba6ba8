"""A model of an editor whose user types while the server edits, and whose messages take their time.

Every character knows whose it is, so that a test can see what became of the user's text and of ours. The editor goes
by the rules of its kind: it checks versions or not, tells changes before its answer or after it, one by one or joined,
as ranges or as whole texts, and may say yes to what it did not do.
"""

from __future__ import annotations

import asyncio
from collections import deque
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from ollm_lsp.lsp.buffer import Position, PositionEncoding, Range, TextBuffer
from ollm_lsp.lsp.capabilities import ClientCapabilities
from ollm_lsp.lsp.documents import Documents
from ollm_lsp.lsp.standard import ContentChange, TextDocumentItem

if TYPE_CHECKING:
    from collections.abc import Callable, Coroutine, Iterator

URI = "untitled:a.ollm.md"


@dataclass(frozen=True)
class Kind:
    """What kind of editor it is."""

    encoding: PositionEncoding
    checks_versions: bool = True
    tells_first: bool = False
    """Whether the change is told before the answer."""
    answers: bool = True
    lies: bool = False
    """Whether it says yes to an edit of an old version, which it does not make."""
    tells_whole_texts: bool = False
    joins: bool = False
    """Whether several changes may be told in one message."""


async def turns(count: int) -> None:
    for _ in range(count):
        await asyncio.sleep(0)


@dataclass
class TypingUser:
    """The editor, its user, and as much of a session as an answer in a document needs."""

    kind: Kind
    text: str
    delays: Iterator[int]
    version: int = 1
    told: list[tuple[str, Any]] = field(default_factory=list[tuple[str, Any]])
    tasks: set[asyncio.Task[Any]] = field(default_factory=set[asyncio.Task[Any]])
    is_open: bool = True

    def __post_init__(self) -> None:
        self.client = ClientCapabilities(
            self.kind.encoding, apply_edit=True, document_changes=self.kind.checks_versions
        )
        self.documents = Documents(self.kind.encoding)
        self.documents.open(TextDocumentItem(URI, self.text, "markdown", 1))
        self.rpc = self
        self.ours = [False] * len(self.text)
        self.answer: tuple[int, int] | None = None
        """Where the answer is, heading included, as far as the editor has it."""
        self._changes: list[ContentChange] = []
        self._sending: deque[Callable[[], None]] = deque()

    # The session

    def spawn(self, coroutine: Coroutine[Any, Any, Any]) -> asyncio.Task[Any]:
        task = asyncio.ensure_future(coroutine)
        self.tasks.add(task)
        task.add_done_callback(self.tasks.discard)
        return task

    def notify(self, method: str, params: Any) -> None:
        self.told.append((method, params))

    async def ask(self, method: str, params: Any, *, timeout: float) -> Any:
        assert method == "workspace/applyEdit"
        assert timeout > 0
        await turns(next(self.delays))
        answer = asyncio.get_running_loop().create_future()
        edit = params["edit"]
        whole: list[Any] = [
            {"textDocument": {"uri": uri, "version": None}, "edits": edits}
            for uri, edits in edit.get("changes", {}).items()
        ]
        (only,) = edit.get("documentChanges", whole)
        document, (change,) = only["textDocument"], only["edits"]
        assert document["uri"] == URI
        assert self.kind.checks_versions is (document["version"] is not None)
        is_made = self.is_open and document["version"] in (None, self.version)
        says = {"applied": is_made or self.kind.lies}

        def reply() -> None:
            if self.kind.answers and not answer.done():
                answer.set_result(says)

        if not self.kind.tells_first:
            self._sending.append(reply)
        if is_made:
            start, end = self._span(change["range"])
            self._replace(start, end, change["newText"], is_ours=True)
        if self.kind.tells_first:
            self._flush()
            self._sending.append(reply)
        return await answer

    # The user

    def type(self, before: bool, at: float, erase: int, text: str) -> None:
        """Change something before the answer or after it; `at` is where, from 0 to 1."""
        assert self.answer is not None
        first, last = (0, self.answer[0]) if before else (self.answer[1], len(self.text))
        start = first + round(at * (last - first))
        self._replace(start, min(start + erase, last), text, is_ours=False)

    def edit_answer(self) -> None:
        assert self.answer is not None
        start = self.answer[1] - 1
        self._replace(start, start, "!", is_ours=False)

    def close(self) -> None:
        self.is_open = False
        self._sending.append(lambda: self.documents.close(URI))

    async def send(self) -> None:
        """Send what waits, in its order and in its own time, for ever."""
        while True:
            await turns(1 + next(self.delays))
            if self._sending:
                self._sending.popleft()()
            elif self._changes:
                self._flush()

    def settle(self) -> None:
        """Send everything now."""
        self._flush()
        while self._sending:
            self._sending.popleft()()

    def owned(self, *, is_ours: bool) -> str:
        return "".join(letter for letter, ours in zip(self.text, self.ours, strict=True) if ours is is_ours)

    def _replace(self, start: int, end: int, text: str, *, is_ours: bool) -> None:
        if is_ours:
            assert all(self.ours[start:end]), "the server took something of the user's away"
        change = ContentChange(text, self._range(start, end))
        self.text = self.text[:start] + text + self.text[end:]
        self.ours[start:end] = [is_ours] * len(text)
        self.version += 1
        if self.answer is None:
            self.answer = (start + text.index("## "), start + len(text))
        elif is_ours and start == end == self.answer[1]:
            self.answer = (self.answer[0], start + len(text))
        elif end <= self.answer[0]:
            by = len(text) - (end - start)
            self.answer = (self.answer[0] + by, self.answer[1] + by)
        self._changes.append(ContentChange(self.text) if self.kind.tells_whole_texts else change)
        if not self.kind.joins:
            self._flush()

    def _flush(self) -> None:
        if self._changes:
            changes, self._changes = self._changes, []
            version = self.version
            self._sending.append(lambda: self._tell(version, changes))

    def _tell(self, version: int, changes: list[ContentChange]) -> None:
        self.documents.change(URI, version, changes)

    def _range(self, start: int, end: int) -> Range:
        return Range(self._position(start), self._position(end))

    def _position(self, offset: int) -> Position:
        before = self.text[:offset]
        line = before.rpartition("\n")[2]
        match self.kind.encoding:
            case PositionEncoding.UTF8:
                units = len(line.encode())
            case PositionEncoding.UTF16:
                units = len(line.encode("utf-16-le")) // 2
            case PositionEncoding.UTF32:
                units = len(line)
        return Position(before.count("\n"), units)

    def _span(self, raw: dict[str, Any]) -> tuple[int, int]:
        start, end = (Position(raw[side]["line"], raw[side]["character"]) for side in ("start", "end"))
        return TextBuffer(self.text, self.kind.encoding).offsets(Range(start, end))
