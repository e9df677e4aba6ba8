"""The status line: what the user waits for, as one line that is gone before anything else is written.

After painting, the cursor goes back to the line's start. So erasing needs to know neither the line's length nor
the terminal's width: it also removes a line that a resize has wrapped. The width is looked up at each painting
instead of on SIGWINCH, whose handler belongs to readline.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Protocol

from ollm_lsp.terminal.cells import cells, shorten

if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import TextIO

_BAR_CELLS = 20
_SHORTEST_MESSAGE = 12


class Status(Protocol):
    """Shows progress. Messages are clean single lines."""

    def show(self, message: str, percentage: int | None) -> None: ...

    def erase(self) -> None: ...


def render(message: str, percentage: int | None, columns: int) -> str:
    """The line for a terminal of that width; the last column stays free, so that it never wraps."""
    room = columns - 1
    if percentage is None:
        return shorten(message, room)
    percentage = min(max(percentage, 0), 100)
    filled = percentage * _BAR_CELLS // 100
    number = f"{percentage} %"
    gauge = f"[{'#' * filled}{'.' * (_BAR_CELLS - filled)}] {number}"
    if room < _SHORTEST_MESSAGE + 1 + cells(gauge):
        gauge = number
    short = shorten(message, room - cells(gauge) - 1)
    return shorten(f"{short} {gauge}" if short else gauge, room)


class LiveStatus:
    """A line at the bottom of a terminal, repainted in place."""

    def __init__(self, stream: TextIO, columns: Callable[[], int]) -> None:
        self._stream = stream
        self._columns = columns
        self._painted = ""

    def show(self, message: str, percentage: int | None) -> None:
        line = render(message, percentage, self._columns())
        if line != self._painted:
            self._painted = line
            self._stream.write(f"\r\x1b[2m{line}\x1b[22m\x1b[J\r")
            self._stream.flush()

    def erase(self) -> None:
        if self._painted:
            self._painted = ""
            self._stream.write("\r\x1b[J")
            self._stream.flush()


class PlainStatus:
    """Lines for a file or a terminal without escape codes: each message once, percentages every 10 %.

    Messages that differ only by their numbers count as the same: a token counter is not worth a line each time.
    """

    def __init__(self, stream: TextIO) -> None:
        self._stream = stream
        self._shown: set[tuple[str, int | None]] = set()

    def show(self, message: str, percentage: int | None) -> None:
        tenth = None if percentage is None else percentage // 10
        key = (re.sub(r"\d+([.,]\d+)*", "0", message), tenth)
        if message and key not in self._shown:
            self._shown.add(key)
            print(message if percentage is None else f"{message} {percentage} %", file=self._stream, flush=True)

    def erase(self) -> None:
        """Lines stay."""
