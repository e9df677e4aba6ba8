"""A clock that a test moves: time limits of minutes end when the test says so."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import pytest


class Clock:
    """The clock of the running loop. It runs on, and can be moved ahead."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        loop = asyncio.get_running_loop()
        real = loop.time
        self._ahead = 0.0
        monkeypatch.setattr(loop, "time", lambda: real() + self._ahead)

    async def advance(self, seconds: float) -> None:
        """Let that much time pass, and let everybody notice it."""
        self._ahead += seconds
        for _ in range(10):
            await asyncio.sleep(0)
