"""The screen: the answer on stdout, everything about it on stderr. Nothing of others gets there uncleaned."""

from __future__ import annotations

import io
import os
import sys
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

from ollm_lsp.terminal.cells import cells, columns_of
from ollm_lsp.terminal.clean import Cleaner, clean, clean_line
from ollm_lsp.terminal.status_line import LiveStatus, PlainStatus, Status

if TYPE_CHECKING:
    from collections.abc import Generator, Mapping
    from typing import TextIO

_DIM, _UNDIM = "\x1b[2m", "\x1b[22m"
_RED, _YELLOW, _UNCOLOURED = "\x1b[31m", "\x1b[33m", "\x1b[39m"


class Screen:
    """Where a chat is shown; it knows which stream is a terminal and where the cursor stands."""

    def __init__(self, out: TextIO, err: TextIO, environ: Mapping[str, str]) -> None:
        plain = bool(environ.get("NO_COLOR")) or environ.get("TERM") == "dumb"
        self._out, self._err = out, err
        self._styled_out = out.isatty() and not plain
        self._styled_err = err.isatty() and not plain
        self._same_terminal = out.isatty() and err.isatty()
        self._status: Status = LiveStatus(err, lambda: columns_of(err)) if self._styled_err else PlainStatus(err)
        self._progress: tuple[str, int | None] | None = None
        self._column = 0
        self._thinking = False
        self._has_spoken = False
        self._text, self._reasoning = Cleaner(), Cleaner()
        self._held = False
        self._kept: list[str] = []

    @classmethod
    def of_process(cls) -> Screen:
        for stream in (sys.stdout, sys.stderr):
            if isinstance(stream, io.TextIOWrapper):
                stream.reconfigure(errors="replace")
        return cls(sys.stdout, sys.stderr, os.environ)

    def text(self, delta: str) -> None:
        """More of the answer."""
        self._has_spoken = True
        if shown := self._text.feed(delta):
            if self._thinking:
                self._thinking = False
                self._write("\n\n" if self._column else "\n")
            self._write(shown)

    def reasoning(self, delta: str) -> None:
        """More of the model's thoughts, only where they can be told from the answer."""
        if self._styled_out and (shown := self._reasoning.feed(delta)):
            if not self._thinking:
                self._thinking = True
                self._end_line()
            self._write(shown, dim=True)

    def end_answer(self) -> None:
        """The answer is over, however it ended: what follows starts on its own line."""
        self.end_progress()
        self._end_line()
        self._thinking = self._has_spoken = False
        self._text, self._reasoning = Cleaner(), Cleaner()

    def line(self, text: str) -> None:
        """A whole line of a result, such as a row of a table."""
        self._write(f"{clean(text)}\n")

    def progress(self, message: str, percentage: int | None = None) -> None:
        """What the user waits for, until something else is said."""
        is_in_the_way = not self._styled_err and self._has_spoken
        if not self._held and not is_in_the_way:
            self._progress = clean_line(message), percentage
            self._show_progress()

    def end_progress(self) -> None:
        self._progress = None
        self._status.erase()

    def note(self, text: str) -> None:
        shown = clean(text)
        self._say(f"{_DIM}{shown}{_UNDIM}" if self._styled_err else shown)

    def warning(self, message: str, remedy: str = "") -> None:
        self._complain("warning:", _YELLOW, message, remedy)

    def error(self, message: str, remedy: str = "") -> None:
        self._complain("error:", _RED, message, remedy)

    @contextmanager
    def held(self) -> Generator[None]:
        """While the user types: progress is not shown, and what is said is kept for afterwards."""
        self.end_progress()
        self._held = True
        try:
            yield
        finally:
            self._held = False
            kept, self._kept = self._kept, []
            for lines in kept:
                self._say(lines)

    def abandon_output(self) -> None:
        """Nobody reads stdout any more; what Python still holds for it must not fail at exit."""
        with Path(os.devnull).open("wb") as nowhere:
            os.dup2(nowhere.fileno(), self._out.fileno())

    def _complain(self, word: str, colour: str, message: str, remedy: str) -> None:
        label = f"{colour}{word}{_UNCOLOURED}" if self._styled_err else word
        lines = [f"{label} {clean(message).rstrip()}"]
        if remedy:
            lines.append(f"  {clean(remedy)}")
        self._say("\n".join(lines))

    def _say(self, lines: str) -> None:
        if self._held:
            self._kept.append(lines)
            return
        self._status.erase()
        if self._same_terminal:
            self._end_line()
        self._err.write(f"{lines}\n")
        self._err.flush()

    def _end_line(self) -> None:
        if self._column:
            self._write("\n")

    def _write(self, text: str, *, dim: bool = False) -> None:
        self._status.erase()
        self._out.write(f"{_DIM}{text}{_UNDIM}" if dim else text)
        self._out.flush()
        _, newline, last_line = text.rpartition("\n")
        self._column = cells(last_line) + (0 if newline else self._column)
        if self._styled_err:
            self._show_progress()

    def _show_progress(self) -> None:
        if self._progress is None:
            return
        inside_line = self._same_terminal and self._column > 0
        # Behind the last column terminals differ in where the cursor is.
        if not (inside_line and self._column % columns_of(self._err) == 0):
            self._status.show(*self._progress, below=inside_line)
