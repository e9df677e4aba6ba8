"""Hidden characters: those that nobody sees and that no script and no emoji around them has a use for.

Persian and Hindi need joiners, Thai needs word breaks, a heart needs a selector to be red. These are honest; the same
characters between Latin letters are not.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING
from unicodedata import bidirectional, category, name

from ollm_lsp.core.visible import script, spelt

if TYPE_CHECKING:
    from collections.abc import Iterator

_SUSPECTS = re.compile(
    "[\x00-\x08\x0b\x0e-\x1f\x7f-\x9f\u00ad\u034f\u061c\u115f\u1160\u17b4\u17b5\u180b-\u180f\u200b-\u200f\u2028-\u202e"
    "\u2060-\u206f\u2800\u3164\ud800-\udfff\ufe00-\ufe0f\ufeff\uffa0\ufff0-\ufffb\U0001bca0-\U0001bca3"
    "\U0001d159\U0001d173-\U0001d17a\U000e0000-\U000e0fff]"
)
_FLAG = re.compile("\U0001f3f4[\U000e0030-\U000e0039\U000e0061-\U000e007a]{3,6}\U000e007f")
"""The flags of Scotland, Texas and the like are spelt in tags behind a black flag."""
_NEIGHBOURHOOD = 200
"""Characters on either side that may explain one between them."""
_JOINING = {
    "ADLAM", "ARABIC", "BALINESE", "BENGALI", "BRAHMI", "CHAKMA", "DEVANAGARI", "GRANTHA", "GUJARATI", "GURMUKHI",
    "HANIFI", "HEBREW", "JAVANESE", "KAITHI", "KANNADA", "KHMER", "MALAYALAM", "MANDAIC", "MEETEI", "MONGOLIAN",
    "MYANMAR", "NEWA", "NKO", "ORIYA", "PHAGS-PA", "SHARADA", "SINHALA", "SUNDANESE", "SYRIAC", "TAMIL", "TELUGU",
    "TIBETAN", "TIRHUTA",
}  # fmt: skip
_WITHOUT_SPACES = {
    "BALINESE",
    "CJK",
    "HIRAGANA",
    "JAVANESE",
    "KATAKANA",
    "KHMER",
    "LAO",
    "MYANMAR",
    "TAI",
    "THAI",
    "TIBETAN",
}
_OWN_SCRIPT = {
    "\u115f": "HANGUL", "\u1160": "HANGUL", "\u17b4": "KHMER", "\u17b5": "KHMER", "\u180b": "MONGOLIAN",
    "\u180c": "MONGOLIAN", "\u180d": "MONGOLIAN", "\u180e": "MONGOLIAN", "\u180f": "MONGOLIAN",
}  # fmt: skip
"""Characters that have a use in one script only."""


@dataclass(frozen=True, slots=True)
class Hidden:
    """A hidden character and where it is; line and column count from 0."""

    character: str
    line: int
    column: int

    def __str__(self) -> str:
        return f"{spelt(self.character)} ({name(self.character, 'CONTROL')}) in line {self.line + 1}"


def hidden(text: str) -> list[Hidden]:
    """All hidden characters of a text. A byte-order mark at its beginning is none."""
    found: list[Hidden] = []
    line, line_start = 0, 0
    for index in hiding(text):
        line += text.count("\n", line_start, index)
        line_start = text.rfind("\n", line_start, index) + 1 or line_start
        found.append(Hidden(text[index], line, index - line_start))
    return found


def hiding(text: str) -> Iterator[int]:
    """Where the hidden characters of a text are."""
    flags = {index for flag in _FLAG.finditer(text) for index in range(*flag.span())}
    for suspect in _SUSPECTS.finditer(text):
        if suspect.start() not in flags and not _is_honest(text, suspect.start()):
            yield suspect.start()


def without_hidden(text: str) -> str:
    """The text as people see it."""
    dropped = set(hiding(text))
    return "".join(letter for index, letter in enumerate(text) if index not in dropped) if dropped else text


def _is_honest(text: str, index: int) -> bool:
    """Whether the text around a character explains it."""
    character = text[index]
    before, after = text[index - 1 : index] if index else "", text[index + 1 : index + 2]
    scripts = {script(before), script(after)}
    match character:
        case "\ufeff":
            return index == 0
        case "\u00ad":
            return before.isalpha() and after.isalpha()
        case "\u034f":
            return category(before or " ") == "Mn" or (before.isalpha() and not before.isascii())
        case "\u200b":
            return bool(scripts & _WITHOUT_SPACES)
        case "\u200c" | "\u200d":
            return bool(scripts & _JOINING) or (character == "\u200d" and _is_emoji(before) and _is_emoji(after))
        case "\u061c" | "\u200e" | "\u200f":
            return any(near.isalpha() and bidirectional(near) in {"R", "AL"} for near in _around(text, index))
        case "\u2800":
            return any("\u2801" <= near <= "\u28ff" for near in _around(text, index))
        case _:
            return _OWN_SCRIPT.get(character) in scripts or _is_honest_variant(character, before)


def _is_honest_variant(character: str, before: str) -> bool:
    """Whether a selector, or a sign of a notation, stands behind something that it can be for."""
    match character:
        case _ if "\ufe00" <= character <= "\ufe0f":
            return _takes_selector(before)
        case _ if "\U000e0100" <= character <= "\U000e01ef":
            return script(before) == "CJK"
        case _ if "\U0001bca0" <= character <= "\U0001d17a":
            return script(before) in {"DUPLOYAN", "MUSICAL"}
        case _:
            return False


def _around(text: str, index: int) -> str:
    """The line of a character, as far as it matters."""
    head = text[max(0, index - _NEIGHBOURHOOD) : index].rpartition("\n")[2]
    return head + text[index : index + _NEIGHBOURHOOD].partition("\n")[0]


def _is_emoji(character: str) -> bool:
    return bool(character) and (category(character) in {"So", "Sk"} or character == "\ufe0f")


def _takes_selector(character: str) -> bool:
    """Whether Unicode knows variants of a character: symbols, ideographs, digits of keycaps."""
    return bool(character) and (
        category(character) in {"So", "Sm", "Pd", "Po"}
        or character in "0123456789#*\u2139"
        or script(character) in {"CJK", "MYANMAR", "PHAGS-PA"}
    )
