"""A limit for what may hang, in processor time: a busy machine does not count."""

from __future__ import annotations

import signal
from contextlib import contextmanager
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Generator

SECONDS = 5.0


class Hang(BaseException):
    """It took too long. Nobody but who asked for the limit is to catch it."""


def _stop(_number: int, _frame: object) -> None:
    raise Hang(f"more than {SECONDS:.0f} s of processor time")


@contextmanager
def limit() -> Generator[None]:
    """Raise `Hang` when the block takes too long."""
    before = signal.signal(signal.SIGVTALRM, _stop)
    signal.setitimer(signal.ITIMER_VIRTUAL, SECONDS)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_VIRTUAL, 0)
        signal.signal(signal.SIGVTALRM, before)
