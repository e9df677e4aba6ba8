"""The slow engine of a search, in its own process: a regular expression can take for ever and holds up all threads.

It is started as `python -I -m ollm_lsp.tools.search_child`, reads one order and writes a line for everything that it
finds. Whoever started it ends it when its time is up.
"""

from __future__ import annotations

import json
import re
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ollm_lsp.core.errors import OllmError
from ollm_lsp.core.lines import split
from ollm_lsp.tools import walk
from ollm_lsp.tools.file_pattern import FilePattern
from ollm_lsp.tools.file_text import MAX_FILE, text_of
from ollm_lsp.tools.roots import Place
from ollm_lsp.tools.tree import Tree
from ollm_lsp.tools.walk import Kind
from ollm_lsp.tools.watch import Watch

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

MAX_COUNT = 100
LONGEST = 1_000
_TIME_LIMIT = 60.0


def main() -> None:
    """Read the order, and find."""
    order = json.load(sys.stdin.buffer)
    try:
        pattern = _compiled(order)
    except (re.error, OverflowError, RecursionError) as error:
        _tell({"error": str(error)})
        return
    for answer in _in_texts(order["texts"], pattern) if "texts" in order else _in_files(order, pattern):
        _tell(answer)


def _compiled(order: dict[str, Any]) -> re.Pattern[str]:
    text: str = order["text"] if order["regex"] else re.escape(order["text"])
    return re.compile(text, re.IGNORECASE if order["ignore_case"] else 0)


def _in_texts(texts: list[str], pattern: re.Pattern[str]) -> Iterator[object]:
    for index, text in enumerate(texts):
        yield from ([index, line] for line, _ in _matching(split(text), pattern))


def _in_files(order: dict[str, Any], pattern: re.Pattern[str]) -> Iterator[object]:
    top = Place(Path(order["folder"]), tuple(order["names"]))
    files = FilePattern(order["files"]) if order["files"] is not None else None
    for place in _places(top):
        if files and not files.fits(place, top):
            continue
        try:
            data = walk.read(place, MAX_FILE + 1)
            text = text_of(data, place.shown) if len(data) <= MAX_FILE else ""
        except OllmError:
            continue
        yield from ([place.names, line, found] for line, found in _matching(text.split("\n"), pattern))


def _places(top: Place) -> Iterable[Place]:
    status = walk.look(top)
    if status and walk.kind_of(status) is Kind.FILE:
        return [top]
    return Tree(top, Watch(_TIME_LIMIT)).files()


def _matching(lines: list[str], pattern: re.Pattern[str]) -> Iterator[tuple[int, str]]:
    count = 0
    for number, line in enumerate(lines, 1):
        if pattern.search(line.rstrip("\r\n")):
            yield number, line.rstrip("\r\n")[:LONGEST]
            count += 1
            if count == MAX_COUNT:
                return


def _tell(answer: object) -> None:
    sys.stdout.write(json.dumps(answer) + "\n")
    sys.stdout.flush()


if __name__ == "__main__":
    main()
