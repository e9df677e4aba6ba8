"""Fenced code in Markdown, line by line."""

from __future__ import annotations

import re

_MARK = re.compile(r" {0,3}(`{3,}|~{3,})(.*)")


class Fence:
    """Knows whether the lines that it was fed have left a fence open."""

    def __init__(self) -> None:
        self._mark = ""

    @property
    def is_open(self) -> bool:
        return bool(self._mark)

    @property
    def closing(self) -> str:
        """The line that would close the open fence; nothing when none is open."""
        return self._mark

    def feed(self, line: str) -> bool:
        """Take a line, without its ending. Whether it is code, or one of the fences around it."""
        found = _MARK.fullmatch(line)
        mark, rest = (found[1], found[2]) if found else ("", "")
        if self._mark:
            if mark.startswith(self._mark) and not rest.strip():
                self._mark = ""
            return True
        # "```a```" is code within a line.
        self._mark = "" if mark.startswith("`") and "`" in rest else mark
        return self.is_open
