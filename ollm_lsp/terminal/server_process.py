"""The server process: started as a child, its last words kept, ended within a time limit."""

from __future__ import annotations

import asyncio
import contextlib
import signal
import subprocess
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

_READ_AHEAD = 1 << 24
_LAST_WORDS_BYTES = 8192
_LAST_WORDS_LINES = 20
PATIENCE = 2.0  # seconds for a process that has been told to end


class ServerProcess:
    """A child with pipes. It is in a session of its own: Ctrl-C cancels the answer, it does not kill the server."""

    def __init__(self, process: asyncio.subprocess.Process) -> None:
        if process.stdin is None or process.stdout is None or process.stderr is None:
            raise ValueError("the server was started without pipes")
        self._process = process
        self._last_words = b""
        self.stdin = process.stdin
        self.stdout = process.stdout
        self._stderr = asyncio.create_task(self._listen(process.stderr))

    @classmethod
    async def start(cls, command: Sequence[str]) -> ServerProcess:
        """Start it; an `OSError` says why that is not possible."""
        return cls(
            await asyncio.create_subprocess_exec(
                *command,
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=subprocess.PIPE,
                limit=_READ_AHEAD,
                start_new_session=True,
                creationflags=getattr(subprocess, "CREATE_NEW_PROCESS_GROUP", 0),
            )
        )

    @property
    def last_words(self) -> list[str]:
        """The end of what it wrote on stderr."""
        return self._last_words.decode(errors="replace").splitlines()[-_LAST_WORDS_LINES:]

    async def wait(self) -> None:
        """Wait until it ends by itself."""
        await self._process.wait()

    async def end(self, patience: float = PATIENCE) -> str:
        """End it if it still runs, more firmly each time the patience ends, and tell how it ended."""
        self.stdin.close()
        try:
            for stop in (self._process.terminate, self._process.kill):
                if await self._ends_within(patience):
                    break
                self._signal(stop)
        except asyncio.CancelledError:
            self._signal(self._process.kill)
            raise
        finally:
            await self._ends_within(PATIENCE)
        # A grandchild may keep stderr open for ever.
        await asyncio.wait([self._stderr], timeout=patience)
        self._stderr.cancel()
        return _how_it_ended(self._process.returncode)

    async def _ends_within(self, patience: float) -> bool:
        with contextlib.suppress(TimeoutError):
            await asyncio.wait_for(self._process.wait(), patience)
        return self._process.returncode is not None

    def _signal(self, send: Callable[[], None]) -> None:
        with contextlib.suppress(ProcessLookupError):
            send()

    async def _listen(self, stderr: asyncio.StreamReader) -> None:
        while words := await stderr.read(_LAST_WORDS_BYTES):
            self._last_words = (self._last_words + words)[-_LAST_WORDS_BYTES:]


def _how_it_ended(status: int | None) -> str:
    if status is None:
        return "does not end"
    if status >= 0:
        return f"ended with status {status}"
    try:
        return f"was ended by {signal.Signals(-status).name}"
    except ValueError:
        return f"was ended by signal {-status}"
