"""Cells: how much room a text takes on a terminal."""

from __future__ import annotations

import os
import shutil
import unicodedata
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from typing import TextIO

_INVISIBLE = {"Mn", "Me", "Cf"}


def cells(text: str) -> int:
    """The number of columns of a text without control characters."""
    return sum(map(_cells_of, text))


def shorten(text: str, room: int) -> str:
    """The text, or as much of its beginning as fits with an ellipsis."""
    if cells(text) <= room:
        return text
    if room < 1:
        return ""
    kept: list[str] = []
    left = room - 1
    for character in text:
        left -= _cells_of(character)
        if left < 0:
            break
        kept.append(character)
    return "".join(kept) + "…"


def columns_of(stream: TextIO) -> int:
    """The width of the terminal behind a stream, as it is now; 80 when nobody knows."""
    try:
        columns = os.get_terminal_size(stream.fileno()).columns
    except (OSError, ValueError):
        columns = 0
    return columns or shutil.get_terminal_size().columns


def _cells_of(character: str) -> int:
    if character.isascii():
        return 1
    if unicodedata.category(character) in _INVISIBLE:
        return 0
    return 2 if unicodedata.east_asian_width(character) in {"W", "F"} else 1
