"""Changed lines: what a model is told of a text after an edit, with the numbers that the lines have now."""

from __future__ import annotations

from ollm_lsp.core.line_diff import hunks
from ollm_lsp.core.lines import body, split

MOST = 60
_WIDEST = 500


def changed_lines(before: str, after: str) -> str:
    """The new lines, numbered from 1, at most some; where lines only went away, that."""
    lines = split(after)
    told: list[str] = []
    left = MOST
    for hunk in hunks(split(before), lines):
        if hunk.new_start == hunk.new_end:
            count = hunk.end - hunk.start
            told.append(f"{count} {'line' if count == 1 else 'lines'} removed before line {hunk.new_start + 1}")
            continue
        shown = lines[hunk.new_start : hunk.new_end][:left]
        told += (f"{hunk.new_start + index:>6}\t{body(line)[:_WIDEST]}" for index, line in enumerate(shown, 1))
        left -= len(shown)
        if hunk.new_end - hunk.new_start > len(shown):
            told.append("(more lines changed than are shown)")
            break
    return "\n".join(told)
