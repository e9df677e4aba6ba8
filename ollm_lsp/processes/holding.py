"""A hold on a file or folder that ends with its process, even by kill -9: so leftovers are told from work in hand.

Windows has no such hold on folders: there nobody holds anything, and nothing counts as left.
"""

from __future__ import annotations

import os
import sys
from contextlib import contextmanager
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Generator
    from pathlib import Path


def hold(descriptor: int, *, waits: bool = False) -> bool:
    """Take the hold, which ends with the descriptor. False when somebody else has it."""
    if sys.platform == "win32":
        return False
    import fcntl  # noqa: PLC0415 (not there on Windows)

    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | (0 if waits else fcntl.LOCK_NB))
    except OSError:
        return False
    return True


@contextmanager
def held(path: Path, *, waits: bool = False) -> Generator[bool]:
    """Hold a file or folder for the length of a block; it is told whether that could be done."""
    if sys.platform == "win32":
        yield False
        return
    descriptor = os.open(path, os.O_RDONLY | os.O_CLOEXEC | os.O_NOFOLLOW | os.O_NONBLOCK)
    try:
        yield hold(descriptor, waits=waits)
    finally:
        os.close(descriptor)
