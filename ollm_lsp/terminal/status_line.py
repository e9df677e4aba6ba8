"""The status line: what the user waits for, as one line that is gone before anything else is written.

After painting, the cursor is where it was. So erasing needs to know neither the line's length nor the terminal's width:
it also removes a line that a resize has wrapped. The width is looked up at each painting instead of on SIGWINCH, whose
handler belongs to readline.
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

    def show(self, message: str, percentage: int | None, *, below: bool = False) -> None:
        """Show it where the cursor is, or on the line below when the cursor stands behind words."""
        ...

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
        self._painted: tuple[str, bool] | None = None

    def show(self, message: str, percentage: int | None, *, below: bool = False) -> None:
        line = render(message, percentage, self._columns())
        if (line, below) == self._painted:
            return
        self.erase()
        self._painted = line, below
        # Below: one line down and up again, which scrolls at the bottom of the screen and keeps the column.
        before, after = ("\x1bD\x1b[A\x1b7\x1b[B\r", "\x1b8") if below else ("\r", "\r")
        self._stream.write(f"{before}\x1b[2m{line}\x1b[22m{after}")
        self._stream.flush()

    def erase(self) -> None:
        if self._painted is not None:
            self._stream.write("\x1b[J" if self._painted[1] else "\r\x1b[J")
            self._stream.flush()
            self._painted = None


class PlainStatus:
    """Lines for a file or a terminal without escape codes: each message once, percentages every 10 %.

    Messages that differ only by their numbers count as the same: a token counter is not worth a line each time.
    """

    def __init__(self, stream: TextIO) -> None:
        self._stream = stream
        self._shown: set[tuple[str, int | None]] = set()

    def show(self, message: str, percentage: int | None, *, below: bool = False) -> None:  # noqa: ARG002 (no place)
        tenth = None if percentage is None else percentage // 10
        key = (re.sub(r"\d+([.,]\d+)*", "0", message), tenth)
        if message and key not in self._shown:
            self._shown.add(key)
            print(message if percentage is None else f"{message} {percentage} %", file=self._stream, flush=True)

    def erase(self) -> None:
        """Lines stay."""
