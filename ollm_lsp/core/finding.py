"""What a check-up found."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum


class Level(StrEnum):
    """How bad it is: an error keeps the chosen model from answering, a warning does not."""

    OK = "ok"
    WARNING = "warning"
    ERROR = "error"


@dataclass(frozen=True, slots=True)
class Finding:
    """One thing that was looked at; whatever is not fine has a remedy."""

    subject: str
    level: Level
    message: str
    remedy: str | None = None
