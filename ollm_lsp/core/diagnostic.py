"""A diagnostic: what a language server has to say about some lines of a document."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum

from ollm_lsp.core.visible import visible, visible_name

LONGEST = 400


class Severity(StrEnum):
    """How bad it is, in the words that people and models read."""

    ERROR = "error"
    WARNING = "warning"
    INFORMATION = "information"
    HINT = "hint"


@dataclass(frozen=True, slots=True)
class Diagnostic:
    """One finding; lines count from 0, and `end_line` is the last that it is about."""

    uri: str
    line: int
    end_line: int
    severity: Severity
    message: str
    source: str | None = None
    code: str | None = None

    def described(self, name: str) -> str:
        """One line for a model and for people; `name` is that of the document."""
        first, last = self.line + 1, self.end_line + 1
        where = f"{name}:{first}" if last <= first else f"{name}:{first}-{last}"
        message = visible(" ".join(self.message[:LONGEST].split()))
        origin = " ".join(visible_name(part[:100]) for part in (self.source, self.code) if part)
        return f"{where}: {self.severity}: {message}" + (f" [{origin}]" if origin else "")

    @property
    def rank(self) -> int:
        """The worst have the lowest."""
        return list(Severity).index(self.severity)
