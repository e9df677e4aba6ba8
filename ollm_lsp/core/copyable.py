"""Copyable: a name for a model, who has to write it again: whole, on one line, and nothing hides in it."""

from __future__ import annotations

import re
from unicodedata import category

from ollm_lsp.core.hidden import hiding
from ollm_lsp.core.visible import visible_letter

_NEEDED = re.compile("[\u200c\u200d\ufe00-\ufe0f\U000e0100-\U000e01ef]")
"""Joiners and selectors, without which names in Persian or Hindi and names with emoji would be others."""


def copyable(name: str) -> str:
    """The name with what cannot be seen spelt out, except blanks, and joiners and selectors where they have a use."""
    if name.isascii() and name.isprintable():
        return name
    hidden = set(hiding(name))
    return "".join(
        letter if _stays(letter) and index not in hidden else visible_letter(letter)
        for index, letter in enumerate(name)
    )


def _stays(letter: str) -> bool:
    return category(letter) == "Zs" or bool(_NEEDED.match(letter))
