"""Interrupts: what Ctrl-C means while something runs."""

from __future__ import annotations

import asyncio
import signal
from contextlib import suppress
from typing import TYPE_CHECKING, Any, Self, TypeVar

if TYPE_CHECKING:
    from collections.abc import Coroutine
    from types import TracebackType

_Result = TypeVar("_Result")


class Interrupted(Exception):
    """The user pressed Ctrl-C; `impatient` when once was not enough."""

    def __init__(self, *, impatient: bool = False) -> None:
        super().__init__()
        self.impatient = impatient


class Interrupts:
    """While entered, SIGINT cancels the coroutine that is run here and nothing else."""

    def __init__(self) -> None:
        self._count = 0
        self._task: asyncio.Task[Any] | None = None

    def __enter__(self) -> Self:
        self._previous = signal.getsignal(signal.SIGINT)
        loop = asyncio.get_running_loop()
        try:
            loop.add_signal_handler(signal.SIGINT, self._interrupt)
        except NotImplementedError:  # on Windows
            signal.signal(signal.SIGINT, lambda _, __: loop.call_soon_threadsafe(self._interrupt) and None)
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        with suppress(NotImplementedError):  # on Windows
            asyncio.get_running_loop().remove_signal_handler(signal.SIGINT)
        signal.signal(signal.SIGINT, self._previous)

    async def run(self, work: Coroutine[Any, Any, _Result]) -> _Result:
        """Run to the end, or raise `Interrupted` when a Ctrl-C has cancelled it."""
        self._count = 0
        self._task = task = asyncio.create_task(work)
        try:
            return await task
        except asyncio.CancelledError:
            if self._count:
                raise Interrupted(impatient=self._count > 1) from None
            raise
        finally:
            self._task = None

    def _interrupt(self) -> None:
        self._count += 1
        if self._task:
            self._task.cancel()
