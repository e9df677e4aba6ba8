"""Problems: what is wrong with a setting, said so that its author can mend it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal, TypeAlias

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

Severity: TypeAlias = Literal["error", "warning"]

MOST = 20
"""Problems shown of one source; a hostile or hopeless file shall not flood the user."""
_LONGEST_NAME = 60


@dataclass(frozen=True, slots=True)
class Problem:
    """One finding in one source. An error switches off what `key` names, a warning switches off nothing.

    No field ever holds a value that somebody wrote into a setting, because that may be a secret.
    """

    source: str
    key: str
    message: str
    remedy: str
    line: int | None = None
    severity: Severity = "error"

    @property
    def finding(self) -> str:
        """Where it is and what is wrong."""
        place = self.source if self.line is None else f"{self.source}, line {self.line}"
        return ": ".join(filter(None, (place, self.key, self.message)))

    def __str__(self) -> str:
        return f"{self.finding} {self.remedy}"


def dotted(path: Iterable[object]) -> str:
    """A key as people write it: `providers.vllm.baseUrl`, `context.exclude[2]`."""
    key = ""
    for part in path:
        if isinstance(part, int):
            key += f"[{part}]"
        else:
            key += f".{readable(part)}" if key else readable(part)
    return key


def readable(name: object) -> str:
    """Somebody's key on one line of bounded length."""
    if not isinstance(name, str):
        return f"<{type(name).__name__}>"
    text = "".join(letter if letter.isprintable() else "?" for letter in name[: _LONGEST_NAME + 1])
    return text if len(text) <= _LONGEST_NAME else f"{text[:_LONGEST_NAME]}..."


def bounded(source: str, problems: Sequence[Problem]) -> list[Problem]:
    """The first problems of a source, and how many more there are."""
    more = len(problems) - MOST
    if more <= 0:
        return list(problems)
    last = Problem(source, "", f"There are {more} more problems.", "Mend those above first.")
    return [*problems[:MOST], last]
