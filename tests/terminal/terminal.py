"""A terminal of 80 columns: what is left on it after everything was written, scrollback included."""

from __future__ import annotations

import re

_TOKEN = re.compile(r"\x1b\[(?P<params>[0-9;?]*)(?P<final>[A-Za-z])|(?P<character>.)", re.DOTALL)


class Terminal:
    def __init__(self, columns: int = 80) -> None:
        self.columns = columns
        self.rows: list[list[str]] = [[]]
        self.row = 0
        self.column = 0

    def feed(self, output: str) -> None:
        for token in _TOKEN.finditer(output):
            if token["final"]:
                self._control(token["params"], token["final"])
            else:
                self._character(token["character"])

    @property
    def lines(self) -> list[str]:
        """The rows as text, without empty ones at the end."""
        rows = ["".join(row).rstrip() for row in self.rows]
        while rows and not rows[-1]:
            rows.pop()
        return rows

    def _control(self, params: str, final: str) -> None:
        match final:
            case "J" if params in {"", "0"}:
                del self.rows[self.row][self.column :]
                del self.rows[self.row + 1 :]
            case "m":
                pass
            case _:
                raise ValueError(f"a control sequence that nobody expects: {params}{final}")

    def _character(self, character: str) -> None:
        match character:
            case "\r":
                self.column = 0
            case "\n":
                self._down()
            case _ if character < " ":
                raise ValueError(f"a control character that nobody expects: {character!r}")
            case _:
                if self.column == self.columns:
                    self.column = 0
                    self._down()
                row = self.rows[self.row]
                row.extend(" " * (self.column + 1 - len(row)))
                row[self.column] = character
                self.column += 1

    def _down(self) -> None:
        self.row += 1
        if self.row == len(self.rows):
            self.rows.append([])
