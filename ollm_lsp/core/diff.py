"""A unified diff for people who decide by it: nothing is left out, and nothing in it hides."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ollm_lsp.core.line_diff import hunks
from ollm_lsp.core.visible import visible

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from ollm_lsp.core.line_diff import Hunk

CONTEXT = 3
NO_NEWLINE = "\\ No newline at end of file"
CRLF = "\\ All lines end with CR LF"


def diff(old: str, new: str) -> str:
    r"""How one text becomes another: every changed line whole, with three lines around it. Empty for equal texts.

    Lines end at `\n` here and nowhere else. Every `\r` is shown, but those before a `\n` when all lines of both texts
    end with them: then the first line of the diff says so.
    """
    if old == new:
        return ""
    is_crlf = _ends_with_crlf(old) and _ends_with_crlf(new)
    ending = "\r\n" if is_crlf else "\n"
    lines, new_lines = _split(old, ending), _split(new, ending)
    shown = [CRLF] if is_crlf else []
    for group in _grouped(hunks(lines, new_lines)):
        shown += _group(group, lines, new_lines, ending)
    return "\n".join(shown) + "\n"


def _group(group: Sequence[Hunk], old: list[str], new: list[str], ending: str) -> Iterator[str]:
    first, last = group[0], group[-1]
    start, end = max(0, first.start - CONTEXT), min(len(old), last.end + CONTEXT)
    new_start, new_end = first.new_start - (first.start - start), last.new_end + (end - last.end)
    yield f"@@ -{_range(start, end)} +{_range(new_start, new_end)} @@"
    here = start
    for hunk in group:
        yield from _marked(" ", old[here : hunk.start], ending)
        yield from _marked("-", old[hunk.start : hunk.end], ending)
        yield from _marked("+", new[hunk.new_start : hunk.new_end], ending)
        here = hunk.end
    yield from _marked(" ", old[here:end], ending)


def _marked(mark: str, lines: Sequence[str], ending: str) -> Iterator[str]:
    for line in lines:
        yield mark + visible(line.removesuffix(ending))
        if not line.endswith(ending):
            yield NO_NEWLINE


def _grouped(changes: Sequence[Hunk]) -> Iterator[list[Hunk]]:
    """Changes that share lines around them come together."""
    group: list[Hunk] = []
    for change in changes:
        if group and change.start - group[-1].end > 2 * CONTEXT:
            yield group
            group = []
        group.append(change)
    if group:
        yield group


def _range(start: int, end: int) -> str:
    count = end - start
    first = start + 1 if count else start
    return f"{first}" if count == 1 else f"{first},{count}"


def _ends_with_crlf(text: str) -> bool:
    endings = text.count("\r\n")
    return endings == text.count("\n") and (endings > 0 or not text)


def _split(text: str, ending: str) -> list[str]:
    lines = [line + ending for line in text.split(ending)]
    last = lines.pop().removesuffix(ending)
    return [*lines, last] if last else lines
