"""Splices: the few places in which a new text differs from its base, so that all else stays as it is."""

from __future__ import annotations

from bisect import bisect_right
from dataclasses import dataclass
from typing import TYPE_CHECKING

from ollm_lsp.core.line_diff import hunks
from ollm_lsp.core.lines import split

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence


@dataclass(frozen=True, slots=True)
class Splice:
    """The characters from `start` up to `end` of a base become `text`."""

    start: int
    end: int
    text: str


@dataclass(frozen=True, slots=True)
class Spot:
    """A place in a text: the number of its line, and what stands before it there.

    The text, and not its length, because every editor counts in code units of its own.
    """

    line: int
    before: str


def splices(base: str, new: str) -> tuple[Splice, ...]:
    r"""What makes the new text of the base, in the order of the text. No border is between a `\r` and its `\n`."""
    if base == new:
        return ()
    skipped, tail = _common_lines(base, new)
    lines = split(base[skipped : len(base) - tail])
    new_lines = split(new[skipped : len(new) - tail])
    starts, found = _starts(lines, skipped), list[Splice]()
    for hunk in hunks(lines, new_lines):
        old_text = "".join(lines[hunk.start : hunk.end])
        new_text = "".join(new_lines[hunk.new_start : hunk.new_end])
        head, tail = _common(old_text, new_text)
        begin, end = starts[hunk.start] + head, starts[hunk.end] - tail
        found.append(Splice(begin, end, new_text[head : len(new_text) - tail]))
    return tuple(found)


def one_splice(base: str, new: str) -> Splice:
    """What makes the new text of the base as a single change, which begins as late as can be."""
    shorter = min(len(base), len(new))
    head = _run(base, new, shorter)
    tail = _run(base[::-1], new[::-1], shorter - head)
    return Splice(head, len(base) - tail, new[head : len(new) - tail])


def apply(base: str, changes: Sequence[Splice]) -> str:
    """The base with all splices made at once."""
    return "".join(_pieces(base, changes))


def spots(base: str, changes: Sequence[Splice]) -> list[tuple[Spot, Spot, str]]:
    """The splices with their borders as places in lines: from, to, and the new text."""
    starts = _starts(split(base))
    if base and not base.endswith(("\n", "\r")):
        starts.pop()  # where such a text ends no new line begins

    def spot(offset: int) -> Spot:
        line = bisect_right(starts, offset) - 1
        return Spot(line, base[starts[line] : offset])

    return [(spot(change.start), spot(change.end), change.text) for change in changes]


def _pieces(base: str, changes: Sequence[Splice]) -> Iterator[str]:
    here = 0
    for change in changes:
        yield base[here : change.start]
        yield change.text
        here = change.end
    yield base[here:]


def _starts(lines: Sequence[str], begin: int = 0) -> list[int]:
    """Where each line begins, and where the last one ends."""
    starts = [begin]
    for line in lines:
        starts.append(starts[-1] + len(line))
    return starts


def _common_lines(base: str, new: str) -> tuple[int, int]:
    r"""How many characters at both ends are in equal lines. Only those that end at `\n` count, to be quick."""
    head = base.rfind("\n", 0, _run(base, new, min(len(base), len(new)))) + 1
    tail = _run(base[::-1], new[::-1], min(len(base), len(new)) - head)
    line_end = base.find("\n", len(base) - tail)
    return head, len(base) - line_end - 1 if line_end >= 0 else 0


def _common(old: str, new: str) -> tuple[int, int]:
    """How many characters are equal at both ends of two texts, none of them half a line ending."""
    shorter = min(len(old), len(new))
    head = _run(old, new, shorter)
    if _is_within_ending(old, head) or _is_within_ending(new, head):
        head -= 1
    tail = _run(old[::-1], new[::-1], shorter - head)
    if _is_within_ending(old, len(old) - tail) or _is_within_ending(new, len(new) - tail):
        tail -= 1
    return head, tail


def _is_within_ending(text: str, index: int) -> bool:
    return index > 0 and text[index - 1 : index + 1] == "\r\n"


def _run(one: str, other: str, longest: int) -> int:
    """The length of the common beginning, at most `longest`, found by halving."""
    low, high = 0, longest
    while low < high:
        middle = (low + high + 1) // 2
        if one[low:middle] == other[low:middle]:
            low = middle
        else:
            high = middle - 1
    return low
