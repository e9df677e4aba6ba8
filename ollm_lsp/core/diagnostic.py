"""A diagnostic: what a language server has to say about some lines of a document."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum


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
