"""When a request that failed is sent again: seldom, later each time, and never after the model has spoken."""

from __future__ import annotations

import random
from typing import TYPE_CHECKING

from ollm_lsp.core.events import Warned

if TYPE_CHECKING:
    from ollm_lsp.core.errors import ProviderError

FIRST_WAIT = 0.5
LONGEST_WAIT = 8.0
LONGEST_ASKED = 60.0
"""Seconds that a server may ask for. A user who would wait longer decides so himself."""


def wait_before(attempt: int, error: ProviderError) -> float | None:
    """Seconds to wait before that attempt, the first again being 1; or nothing when it is not worth it."""
    if not error.is_passing:
        return None
    if error.retry_after is not None:
        return error.retry_after if error.retry_after <= LONGEST_ASKED else None
    longest = min(FIRST_WAIT * 2 ** (attempt - 1), LONGEST_WAIT)
    # Servers that failed many at once are not asked by all of them at once again.
    return random.uniform(longest / 2, longest)  # noqa: S311 (chance, not secrecy)


def warning(attempt: int, most: int, wait: float, error: ProviderError) -> Warned:
    """What the user hears meanwhile."""
    return Warned("retrying", f"{error.message} Trying again in {wait:.1f} s ({attempt} of {most}).", error.remedy)
