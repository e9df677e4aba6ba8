"""Waiting for what an editor does. The limit is only there to tell what did not happen."""

from __future__ import annotations

import asyncio
from inspect import isawaitable
from time import monotonic
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable

PATIENCE = 120.0
"""Seconds; nothing that works takes nearly as long."""


async def until(condition: Callable[[], object], what: str, situation: Callable[[], str]) -> None:
    """Wait for the condition, which may have to be awaited itself; else fail, and describe the situation."""
    last = monotonic() + PATIENCE
    while not (await found if isawaitable(found := condition()) else found):
        if monotonic() > last:
            raise AssertionError(f"did not happen: {what}\n{situation()}")
        await asyncio.sleep(0.05)
