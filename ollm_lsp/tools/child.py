"""Child processes of tools: without a shell, in a process group of their own, and ended with all that they started."""

from __future__ import annotations

import asyncio
import os
import secrets
import signal
import sys
from contextlib import asynccontextmanager, suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

from ollm_lsp.core.errors import UnreadableFile

if TYPE_CHECKING:
    from asyncio.subprocess import Process
    from collections.abc import AsyncGenerator, Mapping, Sequence

POLITE = 2.0
"""Seconds between asking a process to end and making it."""
FORCED = 10.0
"""Seconds in which the system has surely ended what it was told to end."""
MARK = "OLLM_TOOL_RUN"
"""A variable that every descendant inherits, so that those which left the process group are found as well."""

_PROCESSES = Path("/proc")


@asynccontextmanager
async def started(
    argv: Sequence[str], *, cwd: Path, env: Mapping[str, str], feed: bytes | None = None, joined: bool = False
) -> AsyncGenerator[Process]:
    """A running child. When the block is left, it and everything that it started is ended.

    `feed` is what it reads; without it there is nothing to read. With `joined`, errors come in the same stream.
    """
    mark = secrets.token_hex(16)
    try:
        process = await asyncio.create_subprocess_exec(
            *argv,
            cwd=cwd,
            env={**env, MARK: mark},
            stdin=asyncio.subprocess.DEVNULL if feed is None else asyncio.subprocess.PIPE,
            stdout=asyncio.subprocess.PIPE,
            stderr=asyncio.subprocess.STDOUT if joined else asyncio.subprocess.PIPE,
            start_new_session=True,
        )
    except (OSError, ValueError) as error:
        raise UnreadableFile(f"The program {argv[0]} cannot be started: {error}.", remedy="Choose another.") from None
    feeding = asyncio.create_task(_feed(process, feed)) if feed is not None else None
    try:
        yield process
    finally:
        if feeding:
            feeding.cancel()
            await asyncio.gather(feeding, return_exceptions=True)
        await _end(process, mark)


async def _feed(process: Process, feed: bytes) -> None:
    if process.stdin is None:
        raise AssertionError("this pipe was asked for")
    with suppress(ConnectionError):
        process.stdin.write(feed)
        await process.stdin.drain()
    process.stdin.close()


async def exited(process: Process) -> int:
    """The status of a child that has ended. `Process.wait` would also wait for whoever still holds its pipes."""
    pause = 0.001
    while process.returncode is None:
        await asyncio.sleep(pause)
        pause = min(2 * pause, 0.05)
    return process.returncode


async def _end(process: Process, mark: str) -> None:
    """End the tree: politely, then not. Those that began anew in a session of their own are found by their mark."""
    if process.returncode is None or _is_left(process.pid, mark):
        _signal(process.pid, mark, signal.SIGTERM)
        await _wait(process, mark, POLITE)
    if sys.platform != "win32" and (process.returncode is None or _is_left(process.pid, mark)):
        # The end takes a moment, and one of them may have started another meanwhile.
        await _wait(process, mark, FORCED, signal.SIGKILL)
    with suppress(ProcessLookupError):
        if process.returncode is None:
            process.kill()
    await exited(process)
    # Somebody who escaped may hold the other ends of the pipes for ever.
    cast("Any", process)._transport.close()  # noqa: SLF001 (there is no other way to close them)


async def _wait(process: Process, mark: str, seconds: float, again: signal.Signals | None = None) -> None:
    """Wait until all have gone, but not for ever, and repeat a signal meanwhile."""
    with suppress(TimeoutError):
        async with asyncio.timeout(seconds):
            while process.returncode is None or _is_left(process.pid, mark):
                if again is not None:
                    _signal(process.pid, mark, again)
                await asyncio.sleep(0.02)


def _is_left(group: int, mark: str) -> bool:
    if sys.platform == "win32":
        return False
    if (_PROCESSES / "self" / "stat").exists():
        return bool(_family(group, mark))
    try:
        os.killpg(group, 0)
    except ProcessLookupError:
        return False
    except PermissionError:
        return True
    return True


def _signal(group: int, mark: str, number: signal.Signals) -> None:
    if sys.platform == "win32":
        return  # the process itself is ended by `_end`
    with suppress(ProcessLookupError, PermissionError):
        os.killpg(group, number)
    for pid in _family(group, mark):
        with suppress(ProcessLookupError, PermissionError):
            os.kill(pid, number)


def _family(group: int, mark: str) -> list[int]:
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
