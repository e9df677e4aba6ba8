"""Work that blocks: in a thread, until it is done, its time is up, or nobody waits for it any more."""

from __future__ import annotations

import asyncio
from threading import Event
from time import monotonic
from typing import TYPE_CHECKING, TypeVar

if TYPE_CHECKING:
    from collections.abc import Callable

T = TypeVar("T")


class Watch:
    """What long work looks at from time to time."""

    def __init__(self, seconds: float) -> None:
        self._end = monotonic() + seconds
        self._stopped = Event()

    @property
    def is_over(self) -> bool:
        return self._stopped.is_set() or monotonic() >= self._end

    def stop(self) -> None:
        self._stopped.set()


async def in_thread(work: Callable[[Watch], T], seconds: float) -> T:
    """Do it beside the event loop. Who is cancelled does not wait, and the thread ends soon after."""
    watch = Watch(seconds)
    try:
        return await asyncio.to_thread(work, watch)
    finally:
        watch.stop()
