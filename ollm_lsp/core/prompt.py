"""What a user typed into a chat: an order at its beginning, mentions of things in the editor, and the words."""

from __future__ import annotations

import re
from dataclasses import dataclass
from enum import Enum
from typing import TYPE_CHECKING

from ollm_lsp.core.fence import Fence
from ollm_lsp.core.slash import slash_of

if TYPE_CHECKING:
    from collections.abc import Iterator

    from ollm_lsp.core.slash import Slash

_ORDER = re.compile(r"\s*/([A-Za-z][A-Za-z0-9_-]*)(?=\s|$)")
_MENTION = re.compile(r"(?<![\w#/&])#(?:file:(?:\"([^\"\n]+)\"|(\S+))|(buffer|selection|diagnostics)\b)")
_CODE = re.compile(r"(`+)(?!`).*?(?<!`)\1(?!`)")
_AFTER_A_PATH = ".,;:!?)]}'\"»”"


class MentionKind(Enum):
    """What can be mentioned."""

    BUFFER = "buffer"
    SELECTION = "selection"
    DIAGNOSTICS = "diagnostics"
    FILE = "file"


@dataclass(frozen=True, slots=True)
class Mention:
    """Something of the editor that the message speaks of: `#file:src/app.py`, `#selection`."""

    kind: MentionKind
    path: str = ""
    start: int = 0
    end: int = 0
    """Where it stands in what was typed."""


@dataclass(frozen=True, slots=True)
class Prompt:
    """A message, read. `text` is what the model is asked: all of it, or what follows the order."""

    text: str
    order: Slash | None = None
    mentions: tuple[Mention, ...] = ()

    def mentions_of(self, kind: MentionKind) -> list[Mention]:
        return [mention for mention in self.mentions if mention.kind is kind]


def read_prompt(typed: str) -> Prompt:
    """Read a message. An unknown order raises `Unsupported`; a path like `/etc/hosts` is no order."""
    found = _ORDER.match(typed)
    order, rest = (slash_of(found[1]), typed[found.end() :].strip()) if found else (None, typed)
    return Prompt(rest, order, tuple(mentions_in(typed)))


def mentions_in(typed: str) -> Iterator[Mention]:
    """Every mention in its order. What stands in code is no mention: `#selection` is also a CSS selector."""
    for start, line in _prose(typed):
        code = [span.span() for span in _CODE.finditer(line)]
        for found in _MENTION.finditer(line):
            if any(first <= found.start() < last for first, last in code):
                continue
            if found[3]:
                kind, path, end = MentionKind(found[3]), "", found.end()
            else:
                path = found[1] or found[2].rstrip(_AFTER_A_PATH)
                kind, end = MentionKind.FILE, found.end() if found[1] else found.start(2) + len(path)
            if kind is not MentionKind.FILE or path:
                yield Mention(kind, path, start + found.start(), start + end)


def _prose(typed: str) -> Iterator[tuple[int, str]]:
    """The lines outside fenced code, each with its place."""
    start, fence = 0, Fence()
    for line in typed.split("\n"):
        if not fence.feed(line):
            yield start, line
        start += len(line) + 1
