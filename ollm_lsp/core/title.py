"""A conversation's name in a list: its first words, in one line."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ollm_lsp.core.messages import Role

if TYPE_CHECKING:
    from collections.abc import Iterable

    from ollm_lsp.core.messages import Message

LENGTH = 60
UNTITLED = "Untitled"


def title_of(messages: Iterable[Message]) -> str:
    """The first words that the user said."""
    return next((one_line(message.text) for message in messages if message.role is Role.USER), UNTITLED)


def one_line(text: str) -> str:
    """The text as a title: one line, shortened after a word where it is too long."""
    line = " ".join(text[: LENGTH * 20].split())
    # Not every text that JSON can hold is one that a database or a terminal can.
    line = line.encode(errors="replace").decode().replace("\0", "")
    if len(line) > LENGTH:
        cut = line[: LENGTH - 1]
        line = f"{cut.rpartition(' ')[0] or cut}…"
    return line or UNTITLED
