"""Child processes: without a shell, in a process group of their own, and ended with all that they started."""

from __future__ import annotations

import asyncio
import os
import secrets
import signal
import subprocess
import sys
from contextlib import asynccontextmanager, suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

from ollm_lsp.core.errors import UnreadableFile
from ollm_lsp.processes import family, guardian
from ollm_lsp.processes.family import FORCED, MARK, POLITE
from ollm_lsp.processes.register import register

if TYPE_CHECKING:
    from asyncio.subprocess import Process
    from collections.abc import AsyncGenerator, Mapping, Sequence

WIDE = 1 << 20
"""Bytes: what Linux allows everybody."""


@asynccontextmanager
async def started(
    argv: Sequence[str],
    *,
    cwd: Path,
    env: Mapping[str, str],
    feed: bytes | None = None,
    joined: bool = False,
    guarded: bool = True,
    wide: bool = False,
) -> AsyncGenerator[Process]:
    """A running child. When the block is left, or this process is killed, it and everything that it started is ended.

    `feed` is what it reads; without it there is nothing to read. With `joined`, errors come in the same stream. A
    `wide` pipe holds as much of its output as the system allows: some programs lose, when they end, what nobody has
    read yet. One that ends soon by itself needs not be `guarded`.
    """
    mark = secrets.token_hex(16)
    guard = await _guardian(mark) if guarded and sys.platform != "win32" else None
    register.expect(mark)
    try:
        process = await _start(argv, cwd, {**env, MARK: mark}, is_fed=feed is not None, joined=joined)
        register.tell(mark, process.pid)
        if guard and guard.stdin:
            guard.stdin.write(b"%d" % process.pid)
        feeding: asyncio.Task[None] | None = None
        try:
            if wide:
                _widen(process)
            if feed is not None:
                feeding = asyncio.create_task(_feed(process, feed))
            yield process
        finally:
            if feeding:
                feeding.cancel()
                await asyncio.gather(feeding, return_exceptions=True)
            await _end(process, mark)
    finally:
        register.strike(mark)
        if guard:
            await _dismiss(guard)


async def _start(argv: Sequence[str], cwd: Path, env: Mapping[str, str], *, is_fed: bool, joined: bool) -> Process:
    try:
        return await asyncio.create_subprocess_exec(
            *argv,
            cwd=cwd,
            env=env,
            stdin=asyncio.subprocess.PIPE if is_fed else asyncio.subprocess.DEVNULL,
            stdout=asyncio.subprocess.PIPE,
            stderr=asyncio.subprocess.STDOUT if joined else asyncio.subprocess.PIPE,
            start_new_session=True,
        )
    except (OSError, ValueError) as error:
        raise UnreadableFile(f"The program {argv[0]} cannot be started: {error}.", remedy="Choose another.") from None


def _widen(process: Process) -> None:
    if sys.platform == "linux":
        import fcntl  # noqa: PLC0415 (not there on Windows)

        pipe = cast("Any", process)._transport.get_pipe_transport(1).get_extra_info("pipe")  # noqa: SLF001 (as below)
        with suppress(OSError, ValueError):  # it may have ended already
            fcntl.fcntl(pipe.fileno(), fcntl.F_SETPIPE_SZ, WIDE)


async def _guardian(mark: str) -> Process | None:
    """Somebody who ends the family when we cannot: its input ends with this process.

    It is there before the family is, of which it knows the mark, or a server that is killed in between would leave one.
    """
    with suppress(OSError):
        return await asyncio.create_subprocess_exec(
            sys.executable,
            "-I",
            "-S",
            guardian.__file__,
            mark,
            stdin=asyncio.subprocess.PIPE,
            stdout=asyncio.subprocess.DEVNULL,
            stderr=asyncio.subprocess.DEVNULL,
            cwd=Path(sys.executable).parent,
            start_new_session=True,
        )
    return None


async def _dismiss(guard: Process) -> None:
    """Nobody is left to guard. It is not told so by the end of its input: the number of the group may be taken anew."""
    with suppress(ProcessLookupError):
        guard.kill()
    await guard.wait()


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
    if process.returncode is None or family.is_left(process.pid, mark):
        family.send(process.pid, mark, signal.SIGTERM)
        if sys.platform == "win32":
            await end_tree(process.pid)
        await _wait(process, mark, POLITE)
    if sys.platform != "win32" and (process.returncode is None or family.is_left(process.pid, mark)):
        # The end takes a moment, and one of them may have started another meanwhile.
        await _wait(process, mark, FORCED, signal.SIGKILL)
    with suppress(ProcessLookupError):
        if process.returncode is None:
            process.kill()
    await exited(process)
    # Somebody who escaped may hold the other ends of the pipes for ever.
    cast("Any", process)._transport.close()  # noqa: SLF001 (there is no other way to close them)


async def end_tree(pid: int) -> None:
    """Windows knows neither groups nor marks, but which process started which, while the first of them lives."""
    killer = Path(os.environ.get("SYSTEMROOT", "C:\\Windows"), "System32", "taskkill.exe")
    with suppress(OSError):
        await asyncio.to_thread(subprocess.run, [killer, "/T", "/F", "/PID", str(pid)], capture_output=True)


async def _wait(process: Process, mark: str, seconds: float, again: signal.Signals | None = None) -> None:
    """Wait until all have gone, but not for ever, and repeat a signal meanwhile."""
    with suppress(TimeoutError):
        async with asyncio.timeout(seconds):
            while process.returncode is None or family.is_left(process.pid, mark):
                if again is not None:
                    family.send(process.pid, mark, again)
                await asyncio.sleep(0.02)
