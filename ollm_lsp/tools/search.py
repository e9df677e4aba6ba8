"""A search as values: what is looked for, what an engine found, and what an engine is."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:
    from collections.abc import AsyncGenerator, Sequence

    from ollm_lsp.tools.file_pattern import FilePattern
    from ollm_lsp.tools.roots import Place


@dataclass(frozen=True, slots=True)
class Query:
    """A text or a regular expression, in files of some names. Nothing that is found is longer than a line."""

    text: str
    is_regex: bool = False
    ignores_case: bool = False
    files: FilePattern | None = None


@dataclass(frozen=True, slots=True)
class Found:
    """A line of a file, counted from 1, and how it begins: somebody may have changed the file meanwhile."""

    place: Place
    line: int
    beginning: str


class Engine(Protocol):
    """Whatever goes through files, in a process that can be ended. It is trusted to find, not to stay inside."""

    def in_files(self, query: Query, top: Place) -> AsyncGenerator[Found]:
        """The lines in the files below a place, or in the file at it; in no order. Closing it ends the process."""
        ...

    async def in_texts(self, query: Query, texts: Sequence[str]) -> Sequence[tuple[int, int]]:
        """The lines in some texts: which text, and which line of it, counted from 1."""
        ...
