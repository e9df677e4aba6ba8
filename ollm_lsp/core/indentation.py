"""Indentation that all lines of a block share: taken off for the model, put back for the file.

Lines of nothing but space stay as they are: they have no indentation of their own.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence


def indent_of(line: str) -> str:
    """The spaces and tabs that a line begins with."""
    return line[: len(line) - len(line.lstrip(" \t"))]


def common_indent(lines: Sequence[str]) -> str:
    """What all lines with something in them begin with."""
    indents = [indent_of(line) for line in lines if line.strip()]
    if not indents:
        return ""
    # The first and the last in order differ earlier than any other two.
    low, high = min(indents), max(indents)
    same = next((n for n, (one, other) in enumerate(zip(low, high, strict=False)) if one != other), len(low))
    return low[:same]


def moved(lines: Sequence[str], to: str) -> list[str]:
    """The lines with another common indentation."""
    width = len(common_indent(lines))
    return [to + line[width:] if line.strip() else line for line in lines]


def tabbed(lines: Sequence[str], old: Sequence[str]) -> list[str]:
    """The lines indented by tabs as the old ones are, where a model wrote spaces; what is aligned stays so."""
    before = {indent_of(line) for line in old if line.strip()}
    widths = [len(indent_of(line)) for line in lines if line.strip() and indent_of(line)]
    is_meant = any(before) and all(set(indent) <= {"\t"} for indent in before)
    if not is_meant or not widths or any("\t" in indent_of(line) for line in lines):
        return list(lines)
    unit = min(widths)
    found = [(len(indent_of(line)), line) for line in lines]
    return ["\t" * (width // unit) + " " * (width % unit) + line[width:] for width, line in found]
