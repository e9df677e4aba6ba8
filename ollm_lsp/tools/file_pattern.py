"""Patterns of file names as models write them: those of `core.globs`, and braces with alternatives."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from ollm_lsp.core.globs import matches

if TYPE_CHECKING:
    from ollm_lsp.tools.roots import Place

MAX_ALTERNATIVES = 64
_BRACES = re.compile(r"\{([^{}]*)\}")


class FilePattern:
    """A pattern over the names below a folder. One that begins with `/` or `./` begins at that folder."""

    def __init__(self, written: str) -> None:
        self.written = written
        self._alternatives = [_anchored(pattern) for pattern in _expanded(written)]

    def fits(self, place: Place, folder: Place) -> bool:
        path = "/" + "/".join(place.names[len(folder.names) :])
        return any(matches(path, pattern) for pattern in self._alternatives)

    @property
    def last_names(self) -> list[str]:
        """The patterns for the name of a file alone."""
        return [pattern.rpartition("/")[2] for pattern in self._alternatives]


def _anchored(pattern: str) -> str:
    plain = pattern[1:] if pattern.startswith("./") else pattern
    return f"{plain}**" if plain.endswith("/") else plain


def _expanded(written: str) -> list[str]:
    """The pattern once for each alternative in its braces; too many of them are taken as they are written."""
    done: list[str] = []
    waiting = [written]
    while waiting:
        pattern = waiting.pop()
        braces = _BRACES.search(pattern)
        if braces is None:
            done.append(pattern)
            continue
        before, after = pattern[: braces.start()], pattern[braces.end() :]
        waiting += [before + choice + after for choice in braces[1].split(",")]
        if len(waiting) + len(done) > MAX_ALTERNATIVES:
            return [written]
    return done
