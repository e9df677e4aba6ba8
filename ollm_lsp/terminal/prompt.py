"""The prompt: what is typed at a terminal, or read whole from a pipe, without blocking the event loop."""

from __future__ import annotations

import asyncio
import os
import select
import sys
import threading
from contextlib import suppress
from typing import TYPE_CHECKING, TypeVar

from ollm_lsp.terminal.interrupts import Interrupted
from ollm_lsp.terminal.line_reader import CTRL_C, PlainReader

if TYPE_CHECKING:
    from collections.abc import Callable

    from ollm_lsp.terminal.line_reader import LineReader

_FIRST, _NEXT = "› ", "… "  # noqa: RUF001 (an angle on purpose: a `>` would look like a quotation of the answer)
_GLANCE = 0.05
_Result = TypeVar("_Result")


class Prompt:
    """Asks for questions; a line that ends with a backslash goes on in the next."""

    def __init__(self, reader: LineReader) -> None:
        self._reader = reader

    async def question(self) -> str | None:
        """The next question, or nothing when the user leaves; Ctrl-C clears it, and leaves when it is empty."""
        lines: list[str] = []
        while True:
            line = await _in_thread(lambda: self._reader.read(_NEXT if lines else _FIRST))
            if line is None:
                return None
            if CTRL_C in line:
                if not lines and line == CTRL_C:
                    raise Interrupted
                lines.clear()
                continue
            if line.endswith("\\"):
                lines.append(line.removesuffix("\\"))
                continue
            lines.append(line)
            if question := "\n".join(lines).strip():
                return question
            lines.clear()

    def close(self) -> None:
        self._reader.restore()


async def confirm(question: str) -> bool:
    """Whether the user says yes, and nothing less."""
    answer = await _in_thread(lambda: PlainReader().read(f"{question} [y/N] "))
    return answer is not None and answer.strip().lower() in {"y", "yes"}


async def choose(question: str) -> str:
    """The line that the user types, or nothing. Who stops waiting for it takes no later line away."""
    is_given_up = threading.Event()

    def read() -> str:
        print(question, end="", file=sys.stderr, flush=True)
        # Windows cannot wait for a terminal in this way; there the line is read as it comes.
        while sys.platform != "win32" and not select.select([sys.stdin.fileno()], [], [], _GLANCE)[0]:
            if is_given_up.is_set():
                return ""
        return PlainReader().read("") or ""

    try:
        return await _in_thread(read)
    finally:
        is_given_up.set()


async def read_stdin() -> str:
    """Everything that comes through the pipe."""

    def read() -> bytes:
        content = b""
        # By descriptor: a thread abandoned within `sys.stdin` would hold its lock when Python ends.
        while more := os.read(sys.stdin.fileno(), 1 << 16):
            content += more
        return content

    return (await _in_thread(read)).decode(errors="replace")


async def _in_thread(function: Callable[[], _Result]) -> _Result:
    """Run it in a daemon thread: unlike those of an executor, Python does not wait for it at exit."""
    loop = asyncio.get_running_loop()
    future: asyncio.Future[_Result] = loop.create_future()

    def settle(finish: Callable[[], None]) -> None:
        with suppress(asyncio.InvalidStateError):  # cancelled meanwhile
            finish()

    def run() -> None:
        try:
            result = function()
        except Exception as error:  # noqa: BLE001 (raised where it is awaited)
            finish: Callable[[], None] = lambda error=error: future.set_exception(error)  # noqa: E731
        else:
            finish = lambda: future.set_result(result)  # noqa: E731
        with suppress(RuntimeError):  # the loop is closed: nobody waits any more
            loop.call_soon_threadsafe(settle, finish)

    threading.Thread(target=run, daemon=True).start()
    return await future
