"""Spellings: whether two names could be one name to some file system (threat T9)."""

from __future__ import annotations

import re
from unicodedata import category, normalize

_FILLERS = "\u034f\u115f\u1160\u17b4\u17b5\u180b-\u180f\u3164\uffa0\U000e0100-\U000e01ef"
"""Characters that show nothing although their category does not say so."""
_INVISIBLE = re.compile(f"[{_FILLERS}]")
_JOINER = re.compile(r"(?<=[^\x00-\x7f])[\u200c\u200d](?=[^\x00-\x7f])")
"""Joiners inside a word of Persian or Hindi, or inside an emoji, belong there."""


def folded(name: str) -> str:
    """The same for all names that a file system might take for one: case, width, ignorable and trailing characters."""
    if name.isascii() and name.isprintable():
        return name.casefold().rstrip(". ")
    plain = normalize("NFKC", name).casefold()
    visible = "".join(character for character in plain if not _is_invisible(character))
    return normalize("NFKC", visible).rstrip(". ")


def visible(text: str) -> str:
    """The text with every character escaped that shows nothing or moves other text (threats T19 and T22)."""
    if text.isascii() and text.isprintable():
        return text
    kept = {match.start() for match in _JOINER.finditer(text)}
    return "".join(
        _escape(character) if at not in kept and _is_invisible(character) else character
        for at, character in enumerate(text)
    )


def _is_invisible(character: str) -> bool:
    # Controls, formats, surrogates, line and paragraph separators; unassigned and private ones show nothing sensible.
    return category(character) in ("Cc", "Cf", "Cs", "Zl", "Zp", "Cn", "Co") or bool(_INVISIBLE.match(character))


def _escape(character: str) -> str:
    code = ord(character)
    if 0xDC80 <= code <= 0xDCFF:
        return f"\\x{code - 0xDC00:02x}"  # a byte of a name that is not UTF-8, as Python hands it over
    return character.encode("unicode_escape", "surrogatepass").decode("ascii")
