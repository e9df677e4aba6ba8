"""An inset: text of ours that grows inside a document while its user types elsewhere in it.

The document tells its changes one by one. Which of them are the edit that we asked for shows only in their result:
editors cut, join and move changes as they like.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from ollm_lsp.core.splices import Splice, apply

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

_MOST_CHANGES = 40
"""Of one message, in which our edit is looked for; one with more is compared as a whole only."""


@dataclass(frozen=True, slots=True)
class Span:
    """A part of a text."""

    start: int
    end: int

    def moved(self, change: Splice) -> Span | None:
        """Where it is after a change around it; nothing when the change is inside."""
        if change.end <= self.start:
            by = len(change.text) - (change.end - change.start)
            return Span(self.start + by, self.end + by)
        return self if change.start >= self.end else None


@dataclass(slots=True)
class _Own:
    """An edit on its way. `lead` is how much of its text comes before the inset that it opens."""

    splice: Splice
    lead: int
    stray: Callable[[str], int]
    """Where in another text an editor would put it that does not look what the text is."""


class Inset:
    """Where our text is. Once it `is_touched`, somebody else has changed it, and it is no longer followed."""

    def __init__(self) -> None:
        self.span: Span | None = None
        self.is_touched = False
        self.is_astray = False
        """Whether an edit of ours was put where it does not belong."""
        self._own: _Own | None = None

    @property
    def is_expecting(self) -> bool:
        return self._own is not None

    def expect(self, splice: Splice, stray: Callable[[str], int], *, lead: int = 0) -> None:
        """An edit is asked for. The first one opens the inset; later ones at its end let it grow."""
        self._own = _Own(splice, lead, stray)

    def forget(self) -> None:
        """The edit was not made."""
        self._own = None

    def changed(self, states: Sequence[str], changes: Sequence[Splice]) -> None:
        """The document has changed; `states` are its texts before, between and after the changes."""
        first, last = self._window(states, changes)
        for change in changes[:first]:
            self._move(change)
        if last > first and self._own is not None:
            self._made(self._own)
            self._own = None
        for change in changes[last:]:
            self._move(change)

    def _window(self, states: Sequence[str], changes: Sequence[Splice]) -> tuple[int, int]:
        """Which changes are our edit; an empty window when none is."""
        own, count = self._own, len(changes)
        nowhere = count, count
        if own is None:
            return nowhere
        for first in range(count if count <= _MOST_CHANGES else 1):
            splice: Splice | None = own.splice
            for change in changes[:first]:
                splice = splice and _shifted(splice, change)
            if splice is None:
                return nowhere
            expected = apply(states[first], [splice])
            for last in range(count, first, -1):
                if states[last] == expected:
                    return first, last
            if self._is_stray(own, states[first], states[first + 1]):
                self.is_astray = True
                return nowhere
        return nowhere

    def _is_stray(self, own: _Own, before: str, after: str) -> bool:
        at = own.stray(before)
        return bool(own.splice.text) and after == apply(before, [Splice(at, at, own.splice.text)])

    def _made(self, own: _Own) -> None:
        splice = own.splice
        if self.span is None:
            self.span = Span(splice.start + own.lead, splice.start + len(splice.text))
        elif splice.start == splice.end == self.span.end:
            self.span = Span(self.span.start, self.span.end + len(splice.text))
        else:
            self._move_span(splice)

    def _move(self, change: Splice) -> None:
        """Somebody else's change."""
        if self._own is not None:
            self._own.splice = _shifted(self._own.splice, change) or self._own.splice
        self._move_span(change)

    def _move_span(self, change: Splice) -> None:
        if self.span is not None and not self.is_touched:
            moved = self.span.moved(change)
            self.is_touched = moved is None
            self.span = moved or self.span


def _shifted(own: Splice, change: Splice) -> Splice | None:
    """Our edit after somebody else's change. What is typed where we insert stays behind our text."""
    if change.start >= own.end:
        return own
    moved = Span(own.start, own.end).moved(change)
    return replace(own, start=moved.start, end=moved.end) if moved else None
