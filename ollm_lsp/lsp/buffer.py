"""The text of one open document, edited in place.

Invariant: the lines are always those that splitting the whole text anew would give
(guarded by `test_random_edits_match_editing_the_whole_text`).
"""

from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum
from io import StringIO
from typing import Any


class PositionEncoding(StrEnum):
    """The code units in which a client counts characters."""

    UTF8 = "utf-8"
    UTF16 = "utf-16"
    UTF32 = "utf-32"


@dataclass(frozen=True, slots=True, order=True)
class Position:
    """A place between two characters, counted in code units of the negotiated encoding."""

    line: int
    character: int


@dataclass(frozen=True, slots=True)
class Range:
    """The text from `start` up to `end`; the order of the two does not matter."""

    start: Position
    end: Position


class TextBuffer:
    r"""A document as a list of lines, so that an edit costs what it touches, whatever the document's size.

    Lines end at `\n`, `\r\n` and `\r` only, as in LSP. A position past the end of its line means the place
    before the line ending, one past the last line the end of the document, a negative one the start, and one
    inside a character of several code units the start of that character.
    """

    __slots__ = ("_length", "_lines", "_text", "derived", "encoding")

    def __init__(self, text: str, encoding: PositionEncoding) -> None:
        self.encoding = encoding
        self.derived: dict[object, Any] = {}
        """What somebody has computed of this text and may want again; the next edit forgets it."""
        self.replace_all(text)

    @property
    def text(self) -> str:
        """The whole text, joined on demand and kept until the next edit."""
        if self._text is None:
            self._text = "".join(self._lines)
        return self._text

    @property
    def length(self) -> int:
        """How many characters there are; known without joining them."""
        return self._length

    @property
    def lines(self) -> Sequence[str]:
        """All lines with their endings, as they are now: for reading, before anybody edits."""
        return self._lines

    @property
    def line_count(self) -> int:
        """At least 1: text that ends with a line ending is followed by an empty last line."""
        return len(self._lines)

    def line(self, number: int) -> str:
        """A line without its ending."""
        return self._lines[number].rstrip("\r\n")

    def lines_with(self, one: str, other: str) -> list[int]:
        """The numbers of the lines that hold one of two words; the whole text is not joined for it."""
        return [number for number, line in enumerate(self._lines) if one in line or other in line]

    def replace_all(self, text: str) -> None:
        # Every line but the last holds its line ending. The list is flat on purpose: a new line moves the
        # pointers behind it, which for 100,000 lines takes 10 to 20 µs.
        self._lines = _split(text)
        self._length = len(text)
        self.derived.clear()
        self._text: str | None = None

    def edit(self, where: Range, text: str) -> None:
        lines = self._lines
        (first, start), (last, end) = self._locate(where)
        fresh = _split(text)
        fresh[0] = lines[first][:start] + fresh[0]
        fresh[-1] += lines[last][end:]
        # At either border of the edit a "\r" may have met a "\n", and then the two are one line ending.
        if len(fresh) > 1 and fresh[-1].startswith("\n") and fresh[-2].endswith("\r"):
            fresh[-2:] = [fresh[-2] + fresh[-1]]
        if first > 0 and fresh[0].startswith("\n") and lines[first - 1].endswith("\r"):
            first -= 1
            fresh[0] = lines[first] + fresh[0]
        self._length += sum(map(len, fresh)) - sum(map(len, lines[first : last + 1]))
        lines[first : last + 1] = fresh
        self.derived.clear()
        self._text = None

    def slice(self, where: Range) -> str:
        lines = self._lines
        (first, start), (last, end) = self._locate(where)
        if first == last:
            return lines[first][start:end]
        return "".join((lines[first][start:], *lines[first + 1 : last], lines[last][:end]))

    def offsets(self, where: Range) -> tuple[int, int]:
        """Where a range begins and ends in the whole text."""
        (first, start), (last, end) = self._locate(where)
        before = sum(map(len, self._lines[:first]))
        return before + start, before + sum(map(len, self._lines[first:last])) + end

    def _locate(self, where: Range) -> list[tuple[int, int]]:
        """Both ends as line and index in that line's string, in the order of the text."""
        start = self._place(where.start)
        # Most edits insert: a long line with other than ASCII characters is then encoded once, not twice.
        end = start if where.end == where.start else self._place(where.end)
        return sorted((start, end))

    def _place(self, position: Position) -> tuple[int, int]:
        if position.line < 0:
            return 0, 0
        line = min(position.line, len(self._lines) - 1)
        if line < position.line:
            return line, len(self._lines[line])
        return line, _index(self._lines[line], max(position.character, 0), self.encoding)


def _split(text: str) -> list[str]:
    # `str.splitlines` would also cut at form feeds, U+0085, U+2028 and others.
    lines = StringIO(text, newline="").readlines()
    if not lines or lines[-1].endswith(("\n", "\r")):
        lines.append("")
    return lines


def _index(line: str, units: int, encoding: PositionEncoding) -> int:
    """How many whole characters of a line, without its ending, fit into that many code units."""
    # No character has less than one code unit, so those beyond the first `units` never count.
    head = line[:units].rstrip("\r\n")
    if encoding is PositionEncoding.UTF32 or head.isascii():
        return len(head)
    if encoding is PositionEncoding.UTF16:
        # A lone surrogate is one unit and so is the "?" in its place; what is cut in two is dropped.
        return len(head.encode("utf-16-le", "replace")[: 2 * units].decode("utf-16-le", "ignore"))
    octets = head.encode("utf-8", "surrogatepass")
    while units < len(octets) and octets[units] & 0xC0 == 0x80:
        units -= 1
    return len(octets[:units].decode("utf-8", "surrogatepass"))
