"""What became of a proposal."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, TypeAlias

if TYPE_CHECKING:
    from ollm_lsp.core.change import Change


@dataclass(frozen=True, slots=True)
class Done:
    """All changes were made."""


@dataclass(frozen=True, slots=True)
class Rejected:
    """Nothing was changed: the user, or a rule of theirs, said no. The feedback is for the model."""

    feedback: str | None = None


@dataclass(frozen=True, slots=True)
class Failed:
    """Not everything was changed. `failed` is the first change that was not made, if that is known."""

    reason: str
    failed: Change | None = None
    done: tuple[Change, ...] = ()


@dataclass(frozen=True, slots=True)
class Stale:
    """Nothing was changed: this document is no longer what the proposal was computed on."""

    uri: str


Applied: TypeAlias = Done | Rejected | Failed | Stale
