"""Merge: two changes of one text brought together, or the insight that they cannot be."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ollm_lsp.core.line_diff import hunks
from ollm_lsp.core.lines import split

if TYPE_CHECKING:
    from collections.abc import Sequence

    from ollm_lsp.core.line_diff import Hunk


def merge(base: str, ours: str, theirs: str) -> str | None:
    """Both changes of the base, if they do not meet; else nothing.

    Changes meet when they overlap or touch: a line that somebody wrote beside a change may depend on it. Only the very
    same change of the very same lines is taken once.
    """
    if ours in (base, theirs):
        return theirs
    if theirs == base:
        return ours
    lines, our_lines, their_lines = split(base), split(ours), split(theirs)
    ours_left, theirs_left = hunks(lines, our_lines), hunks(lines, their_lines)
    merged: list[str] = []
    here = 0
    while ours_left or theirs_left:
        hunk, fresh = _next(ours_left, our_lines, theirs_left, their_lines)
        if hunk is None:
            return None
        merged += lines[here : hunk.start]
        merged += fresh
        here = hunk.end
    return "".join((*merged, *lines[here:]))


def _next(
    ours: list[Hunk], our_lines: Sequence[str], theirs: list[Hunk], their_lines: Sequence[str]
) -> tuple[Hunk | None, Sequence[str]]:
    """The first change that is left, and its new lines; nothing when the first ones meet."""
    if not theirs or (ours and ours[0].end < theirs[0].start):
        hunk = ours.pop(0)
        return hunk, our_lines[hunk.new_start : hunk.new_end]
    if not ours or theirs[0].end < ours[0].start:
        hunk = theirs.pop(0)
        return hunk, their_lines[hunk.new_start : hunk.new_end]
    our, their = ours.pop(0), theirs.pop(0)
    our_fresh, their_fresh = our_lines[our.new_start : our.new_end], their_lines[their.new_start : their.new_end]
    is_same = (our.start, our.end, our_fresh) == (their.start, their.end, their_fresh)
    return (our if is_same else None), our_fresh
