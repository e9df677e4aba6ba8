"""The parts of a request, each with where it comes from and why it is there."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from typing import TYPE_CHECKING

from ollm_lsp.core.tokens import IMAGE_TOKENS, estimate_text

if TYPE_CHECKING:
    from ollm_lsp.core.events import Warned
    from ollm_lsp.lsp.buffer import Range


class Source(StrEnum):
    """Where a part comes from. Those of the context are in the order in which they are sent: the steadiest first."""

    SYSTEM = "system"
    TOOLS = "tools"
    HISTORY = "history"
    IMPORT = "import"
    OPEN_BUFFER = "openBuffer"
    ATTACHED = "attached"
    ACTIVE = "activeDocument"
    DIAGNOSTICS = "diagnostics"
    SELECTION = "selection"
    QUESTION = "question"
    IMAGE = "image"


@dataclass(frozen=True, slots=True)
class ContextPart:
    """One piece of what is sent; `range` is what of a document it holds, where that is not all of it."""

    source: Source
    text: str
    reason: str
    uri: str | None = None
    range: Range | None = None

    @property
    def tokens(self) -> int:
        return IMAGE_TOKENS if self.source is Source.IMAGE else estimate_text(self.text)


@dataclass(frozen=True, slots=True)
class Context:
    """The parts that fit, in the order of sending, and what the user should know about those that do not."""

    parts: tuple[ContextPart, ...] = ()
    warnings: tuple[Warned, ...] = ()

    @property
    def text(self) -> str:
        return "".join(part.text for part in self.parts)


def block(title: str, language: str, text: str) -> str:
    """A text that the model can tell from all others; nothing in it can end it."""
    fence = "```"
    while fence in text:
        fence += "`"
    newline = "" if text.endswith("\n") else "\n"
    return f"{title}:\n{fence}{language}\n{text}{newline}{fence}\n\n"
