"""Pictures of a terminal's screen for the documentation: as SVG, or as PNG, which a browser makes of that."""

from __future__ import annotations

import re
import subprocess
from html import escape
from itertools import groupby
from math import ceil
from typing import TYPE_CHECKING

import pyte

from tests.editors.terminal import COLUMNS, ROWS
from tests.vscode import chromium

if TYPE_CHECKING:
    from pathlib import Path

    from pyte.screens import Char

    from tests.editors.terminal import Terminal

CELL, LINE, MARGIN = 8.4, 18, 12
"""Pixels: the width and the height of a character, and the room around all of them."""
FONT = 'font-family="ui-monospace, DejaVu Sans Mono, Menlo, Consolas, monospace" font-size="14"'
INK, PAPER = "#d8dee9", "#1e222a"
NAMED = {
    "black": "#1e222a", "red": "#e06c75", "green": "#98c379", "brown": "#e5c07b", "blue": "#61afef",
    "magenta": "#c678dd", "cyan": "#56b6c2", "white": "#abb2bf", "brightblack": "#5c6370", "brightred": "#e06c75",
    "brightgreen": "#98c379", "brightbrown": "#e5c07b", "brightyellow": "#e5c07b", "brightblue": "#61afef",
    "brightmagenta": "#c678dd", "brightcyan": "#56b6c2", "brightwhite": "#ffffff",
}  # fmt: skip

_PIECE = re.compile(r"\S+(?: \S+)*")
_SEQUENCE = re.compile(r"\x1b\[[\d;:]*m")
_UNDERLINE = re.compile(r"([34]8;2;\d+;\d+;\d+)|58[:;][\d:]+(?:;\d+)*")
"""The colour of an underline; a number in any other colour may look like its beginning."""


def draw(terminal: Terminal, file: Path, rows: int = ROWS) -> None:
    """Write the picture of the screen's first rows, in the format that the file's name tells."""
    drawing = file.with_suffix(".svg")
    width, height = COLUMNS * CELL + 2 * MARGIN, rows * LINE + 2 * MARGIN
    drawing.write_text(_drawn(terminal, rows, width, height), encoding="utf-8")
    if drawing != file:
        _photograph(drawing, file, width, height)
        drawing.unlink()


def _photograph(drawing: Path, file: Path, width: float, height: float) -> None:
    flags = ["--headless", "--no-sandbox", "--disable-gpu", "--hide-scrollbars", "--force-device-scale-factor=2"]
    size = f"--window-size={ceil(width)},{ceil(height)}"
    command = [chromium.find(), *flags, "--default-background-color=00000000", size, f"--screenshot={file}"]
    subprocess.run([*command, drawing.as_uri()], check=True, capture_output=True, timeout=100)


def _drawn(terminal: Terminal, rows: int, width: float, height: float) -> str:
    screen = pyte.Screen(COLUMNS, ROWS)
    pyte.Stream(screen).feed(_plain(terminal.coloured()).rstrip("\n").replace("\n", "\r\n"))
    column, row = terminal.cursor()
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width:g} {height:g}" width="{width:g}" {FONT}>',
        f'<rect width="100%" height="100%" rx="8" fill="{PAPER}"/>',
    ]
    for number in range(rows):
        cells = [screen.buffer[number][place] for place in range(COLUMNS)]
        if number == row:
            cells[column] = cells[column]._replace(reverse=not cells[column].reverse)
        parts += _line(cells, MARGIN + number * LINE)
    return "\n".join([*parts, "</svg>", ""])


def _plain(text: str) -> str:
    """The text without kinds and colours of underlines, which the emulator does not know."""
    return _SEQUENCE.sub(lambda found: re.sub(r"4:\d", "4", _UNDERLINE.sub(r"\1", found[0])), text)


def _line(cells: list[Char], top: int) -> list[str]:
    """One row, cut where its look changes."""
    papers: list[str] = []
    texts: list[str] = []
    for look, group in groupby(enumerate(cells), lambda one: _look(one[1])):
        ink, paper, is_bold, is_italic, is_underlined = look
        run = [*group]
        left, text = MARGIN + run[0][0] * CELL, "".join(cell.data for _, cell in run)
        if paper != PAPER:
            papers.append(f'<rect x="{left:g}" y="{top}" width="{len(run) * CELL:g}" height="{LINE}" fill="{paper}"/>')
        style = ' font-weight="bold"' * is_bold + ' font-style="italic"' * is_italic
        style += ' text-decoration="underline"' * is_underlined
        # Each piece has its own place, so that columns are in line whatever font the reader has.
        for piece in _PIECE.finditer(text) if not is_underlined else re.finditer(".+", text):
            start = left + piece.start() * CELL
            texts.append(
                f'<text x="{start:g}" y="{top + 14}" fill="{ink}" textLength="{len(piece[0]) * CELL:g}"{style}'
                f' xml:space="preserve">{escape(piece[0])}</text>'
            )
    return papers + texts


def _look(cell: Char) -> tuple[str, str, bool, bool, bool]:
    ink, paper = _colour(cell.fg, INK), _colour(cell.bg, PAPER)
    pair = (paper, ink) if cell.reverse else (ink, paper)
    return (*pair, cell.bold, cell.italics, cell.underscore)


def _colour(name: str, default: str) -> str:
    return default if name == "default" else NAMED.get(name) or f"#{name}"
