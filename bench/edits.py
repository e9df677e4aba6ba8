"""A one-character edit in a small and in a large document."""

from collections.abc import Iterator
from itertools import islice
from statistics import median
from time import thread_time
from typing import Any

from bench.client import running
from bench.meter import cpu_seconds, settle
from bench.program import BARE, Program, ollm_lsp
from bench.report import Figure, Reference
from ollm_lsp.lsp.buffer import Position, PositionEncoding, Range, TextBuffer

SMALL, LARGE = 1_000, 100_000
ROUNDS = 6
IN_PROCESS = 20_000
THROUGH_SERVER = 2_000
THROUGH_PYGLS = 20
"""Edits per round. pygls takes some 20 ms for each."""
URI = "file:///bench/document.py"


async def measure() -> list[Figure]:
    letters: dict[int, list[float]] = {SMALL: [], LARGE: []}
    newlines: dict[int, list[float]] = {SMALL: [], LARGE: []}
    served: dict[int, list[float]] = {SMALL: [], LARGE: []}
    bare: list[float] = []
    with ollm_lsp() as program:
        for _ in range(ROUNDS):
            for lines in (SMALL, LARGE):
                letters[lines].append(_edit_in_process(lines, "x"))
                newlines[lines].append(_edit_in_process(lines, "\n"))
                served[lines].append(await _edit_through_server(program, lines, THROUGH_SERVER))
            bare.append(await _edit_through_server(BARE, LARGE, THROUGH_PYGLS))
    pygls = Reference(f"{BARE.name}, {LARGE:,} lines", median(bare[1:]), bare[1:])
    return [
        _compare("a letter, in process", letters, goal=3, binding=True),
        _compare("a letter, through the server", served, goal=3, binding=True),
        _compare("a line break, in process", newlines),
        Figure("a letter, through the server", median(served[LARGE][1:]), "µs", reference=pygls),
    ]


def _compare(name: str, rounds: dict[int, list[float]], goal: float | None = None, *, binding: bool = False) -> Figure:
    small, large = rounds[SMALL][1:], rounds[LARGE][1:]
    reference = Reference(f"{SMALL:,} lines", median(small), small)
    name = f"{name}, {LARGE:,} lines"
    return Figure(name, median(large), "µs", large, reference=reference, goal=goal, binding=binding)


def _edit_in_process(lines: int, letter: str) -> float:
    """Microseconds of CPU per edit."""
    buffer = TextBuffer(_text(lines), PositionEncoding.UTF16)
    edits = list(islice(_edits(lines, letter), IN_PROCESS))
    began = thread_time()
    for where, text in edits:
        buffer.edit(where, text)
    spent = thread_time() - began
    assert buffer.text == _text(lines)
    return spent / IN_PROCESS * 1e6


async def _edit_through_server(program: Program, lines: int, count: int) -> float:
    """Microseconds of the server's CPU per edit."""
    async with running(program) as client:
        await client.initialize()
        client.initialized()
        document = {"uri": URI, "languageId": "python", "version": 0, "text": _text(lines)}
        client.notify("textDocument/didOpen", {"textDocument": document})
        await client.barrier()
        await settle(client.pid)
        before = cpu_seconds(client.pid)
        for version, (where, text) in enumerate(islice(_edits(lines, "x"), count), 1):
            params = {"textDocument": {"uri": URI, "version": version}, "contentChanges": [_change(where, text)]}
            client.notify("textDocument/didChange", params)
        await client.barrier()
        return (cpu_seconds(client.pid) - before) / count * 1e6


def _text(lines: int) -> str:
    return "".join(
        f"    value_{number:06} = compute(value_{number:06}, 'of ordinary length')\n" for number in range(lines)
    )


def _edits(lines: int, letter: str) -> Iterator[tuple[Range, str]]:
    """A letter typed and taken back, on lines all over the document: its size stays the same."""
    number = 0
    while True:
        number += 1
        line = number * 7919 % lines
        start = Position(line, 10)
        yield Range(start, start), letter
        yield Range(start, Position(line + 1, 0) if letter == "\n" else Position(line, 11)), ""


def _change(where: Range, text: str) -> dict[str, Any]:
    start, end = ({"line": place.line, "character": place.character} for place in (where.start, where.end))
    return {"range": {"start": start, "end": end}, "text": text}
