"""Cutting a text that is too long to what matters of it: whole blocks and the lines that open them.

What is left out is marked with how much it is. Guarded by `test_what_is_left_after_cutting_fits_and_is_marked`.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import compress
from typing import TYPE_CHECKING, TypeAlias

from ollm_lsp.core.nesting import depths, enclosing

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Sequence

MOST_LINES = 2_000
"""Lines that are looked at, around the focus or from the top: a longer text costs no more time."""
_MARK = 32
"""Characters that a mark takes at most."""
_LEVELS = 6
"""Lines nested deeper than this come only with the whole of their block."""
_FIRST_RADIUS = 8


Nesting: TypeAlias = "Callable[[int, int], Sequence[int]]"
"""How deep each line from one to before another is nested."""


@dataclass(frozen=True, slots=True)
class Cut:
    """What is left of a text: `lines` of its `total`, the first and the last of them by number from 0."""

    text: str
    first: int
    last: int
    lines: int
    total: int


def cut(
    lines: Sequence[str], room: int, focus: tuple[int, int] | None = None, nesting: Nesting | None = None
) -> Cut | None:
    """What of some lines fits into a number of characters; nothing when no line does.

    With a focus: those lines, their block and the blocks around it. Then the lines that open blocks, the outer ones
    first, and then whole bodies, those near the focus first. Without a nesting the indentation tells the blocks.
    """
    if lines and not lines[-1]:
        lines = lines[:-1]  # the empty line behind the last line ending
    low = max(0, min((focus[0] if focus else 0) - MOST_LINES // 2, len(lines) - MOST_LINES))
    high = min(len(lines), low + MOST_LINES)
    seen = lines[low:high]
    choice = _Choice(seen, room, starts_late=low > 0, ends_early=high < len(lines))
    deep = nesting(low, high) if nesting else depths(seen)
    if focus is not None and seen:
        first, last = (max(0, min(line - low, len(seen) - 1)) for line in focus)
        _take_focus(choice, deep, first, last)
        center = (first + last) // 2
    else:
        center = 0
    _take_outline(choice, deep, center)
    _take_bodies(choice, center)
    kept = [number for number, is_kept in enumerate(choice.kept) if is_kept]
    if not kept:
        return None
    text = "".join(_rendered(lines, choice.kept, low))
    return Cut(text, low + kept[0], low + kept[-1], len(kept), len(lines))


class _Choice:
    """The lines that are kept so far, and what they cost with the marks between them."""

    def __init__(self, lines: Sequence[str], room: int, *, starts_late: bool, ends_early: bool) -> None:
        self.kept = bytearray(len(lines))
        self.room = room
        self.sizes = [len(line) for line in lines]
        if self.sizes:
            self.sizes[-1] += 1  # for the line ending that a mark behind it needs
        self._edges = b"\0" if starts_late else b"\1", b"\0" if ends_early else b"\1"

    def cost(self, kept: bytearray) -> int:
        before, after = self._edges
        walls = b"\1" + before + kept + after + b"\1"
        return sum(compress(self.sizes, kept)) + _MARK * walls.count(b"\1\0")

    def take(self, numbers: Iterable[int]) -> bool:
        """Keep some more lines if all of them fit."""
        wider = bytearray(self.kept)
        for number in numbers:
            wider[number] = 1
        if self.cost(wider) > self.room:
            return False
        self.kept = wider
        return True

    def take_most(self, numbers: Sequence[int]) -> None:
        """Keep as many as fit, from the first on."""
        fits, too_many = 0, len(numbers) + 1
        before = self.kept
        while too_many - fits > 1:
            self.kept = before
            middle = (fits + too_many) // 2
            if self.take(numbers[:middle]):
                fits = middle
            else:
                too_many = middle
        self.kept = before
        self.take(numbers[:fits])

    def gaps(self) -> Iterator[tuple[int, int]]:
        """The runs of lines that are left out, each from its first to behind its last."""
        start = self.kept.find(b"\0")
        while start >= 0:
            end = self.kept.find(b"\1", start)
            yield start, end if end >= 0 else len(self.kept)
            start = self.kept.find(b"\0", end) if end >= 0 else -1


def _take_focus(choice: _Choice, nesting: Sequence[int], first: int, last: int) -> None:
    if not choice.take(range(first, last + 1)):
        choice.take_most(range(first, last + 1))
        return
    blocks = enclosing(nesting, first, last)
    for start, end in blocks:
        if not choice.take(range(start, end + 1)):
            _take_around(choice, first, last, start, end)
            break
    choice.take([start for start, _ in blocks])


def _take_around(choice: _Choice, first: int, last: int, start: int, end: int) -> None:
    """Of a block that is too long, what is near the focus, up to two thirds of the room."""
    room, choice.room = choice.room, choice.room * 2 // 3
    radius = _FIRST_RADIUS
    while choice.take(range(max(start, first - radius), min(end, last + radius) + 1)) and radius < len(choice.kept):
        radius *= 2
    choice.room = room


def _take_outline(choice: _Choice, nesting: Sequence[int], center: int) -> None:
    for level in range(_LEVELS):
        numbers = [number for number, depth in enumerate(nesting) if depth <= level]
        if not choice.take(numbers):
            if level == 0:
                choice.take_most(sorted(numbers, key=lambda number: abs(number - center)))
            return
        if len(numbers) == len(nesting):
            return


def _take_bodies(choice: _Choice, center: int) -> None:
    gaps = list(choice.gaps())
    spare = choice.room - choice.cost(choice.kept)
    for start, end in sorted(gaps, key=lambda gap: (max(gap[0] - center, center - gap[1], 0), gap)):
        # A body that comes back takes its mark's place, unless the mark stands for more than this body.
        price = sum(choice.sizes[start:end])
        is_inside = start > 0 and end < len(choice.kept)
        if price - (_MARK if is_inside else 0) <= spare:
            spare -= price - (_MARK if is_inside else 0)
            choice.kept[start:end] = b"\1" * (end - start)


def _rendered(lines: Sequence[str], kept: bytearray, low: int) -> Iterator[str]:
    left_out = low
    last = ""
    for number, is_kept in enumerate(kept):
        if not is_kept:
            left_out += 1
            continue
        if left_out:
            yield mark(left_out)
            left_out = 0
        last = lines[low + number]
        yield last
    left_out += len(lines) - low - len(kept)
    if left_out:
        yield ("" if last.endswith(("\n", "\r")) else "\n") + mark(left_out)


def mark(count: int) -> str:
    """What stands for lines that are left out."""
    return f"… {count:,} {'line' if count == 1 else 'lines'} left out …\n"
