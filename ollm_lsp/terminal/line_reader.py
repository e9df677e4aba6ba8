"""Line readers: one line from a terminal. They block, so they run in a thread."""

from __future__ import annotations

import importlib
import os
import sys
from contextlib import suppress
from typing import Any, Protocol

CTRL_C = "\x03"


class LineReader(Protocol):
    """Reads lines; one that holds `CTRL_C` was given up by that key."""

    def read(self, prompt: str) -> str | None:
        """The next line without its end, or nothing when the user is done."""
        ...

    def restore(self) -> None:
        """Give the terminal back as it was, also when a read was abandoned."""
        ...


def line_reader() -> LineReader:
    """The best reader for this terminal; readline would write its prompt to stdout even if that is a file."""
    if sys.stdout.isatty():
        with suppress(ImportError):
            return EditingReader()
    return PlainReader()


class EditingReader:
    """Lines with editing and history by readline, which is imported late: it may write to stdout by itself.

    With GNU readline, Ctrl-C is a key like any other while a line is edited: a signal could neither interrupt a
    thread nor tell whether the line was empty. So the terminal sends no signal, and the key ends the line with a mark.
    """

    def __init__(self) -> None:
        self._readline: Any = importlib.import_module("readline")
        self._termios: Any = importlib.import_module("termios")
        self._readline.set_auto_history(False)
        self._usual = self._termios.tcgetattr(sys.stdin.fileno())
        self._has_key = "libedit" not in (self._readline.__doc__ or "")
        if self._has_key:
            self._readline.parse_and_bind(r'"\C-c": "\C-v\C-c\C-m"')

    def read(self, prompt: str) -> str | None:
        if self._has_key:
            self._silence_interrupt_key()
        try:
            line = input(prompt)
        except EOFError:
            print()
            return None
        finally:
            self.restore()
        if line.strip() and CTRL_C not in line:
            self._readline.add_history(line)
        return line

    def restore(self) -> None:
        self._set(self._usual)

    def _silence_interrupt_key(self) -> None:
        terminal = sys.stdin.fileno()
        attributes = self._termios.tcgetattr(terminal)
        attributes[6][self._termios.VINTR] = bytes([os.fpathconf(terminal, "PC_VDISABLE") & 0xFF])
        self._set(attributes)

    def _set(self, attributes: Any) -> None:
        with suppress(self._termios.error):
            self._termios.tcsetattr(sys.stdin.fileno(), self._termios.TCSADRAIN, attributes)


class PlainReader:
    """Lines as the terminal itself edits them, with the prompt on stderr.

    It reads the descriptor: a thread abandoned within `sys.stdin` would hold its lock when Python ends.
    """

    def read(self, prompt: str) -> str | None:
        print(prompt, end="", file=sys.stderr, flush=True)
        line = b""
        while not line.endswith(b"\n"):
            more = os.read(sys.stdin.fileno(), 1 << 16)
            if not more:
                print(file=sys.stderr)
                return None
            line += more
        return line.decode(errors="replace").removesuffix("\n").removesuffix("\r")

    def restore(self) -> None:
        """The terminal was never changed."""
