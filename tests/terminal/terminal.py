"""A real terminal emulator: what is left on it after everything was written, scrollback included."""

from __future__ import annotations

import importlib
from typing import Any


class Terminal:
    """A few rows only, so that the bottom of the screen, where scrolling begins, is never far."""

    def __init__(self, columns: int = 80, rows: int = 5) -> None:
        pyte: Any = importlib.import_module("pyte")  # it ships no types
        self._screen = pyte.HistoryScreen(columns, rows, history=10_000, ratio=0.5)
        self._stream = pyte.Stream(self._screen)

    def feed(self, output: str) -> None:
        self._stream.feed(output)

    def resize(self, columns: int) -> None:
        self._screen.resize(columns=columns)

    @property
    def lines(self) -> list[str]:
        """The rows as text, without empty ones at the end."""
        scrolled = [
            "".join(row[column].data for column in range(self._screen.columns)) for row in self._screen.history.top
        ]
        rows = [row.rstrip() for row in (*scrolled, *self._screen.display)]
        while rows and not rows[-1]:
            rows.pop()
        return rows
