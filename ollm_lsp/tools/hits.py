"""The hits of a search: taken from the files themselves, whatever an engine says, and put into words."""

from __future__ import annotations

from codecs import BOM_UTF8
from dataclasses import dataclass
from itertools import groupby
from typing import TYPE_CHECKING

from ollm_lsp.core.errors import OllmError
from ollm_lsp.tools import walk
from ollm_lsp.tools.file_text import MAX_FILE
from ollm_lsp.tools.words import counted

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from ollm_lsp.tools.search import Found, Query
    from ollm_lsp.tools.watch import Watch

MAX_HITS = 200
LONGEST = 300
"""Characters of a line that are shown."""
_COMPARED = 200


@dataclass(frozen=True, slots=True, order=True)
class Hit:
    """A line, counted from 1, of a file or buffer under the name that it is shown by."""

    name: str
    line: int
    text: str


def verified(found: Iterable[Found], watch: Watch) -> Iterator[Hit]:
    """The lines as the walk reads them. What an engine saw through a link, or what has changed since, is dropped."""
    for place, group in groupby(found, key=lambda one: one.place):
        if watch.is_over:
            return
        try:
            lines = walk.read(place, MAX_FILE).removeprefix(BOM_UTF8).decode(errors="replace").split("\n")
        except OllmError:
            continue
        for one in group:
            text = lines[one.line - 1].removesuffix("\r") if one.line <= len(lines) else ""
            if text[:_COMPARED] == one.beginning[:_COMPARED].removesuffix("\r"):
                yield Hit(place.shown, one.line, text)


def told(hits: Sequence[Hit], query: Query, *, is_cut: bool, was_slow: bool) -> str:
    """The hits as lines `name:line: text`, and what is missing among them."""
    lines = [f"{hit.name}:{hit.line}: {_shortened(hit.text, query)}" for hit in sorted(hits)[:MAX_HITS]]
    if was_slow:
        lines.append("[The search took too long and was stopped. Give a path, or a simpler pattern.]")
    elif is_cut or len(hits) > MAX_HITS:
        lines.append(f"[Only {MAX_HITS} hits are shown, and there are more. Give a path, or a longer text.]")
    elif hits:
        files = len({hit.name for hit in hits})
        lines.append(f"[{counted(len(hits), 'hit')} in {counted(files, 'file')}.]")
    return "\n".join(lines) or "Nothing was found."


def _shortened(line: str, query: Query) -> str:
    """A line without what stands around it; of a long one the part with the text that was looked for."""
    line = line.strip()
    if len(line) <= LONGEST:
        return line
    at = -1 if query.is_regex else line.casefold().find(query.text.casefold())
    start = max(0, at - LONGEST // 3)
    return f"{'…' if start else ''}{line[start : start + LONGEST]}…"
