"""An edit that somebody else made or wants to make, as far as they tell of it, and what becomes of it."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from ollm_lsp.core.tool import ToolKind


@dataclass(frozen=True, slots=True)
class ForeignEdit:
    """A file as the other side names it, and what happens to it.

    `before` is the text that is replaced and `after` the text in its place; without `before` it is the whole file.
    Both may be unknown.
    """

    path: str
    kind: ToolKind
    before: str | None = None
    after: str | None = None


@dataclass(slots=True)
class Landed:
    """What became of edits: the files that were changed, and why others were not."""

    made: list[str] = field(default_factory=list[str])
    missed: dict[str, str] = field(default_factory=dict[str, str])

    def __str__(self) -> str:
        made = [f"Changed: {', '.join(self.made)}."] if self.made else []
        return " ".join([*made, *(f"Not changed: {path} ({why})." for path, why in self.missed.items())])
