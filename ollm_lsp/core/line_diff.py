"""Which lines of one text are those of another: anchored at lines that are unique in both, refined between them.

The time has a limit that no text can exceed. Beyond it the result is coarser, but never wrong: lines between two
hunks are the same in both texts.
"""

from __future__ import annotations

from bisect import bisect_left
from collections import Counter
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

STEPS = 200_000
"""Steps of the refinement in one comparison: some tenths of a second at most."""


@dataclass(frozen=True, slots=True)
class Hunk:
    """The old lines from `start` up to `end` became the new lines from `new_start` up to `new_end`."""

    start: int
    end: int
    new_start: int
    new_end: int


def hunks(old: Sequence[str], new: Sequence[str], steps: int = STEPS) -> list[Hunk]:
    """How the new lines differ from the old ones, in order. Between two hunks there is at least one equal line."""
    return list(_gaps(_Comparison(old, new, steps).matches(), len(old), len(new)))


class _Comparison:
    def __init__(self, old: Sequence[str], new: Sequence[str], steps: int) -> None:
        self._old = old
        self._new = new
        self._steps = steps

    def matches(self) -> Iterator[tuple[int, int]]:
        """Pairs of equal lines, both numbers growing."""
        old, new = self._old, self._new
        head, tail = _common(old, new)
        yield from ((line, line) for line in range(head))
        here, there = head, head
        ends = (len(old) - tail, len(new) - tail)
        for anchor in [*_anchors(old, new, head, ends), ends]:
            yield from self._between(here, anchor[0], there, anchor[1])
            if anchor != ends:
                yield anchor
            here, there = anchor[0] + 1, anchor[1] + 1
        yield from ((ends[0] + line, ends[1] + line) for line in range(tail))

    def _between(self, start: int, end: int, new_start: int, new_end: int) -> Iterator[tuple[int, int]]:
        old, new = self._old[start:end], self._new[new_start:new_end]
        head, tail = _common(old, new)
        yield from ((start + line, new_start + line) for line in range(head))
        inner = self._shortest(old[head : len(old) - tail], new[head : len(new) - tail])
        yield from ((start + head + line, new_start + head + new_line) for line, new_line in inner)
        yield from ((end - tail + line, new_end - tail + line) for line in range(tail))

    def _shortest(self, old: Sequence[str], new: Sequence[str]) -> list[tuple[int, int]]:
        """The matches of a shortest edit script, by Myers' greedy algorithm, as long as there are steps left."""
        if not old or not new:
            return []
        reached = {1: 0}
        trail: list[dict[int, int]] = []
        for distance in range(len(old) + len(new) + 1):
            self._steps -= distance + 1
            if self._steps < 0:
                return []
            trail.append(dict(reached))
            for diagonal in range(-distance, distance + 1, 2):
                is_insertion = _is_insertion(reached, diagonal, distance)
                x = reached[diagonal + 1] if is_insertion else reached[diagonal - 1] + 1
                y = x - diagonal
                while x < len(old) and y < len(new) and old[x] == new[y]:
                    x, y = x + 1, y + 1
                    self._steps -= 1
                reached[diagonal] = x
                if x >= len(old) and y >= len(new):
                    return _walked_back(trail, len(old), len(new))
        raise AssertionError("two texts are never further apart than their lengths")


def _is_insertion(reached: dict[int, int], diagonal: int, distance: int) -> bool:
    """Whether the best path to a diagonal comes by an insertion, from the diagonal above, or else by a deletion."""
    return diagonal == -distance or (diagonal != distance and reached[diagonal - 1] < reached[diagonal + 1])


def _walked_back(trail: list[dict[int, int]], x: int, y: int) -> list[tuple[int, int]]:
    matches: list[tuple[int, int]] = []
    for distance in range(len(trail) - 1, -1, -1):
        reached, diagonal = trail[distance], x - y
        from_diagonal = diagonal + 1 if _is_insertion(reached, diagonal, distance) else diagonal - 1
        from_x = reached[from_diagonal]
        while x > from_x and y > from_x - from_diagonal and x > 0 and y > 0:
            x, y = x - 1, y - 1
            matches.append((x, y))
        x, y = from_x, from_x - from_diagonal
    matches.reverse()
    return matches


def _common(old: Sequence[str], new: Sequence[str]) -> tuple[int, int]:
    """How many lines are equal at the beginning, and of the others at the end."""
    shorter = min(len(old), len(new))
    head = 0
    while head < shorter and old[head] == new[head]:
        head += 1
    tail = 0
    while tail < shorter - head and old[-1 - tail] == new[-1 - tail]:
        tail += 1
    return head, tail


def _anchors(old: Sequence[str], new: Sequence[str], head: int, ends: tuple[int, int]) -> list[tuple[int, int]]:
    """The longest run, growing in both, of lines that are there once in each."""
    inner, new_inner = old[head : ends[0]], new[head : ends[1]]
    once = {line for line, count in Counter(inner).items() if count == 1}
    new_once = {line for line, count in Counter(new_inner).items() if count == 1}
    places = {line: number for number, line in enumerate(new_inner, head) if line in new_once}
    pairs = [(number, places[line]) for number, line in enumerate(inner, head) if line in once and line in new_once]
    return _longest_growing(pairs)


def _longest_growing(pairs: list[tuple[int, int]]) -> list[tuple[int, int]]:
    tops: list[int] = []
    """The smallest new line number on which a run of each length ends."""
    last: list[int] = []
    before: list[int] = []
    for index, (_, place) in enumerate(pairs):
        length = bisect_left(tops, place)
        before.append(last[length - 1] if length else -1)
        if length == len(tops):
            tops.append(place)
            last.append(index)
        else:
            tops[length], last[length] = place, index
    run: list[tuple[int, int]] = []
    index = last[-1] if last else -1
    while index >= 0:
        run.append(pairs[index])
        index = before[index]
    run.reverse()
    return run


def _gaps(matches: Iterator[tuple[int, int]], length: int, new_length: int) -> Iterator[Hunk]:
    here, there = 0, 0
    for line, new_line in matches:
        if (line, new_line) != (here, there):
            yield Hunk(here, line, there, new_line)
        here, there = line + 1, new_line + 1
    if (here, there) != (length, new_length):
        yield Hunk(here, length, there, new_length)
