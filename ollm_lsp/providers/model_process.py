"""The child process in which the embedded model runs, seen from the language server."""

from __future__ import annotations

import asyncio
import json
import os
import secrets
import signal
import sys
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING

from ollm_lsp.core.errors import ServerFailed, Unsupported
from ollm_lsp.core.foreign_json import count_in
from ollm_lsp.providers import embedded_host
from ollm_lsp.providers.wire.faults import excerpt

if TYPE_CHECKING:
    from asyncio.subprocess import Process
    from typing import BinaryIO

END_TIME = 2.0
"""Seconds in which the end of a child becomes known."""
MAX_LOG = 4 * 1024 * 1024
"""Bytes of a child's log, after which it begins anew."""


class ModelProcess:
    """A child with a loaded model. It listens on loopback, with a key that only the two of us know."""

    def __init__(self, process: Process, port: int, key: str, log: Path) -> None:
        self._process = process
        self._log = log
        self.port = port
        self.key = key

    @classmethod
    async def launch(cls, model: Path, *, context: int, threads: int, log: Path) -> ModelProcess:
        """Start the child and wait until the model is loaded; a child that was not waited for is ended."""
        key = secrets.token_hex(16)
        order = {"model": str(model), "alias": model.stem, "key": key, "context": context, "threads": threads}
        stderr = _open_log(log)
        try:
            process = await asyncio.create_subprocess_exec(
                sys.executable,
                "-I",
                embedded_host.__file__,
                stdin=asyncio.subprocess.PIPE,
                stdout=asyncio.subprocess.PIPE,
                stderr=stderr or asyncio.subprocess.DEVNULL,
                cwd=Path(sys.executable).parent,
            )
        finally:
            if stderr is not None:
                stderr.close()
        try:
            answer = await _converse(process, json.dumps(order))
        except BaseException:
            await _end(process)
            raise
        if port := count_in(answer.get("port")):
            return cls(process, port, key, log)
        # It ends by itself now. To kill it meanwhile would hide how.
        with suppress(TimeoutError):
            await asyncio.wait_for(process.wait(), END_TIME)
        await _end(process)
        error = str(answer.get("error") or _how(process))
        if "No module named 'xllamacpp'" in error:
            raise Unsupported(
                "The embedded model's runtime is not installed.",
                remedy="Install it with `pip install 'ollm-lsp[embedded]'`, or choose another model.",
            )
        raise ServerFailed(
            f"The embedded model could not be loaded from {model}: {excerpt(error)}",
            remedy=f"Check that the file is a GGUF model that fits into memory; details are in {log}.",
        )

    @property
    def alive(self) -> bool:
        return self._process.returncode is None

    @property
    def pid(self) -> int:
        return self._process.pid

    async def ended(self) -> str | None:
        """How the child ended, waiting a moment: a connection breaks before the end of its process is known."""
        with suppress(TimeoutError):
            await asyncio.wait_for(self._process.wait(), END_TIME)
        return None if self.alive else _how(self._process)

    def trim_log(self) -> None:
        """Begin the log anew when it has become long: a child may live for weeks."""
        with suppress(OSError):
            if self._log.stat().st_size > MAX_LOG:
                os.truncate(self._log, 0)

    async def close(self) -> None:
        await _end(self._process)


async def _converse(process: Process, order: str) -> dict[str, object]:
    """Tell the child what to load, and hear what came of it."""
    if process.stdin is None or process.stdout is None:
        raise AssertionError("both pipes were asked for")
    try:
        process.stdin.write(order.encode() + b"\n")
        await process.stdin.drain()
    except ConnectionError:
        return {}
    line = await process.stdout.readline()
    return json.loads(line) if line else {}


async def _end(process: Process) -> None:
    """End the child. It has nothing to save, and while it loads a model it cannot leave by itself."""
    if process.returncode is None:
        with suppress(ProcessLookupError):
            process.kill()
        await process.wait()


def _how(process: Process) -> str:
    code = process.returncode
    if code is not None and code < 0:
        return f"was ended by {signal.Signals(-code).name}"
    return f"ended with status {code}"


def _open_log(path: Path) -> BinaryIO | None:
    """The child's log, begun anew with each child; a state directory that cannot be written costs only the log.

    It is written at its end, wherever that is by now, so that it can be cut while the child lives.
    """
    try:
        path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        path.write_bytes(b"")
        return path.open("ab")
    except OSError:
        return None
