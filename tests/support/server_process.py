"""Servers as processes of their own, which end with whoever started them.

A program of ours prints its port and ends with its input. A foreign program is held on a leash by
`python -m tests.support.server_process COMMAND …`, which ends it, and everything it started, with its own input.
"""

from __future__ import annotations

import os
import signal
import socket
import subprocess
import sys
import time
from contextlib import contextmanager, suppress
from pathlib import Path
from select import select
from typing import TYPE_CHECKING

import httpx

if TYPE_CHECKING:
    from collections.abc import Generator, Mapping
    from typing import BinaryIO

ROOT = Path(__file__).parents[2]
END_TIME = 10.0
"""Seconds that a server may take to end before it is killed."""


@contextmanager
def own(module: str, *arguments: str) -> Generator[int]:
    """A program of ours, by its module; the port that it prints."""
    with _process([sys.executable, "-m", module, *arguments], stdout=subprocess.PIPE) as process:
        if process.stdout is None:
            raise AssertionError("the pipe was asked for")
        yield int(process.stdout.readline())


@contextmanager
def foreign(
    command: list[str], *, ready: str, log: Path, start_time: float, environment: Mapping[str, str]
) -> Generator[None]:
    """A foreign program on a leash, once it answers at the address `ready`; what it prints goes into the log."""
    leash = [sys.executable, "-m", __name__, *command]
    with log.open("wb") as output, _process(leash, stdout=output, environment=environment) as process:
        last = time.monotonic() + start_time
        while not _answers(ready):
            if process.poll() is not None or time.monotonic() > last:
                raise RuntimeError(f"{command[0]} did not start:\n{log.read_text(errors='replace')[-3000:]}")
            time.sleep(0.05)
        yield


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


def is_free(port: int) -> bool:
    with socket.socket() as probe:
        try:
            probe.bind(("127.0.0.1", port))
        except OSError:
            return False
        return True


def _answers(url: str) -> bool:
    try:
        return httpx.get(url, timeout=5, trust_env=False).is_success
    except httpx.HTTPError:
        return False


@contextmanager
def _process(
    command: list[str], *, stdout: int | BinaryIO, environment: Mapping[str, str] | None = None
) -> Generator[subprocess.Popen[bytes]]:
    process = subprocess.Popen(
        command,
        stdin=subprocess.PIPE,
        stdout=stdout,
        stderr=subprocess.STDOUT if environment is not None else None,
        cwd=ROOT,
        env=None if environment is None else {**os.environ, **environment},
    )
    with process:
        try:
            yield process
        finally:
            if process.stdin is not None:
                process.stdin.close()
            try:
                process.wait(END_TIME)
            except subprocess.TimeoutExpired:
                process.kill()


def _stay(_number: int, _frame: object) -> None:
    pass


def main() -> int:
    """Run a command until it ends or our input does."""
    # Ctrl-C and its like reach everybody at once. This one has still to end its child then.
    for kind in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        signal.signal(kind, _stay)
    child = subprocess.Popen(sys.argv[1:], stdin=subprocess.DEVNULL, start_new_session=True)
    while child.poll() is None:
        readable, _, _ = select([0], [], [], 0.1)
        if readable and not os.read(0, 4096):
            break
    for how, patience in ((signal.SIGTERM, END_TIME / 2), (signal.SIGKILL, END_TIME / 2)):
        with suppress(ProcessLookupError):
            os.killpg(child.pid, how)
        with suppress(subprocess.TimeoutExpired):
            child.wait(patience)
    return child.wait()


if __name__ == "__main__":
    sys.exit(main())
