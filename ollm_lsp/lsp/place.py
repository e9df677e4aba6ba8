"""The place that an action is about: whole lines of an open document."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from ollm_lsp.core.ai_comments import AiComment, ai_comment
from ollm_lsp.core.definition import definition_around
from ollm_lsp.core.errors import Unsupported
from ollm_lsp.core.lines import body, split
from ollm_lsp.core.snapshot import Snapshot
from ollm_lsp.lsp import uris
from ollm_lsp.lsp.buffer import Position, Range

if TYPE_CHECKING:
    from collections.abc import Sequence

    from ollm_lsp.lsp.documents import Document
    from ollm_lsp.lsp.session import Session

_NO_LANGUAGE = frozenset({"", "plaintext", "text"})


@dataclass(frozen=True, slots=True)
class Place:
    """Where the user was at a moment; `head` is the document that was changed or opened last then."""

    uri: str
    range: Range
    version: int
    head: str


@dataclass(frozen=True, slots=True)
class Target:
    """What an action works on: lines of a text, which is the document's without the comment that asks for it."""

    snapshot: Snapshot
    text: str
    first: int
    last: int
    language: str
    path: str

    @property
    def block(self) -> str:
        return "".join(split(self.text)[self.first : self.last + 1])

    @property
    def range(self) -> Range:
        return Range(Position(self.first, 0), Position(self.last + 1, 0))

    @property
    def file(self) -> str:
        return self.path.rpartition("/")[2]

    @property
    def is_whole(self) -> bool:
        """Whether the rest of the document says nothing."""
        lines = split(self.text)
        return not "".join((*lines[: self.first], *lines[self.last + 1 :])).strip()


def remember(session: Session, uri: str, where: Range) -> None:
    """Take note of where the user is: some editors run commands without telling it."""
    document = session.documents.get(uri)
    head = _head(session)
    if document is not None and head is not None and not uris.is_own(uri):
        session.place = Place(uri, where, document.version, head.uri)


def where(session: Session, uri: str | None, place: Range | None) -> tuple[Document, Range | None]:
    """The document and the range that are meant, also when an editor names none."""
    if uri is not None:
        document = session.documents.get(uri)
        if document is None:
            raise Unsupported(f"{uri} is not open in the editor.", remedy="Open it and try again.")
        return document, place
    document = active(session)
    if document is None:
        raise Unsupported("No document is open.", remedy="Open one and try again.")
    return document, place or last_range(session, document)


def active(session: Session) -> Document | None:
    """The document of the user's work that they used last, as far as the editor tells it."""
    head, last = _head(session), session.place
    is_newest = head is not None and last is not None and head.uri in (last.head, last.uri)
    return (session.documents.get(last.uri) if last and is_newest else None) or head


def last_range(session: Session, document: Document) -> Range | None:
    """Where in a document the user was when the editor last told it; nothing when the document has changed since."""
    last = session.place
    is_there = last is not None and uris.key(last.uri) == uris.key(document.uri) and last.version == document.version
    return last.range if last and is_there else None


def _head(session: Session) -> Document | None:
    return next((document for document in session.documents.recent() if not uris.is_own(document.uri)), None)


def from_lines(lines: Sequence[int]) -> Range:
    """The range of a first and a last line, counted from 1; a single line is where the cursor is."""
    first, last = (max(0, number - 1) for number in (min(lines), max(lines)))
    return Range(Position(first, 0), Position(last + 1 if last > first else first, 0))


def is_selection(document: Document, place: Range) -> bool:
    """Whether a range holds whole lines. Some editors always select something, such as the word at the cursor."""
    start, end = sorted((place.start, place.end))
    if start.line != end.line or start.line >= document.buffer.line_count:
        return start.line != end.line
    text = document.buffer.slice(Range(start, end)).strip()
    return len(text) > 1 and text == document.buffer.line(start.line).strip()


def target(document: Document, place: Range | None) -> Target:
    """The whole lines that a selection touches; without one, what encloses the cursor, or the document."""
    lines = split(document.buffer.text)
    first, last = _trimmed(lines, *_lines(document, lines, place))
    if not "".join(lines[first : last + 1]).strip():
        raise Unsupported(f"There is no code in {document.path}.", remedy="Write or select some.")
    return _of(document, document.buffer.text, first, last)


def commented(document: Document, place: Range | None, *, wants_change: bool) -> tuple[Target, AiComment] | None:
    """What a comment for the model in a range, or just above it, is about; for a change without the comment itself."""
    if place is None:
        return None
    lines = split(document.buffer.text)
    start, end = sorted((place.start.line, place.end.line))
    for number in (*range(max(0, start), min(end + 1, len(lines))), start - 1):
        if not 0 <= number < len(lines):
            continue
        comment = ai_comment(body(lines[number]), document.language_id)
        if comment is not None and comment.wants_change is wants_change and comment.instruction:
            return _about(document, lines, number, comment), comment
    return None


def _about(document: Document, lines: list[str], number: int, comment: AiComment) -> Target:
    first, last = definition_around([body(line) for line in lines], number) or (number, number)
    is_alone = not comment.rest.strip() and first == last
    if is_alone or not comment.wants_change:
        return _of(document, document.buffer.text, first, last)
    rest = [comment.rest + lines[number][len(body(lines[number])) :]] if comment.rest.strip() else []
    text = "".join((*lines[:number], *rest, *lines[number + 1 :]))
    return _of(document, text, first, last if rest else last - 1)


def _of(document: Document, text: str, first: int, last: int) -> Target:
    snapshot = Snapshot(document.uri, document.buffer.text, document.version)
    language = "" if document.language_id in _NO_LANGUAGE else document.language_id
    return Target(snapshot, text, first, last, language, document.path)


def _lines(document: Document, lines: Sequence[str], place: Range | None) -> tuple[int, int]:
    if place is None:
        return 0, len(lines) - 1
    start, end = sorted((place.start, place.end))
    if not is_selection(document, place):
        return definition_around([body(line) for line in lines], start.line) or (0, len(lines) - 1)
    # Who selects whole lines ends at the beginning of the next one.
    last = end.line - 1 if end.character == 0 and end.line > start.line else end.line
    return max(0, start.line), min(last, len(lines) - 1)


def _trimmed(lines: Sequence[str], first: int, last: int) -> tuple[int, int]:
    found = [number for number in range(first, last + 1) if lines[number].strip()]
    return (found[0], found[-1]) if found else (first, last)
