"""How deep each line of a text is nested, told by its indentation: structure for whatever language it is."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence

TAB = 4


def depths(lines: Sequence[str]) -> list[int]:
    """The depth of each line, from 0. A blank line belongs to what stands above it."""
    found: list[int] = []
    open_widths: list[int] = []
    depth = 0
    for line in lines:
        if rest := line.lstrip():
            width = len(line) - len(rest)
            if width and "\t" in line[:width]:
                width += (TAB - 1) * line.count("\t", 0, width)
            while open_widths and open_widths[-1] >= width:
                open_widths.pop()
            depth = len(open_widths)
            open_widths.append(width)
        found.append(depth)
    return found


def enclosing(nesting: Sequence[int], first: int, last: int) -> list[tuple[int, int]]:
    """The blocks around some lines, the innermost first: each from the line that opens it to the one that ends it."""
    blocks: list[tuple[int, int]] = []
    depth = min(nesting[first : last + 1], default=0)
    start = first
    if len(set(nesting[first : last + 1])) > 1 or _opens(nesting, first, last):
        # What is chosen opens a block itself, as the line of a `def` does.
        blocks.append((first, _end(nesting, last, depth)))
    while depth > 0:
        while start >= 0 and nesting[start] >= depth:
            start -= 1
        if start < 0:
            break
        depth = nesting[start]
        blocks.append((start, _end(nesting, last, depth)))
    return blocks


def _opens(nesting: Sequence[int], first: int, last: int) -> bool:
    return last + 1 < len(nesting) and nesting[last + 1] > min(nesting[first : last + 1])


def _end(nesting: Sequence[int], line: int, depth: int) -> int:
    """The last line behind this one that is deeper than that."""
    end = line
    while end + 1 < len(nesting) and nesting[end + 1] > depth:
        end += 1
    return end
