"""The family of a process: its group, and every descendant that inherited its mark.

The guardian loads this by its path: it knows nothing but the standard library.
"""

from __future__ import annotations

import os
import signal
import sys
import time
from contextlib import suppress
from pathlib import Path

MARK = "OLLM_TOOL_RUN"
"""A variable that every descendant inherits, so that those which left the process group are found as well."""
POLITE = 2.0
"""Seconds between asking a process to end and making it."""
FORCED = 10.0
"""Seconds in which the system has surely ended what it was told to end."""
STARTING = 1.0
"""Seconds in which a process that is being started has its mark."""
UNKNOWN = -1
"""In the place of a group of which nobody has told."""

_PROCESSES = Path("/proc")


def is_left(group: int, mark: str) -> bool:
    """Whether somebody of the family still lives. Windows does not tell."""
    if sys.platform == "win32":
        return False
    if (_PROCESSES / "self" / "stat").exists():
        return bool(_members(group, mark))
    if group == UNKNOWN:
        return False
    try:
        os.killpg(group, 0)
    except ProcessLookupError:
        return False
    except PermissionError:
        return True
    return True


def send(group: int, mark: str, number: signal.Signals) -> None:
    """Send a signal to the whole family."""
    if sys.platform == "win32":
        return
    if group != UNKNOWN:
        with suppress(ProcessLookupError, PermissionError):
            os.killpg(group, number)
    for pid in _members(group, mark):
        with suppress(ProcessLookupError, PermissionError):
            os.kill(pid, number)


def guard(mark: str, told: bytes) -> None:
    """The server is gone, which may have told the group: end the family, politely, then not."""
    group = int(told) if told.isdigit() else UNKNOWN
    late = time.monotonic() + STARTING
    while group == UNKNOWN and not is_left(group, mark) and time.monotonic() < late:
        time.sleep(0.02)
    for number, seconds in ((signal.SIGTERM, POLITE), (signal.SIGKILL, FORCED)):
        end = time.monotonic() + seconds
        send(group, mark, number)
        while is_left(group, mark) and time.monotonic() < end:
            time.sleep(0.02)
            if number is signal.SIGKILL:
                send(group, mark, number)  # one of them may have started another meanwhile


def _members(group: int, mark: str) -> list[int]:
    """The living processes of a group, and those with a mark, where the system tells of processes."""
    wanted = f"{MARK}={mark}".encode()
    try:
        names = [entry.name for entry in _PROCESSES.iterdir()]
    except OSError:
        return []
    return [int(name) for name in names if name.isdigit() and _belongs(_PROCESSES / name, group, wanted)]


def _belongs(process: Path, group: int, wanted: bytes) -> bool:
    try:
        # Behind the name, which may hold anything, come the state, the parent and the group.
        state, _, own_group = (process / "stat").read_bytes().rpartition(b")")[2].split()[:3]
        if state in (b"Z", b"X"):
            return False
        return int(own_group) == group or wanted in (process / "environ").read_bytes().split(b"\0")
    except OSError:
        return False  # it has gone meanwhile, or is somebody else's
