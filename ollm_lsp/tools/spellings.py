"""Spellings: names as the most forgiving file system would take them, so that no other spelling hides a file.

Some file systems take upper and lower case for the same, some drop characters that nobody sees, some drop dots and
spaces at the end of a name. What any of them may take for a guarded name counts as that name (threat T9).
"""

from __future__ import annotations

import re
from functools import lru_cache
from unicodedata import category, normalize
from urllib.parse import unquote

_DROPPED = {"Cc", "Cf", "Cn", "Co", "Cs", "Zl", "Zp"}
_IGNORED = re.compile("[\u034f\u115f\u1160\u17b4\u17b5\u180b-\u180f\u3164\ufe00-\ufe0f\uffa0\U000e0100-\U000e01ef]")
"""Characters that show nothing although their category does not say so."""
_SHORT_NAME = re.compile(r"[^.]{1,6}~\d{1,6}(?:\..{0,3})?")
_DEVICE = re.compile(r"(?:con|prn|aux|nul|clock\$|conin\$|conout\$|(?:com|lpt)[0-9\u00b9\u00b2\u00b3])(?:\..*)?")


def folded(path: str) -> tuple[str, ...]:
    """The names in a path, each in the one spelling that stands for all."""
    names = map(folded_name, re.split(r"[/\\]", unquote(path, errors="surrogateescape")))
    return tuple(name for name in names if name)


@lru_cache(maxsize=4096)
def folded_name(name: str) -> str:
    """The same for all names that some file system might take for one: case, width, what is unseen, what trails."""
    if name.isascii() and name.isprintable():
        return name.casefold().rstrip(". ")
    plain = normalize("NFKC", name).casefold()
    seen = "".join(letter for letter in plain if category(letter) not in _DROPPED and not _IGNORED.match(letter))
    return normalize("NFKC", normalize("NFKC", seen).casefold()).rstrip(". ")


def is_alias(path: str) -> bool:
    """Whether a name in a path is one by which Windows may mean another file: a stream, a device, a short name."""
    return any(":" in name or _SHORT_NAME.fullmatch(name) or _DEVICE.fullmatch(name) for name in folded(path))
