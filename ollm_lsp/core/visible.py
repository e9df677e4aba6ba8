"""Visible: text of others as people can judge it, with every character that cannot be seen spelt out."""

from __future__ import annotations

import re
from functools import lru_cache
from unicodedata import category, name, normalize

OPEN, CLOSE = "\N{MATHEMATICAL LEFT ANGLE BRACKET}", "\N{MATHEMATICAL RIGHT ANGLE BRACKET}"
_UNSEEN = {"Cc", "Cf", "Cn", "Co", "Cs", "Zl", "Zp"}
_INKLESS = re.compile(
    "[\u034f\u115f\u1160\u17b4\u17b5\u180b-\u180d\u180f\u2800\u3164\ufe00-\ufe0f\uffa0\U0001d159\U00016fe4"
    "\U000e0100-\U000e01ef]"
)
"""Letters, marks and symbols that have no ink."""
_LOOK_ALIKES = ("CYRILLIC", "GREEK", "ARMENIAN", "CHEROKEE", "COPTIC", "LISU")
"""Scripts with letters that look like Latin ones."""
_WORD = re.compile(r"[^\W\d_]+")
_SPELT = re.compile(f"{OPEN}U\\+([0-9A-F]{{4,6}}){CLOSE}")


def visible(text: str) -> str:
    """The text with what cannot be seen spelt out like ⟨U+202E⟩, except newline and tab.

    No two texts look the same, because the bracket that begins a spelling is spelt out, too; `unescape` reads it back.
    """
    if text.isascii() and text.isprintable():
        return text
    return "".join(map(_shown, text))


def visible_name(text: str) -> str:
    """The same for a name: on one line, and letters spelt out that look like Latin ones beside such."""
    names = list(map(_shown_in_name, text))
    for word in _WORD.finditer(text):
        if any(letter.isascii() for letter in word[0]):
            for index in range(*word.span()):
                if script(text[index]) in _LOOK_ALIKES:
                    names[index] = spelt(text[index])
    return "".join(names)


def visible_letter(character: str) -> str:
    """A single character on one line, spelt out if it cannot be seen."""
    return spelt(character) if character in "\n\t" else _shown(character)


def spelt(character: str) -> str:
    """A character as its number."""
    return f"{OPEN}U+{ord(character):04X}{CLOSE}"


def unescape(shown: str) -> str:
    """The text that was made visible."""
    return _SPELT.sub(lambda spelling: chr(int(spelling[1], 16)), shown)


@lru_cache(maxsize=4096)
def script(character: str) -> str:
    """The first word of a character's name, which for a letter is its script."""
    return name(character, "").partition(" ")[0] if character else ""


@lru_cache(maxsize=4096)
def _shown(character: str) -> str:
    if character in "\n\t ":
        return character
    kind = category(character)
    # A blank that is no space looks like one.
    is_unseen = kind in _UNSEEN or kind == "Zs" or character == OPEN or _INKLESS.match(character)
    return spelt(character) if is_unseen else character


@lru_cache(maxsize=4096)
def _shown_in_name(character: str) -> str:
    is_disguised = not character.isascii() and normalize("NFKC", character).isascii()
    return spelt(character) if is_disguised else visible_letter(character)
