"""A document as one string, edited in the slowest and plainest way: what the real buffer is held against."""

from __future__ import annotations

import re
from dataclasses import dataclass

_LINE = re.compile(r"[^\r\n]*(?:\r\n|\n|\r)|[^\r\n]+\Z|\Z")


@dataclass
class ReferenceBuffer:
    """The whole text, and in which units its positions are counted."""

    text: str
    encoding: str

    def edit(self, start: tuple[int, int], end: tuple[int, int], text: str) -> None:
        first, last = sorted((self.offset(*start), self.offset(*end)))
        self.text = self.text[:first] + text + self.text[last:]

    def offset(self, line: int, character: int) -> int:
        """The place in the text, one character after the other."""
        if line < 0:
            return 0
        starts = [match.start() for match in _LINE.finditer(self.text)]
        if self.text and self.text[-1] not in "\r\n":
            starts = [start for start in starts if start < len(self.text)] or [0]
        starts = starts or [0]
        if line >= len(starts):
            return len(self.text)
        at, units = starts[line], 0
        while at < len(self.text) and self.text[at] not in "\r\n":
            units += _units(self.text[at], self.encoding)
            if units > character:
                break
            at += 1
        return at


def _units(character: str, encoding: str) -> int:
    if encoding == "utf-32":
        return 1
    octets = character.encode("utf-8" if encoding == "utf-8" else "utf-16-le", "surrogatepass")
    return len(octets) if encoding == "utf-8" else len(octets) // 2
