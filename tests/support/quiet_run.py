"""A run of a tool that nobody watches."""

from __future__ import annotations

from contextlib import contextmanager
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Generator


class QuietRun:
    """Counts how often its tool asked."""

    def __init__(self) -> None:
        self.id = "call"
        self.asked = 0

    @contextmanager
    def asking(self) -> Generator[None]:
        self.asked += 1
        yield
