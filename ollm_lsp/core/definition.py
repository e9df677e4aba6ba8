"""Definitions: the lines around a place that belong together, found by their indentation in any language."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from ollm_lsp.core.indentation import indent_of

if TYPE_CHECKING:
    from collections.abc import Sequence

_CLOSES = re.compile(r"\s*([)\]}]|end\b|fi\b|done\b|esac\b|</)")
_LEADS = re.compile(r"\s*(@|#|//|/\*|\*|--|;|%|<!--)")
"""A decorator, an attribute or a comment: it belongs to what comes next."""
_DEFINES = re.compile(
    r"\s*(?:(?:export|default|public|private|protected|internal|static|final|abstract|async|override|pub(?:\([^)]*\))?"
    r"|unsafe|inline|virtual|const|local|open|data|sealed)\s+)*"
    r"(?:def|class|fn|func|fun|function|impl|struct|enum|trait|interface|module|defmodule|sub|proc|namespace|type)\b"
    r"|.*\)\s*(?:const\s*)?(?:->[^{]*|:\s*[\w<>\[\]., ]+)?\s*\{\s*$|.*=>\s*\{\s*$"
)
_FLOWS = re.compile(r"\s*[}\s]*(?:if|for|while|switch|match|catch|else|elif|try|with|do|foreach|using|lock)\b")


def definition_around(lines: Sequence[str], line: int) -> tuple[int, int] | None:
    """The first and the last line of the definition around a line, else of the block; nothing where nothing is."""
    here = next((n for n in range(max(0, line), len(lines)) if lines[n].strip()), None)
    if here is None:
        return None
    head: int | None = _opened(lines, _head(lines, here))
    innermost = None
    while head is not None:
        first, last = _first(lines, head), _last(lines, head)
        if last > head:
            innermost = innermost or (first, last)
            if _defines(lines, head):
                return first, last
        head = _above(lines, head)
    return innermost or _paragraph(lines, here)


def _defines(lines: Sequence[str], head: int) -> bool:
    if _FLOWS.match(lines[head]):
        return False
    return bool(_DEFINES.match(lines[head])) or any(line.strip() == "{" for line in lines[head + 1 : head + 4])


def _head(lines: Sequence[str], here: int) -> int:
    """From a decorator or a comment to what it leads."""
    width = _width(lines[here])
    for n in range(here, len(lines)):
        if not lines[n].strip() or _width(lines[n]) != width:
            break
        if not _LEADS.match(lines[n]):
            return n if _last(lines, n) > n else here
    return here


def _above(lines: Sequence[str], here: int) -> int | None:
    """The line that the block of a line begins with."""
    width = _width(lines[here])
    if not width and not _CLOSES.match(lines[here]):
        return None
    for n in range(here - 1, -1, -1):
        if not lines[n].strip():
            continue
        is_lower = _width(lines[n]) < width
        # What closes a block, or a list of parameters, is headed by the line above with the same indentation.
        is_opener = _CLOSES.match(lines[here]) and _width(lines[n]) == width
        if (is_lower or is_opener) and not _CLOSES.match(lines[n]):
            return _opened(lines, n)
        width = min(width, _width(lines[n]) + 1) if is_lower else width
    return None


def _opened(lines: Sequence[str], n: int) -> int:
    """From a brace that stands alone to what it opens."""
    if lines[n].strip() != "{":
        return n
    width = _width(lines[n])
    above = n - 1
    while above >= 0 and lines[above].strip() and _width(lines[above]) > width:
        above -= 1
    return above if above >= 0 and lines[above].strip() else n


def _first(lines: Sequence[str], head: int) -> int:
    width = _width(lines[head])
    while head and lines[head - 1].strip() and _width(lines[head - 1]) == width and _LEADS.match(lines[head - 1]):
        head -= 1
    return head


def _last(lines: Sequence[str], head: int) -> int:
    width, last = _width(lines[head]), head
    for n in range(head + 1, len(lines)):
        if not lines[n].strip():
            continue
        is_bracket = _width(lines[n]) == width and (_CLOSES.match(lines[n]) or lines[n].strip() == "{")
        if _width(lines[n]) <= width and not is_bracket:
            break
        last = n
    return last


def _paragraph(lines: Sequence[str], here: int) -> tuple[int, int]:
    width = _width(lines[here])
    first = last = here
    while first and lines[first - 1].strip() and _width(lines[first - 1]) == width:
        first -= 1
    while last + 1 < len(lines) and lines[last + 1].strip() and _width(lines[last + 1]) == width:
        last += 1
    return first, last


def _width(line: str) -> int:
    return len(indent_of(line).expandtabs(4))
