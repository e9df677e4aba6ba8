"""A one-character edit in documents of all sizes, and in long lines."""

from collections.abc import Iterator
from functools import partial
from itertools import islice
from time import thread_time
from typing import Any

from bench.client import running
from bench.effort import Effort
from bench.figure import Figure, Findings, Reference, growth
from bench.meter import cpu_seconds, settle
from bench.peers import PYGLS, installed
from bench.program import Program, ollm_lsp
from ollm_lsp.lsp.buffer import Position, PositionEncoding, Range, TextBuffer

LINES = (1_000, 10_000, 100_000)
WIDTHS = (1_000, 10_000, 100_000)
"""Characters of a long line."""
ROUNDS = 7
IN_PROCESS = 20_000
THROUGH_SERVER = 2_000
THROUGH_PYGLS = 20
"""Edits per round. pygls takes some 20 ms for each."""
URI = "file:///bench/document.py"


async def measure(effort: Effort) -> Findings:
    notes: list[str] = []
    lines, widths = effort.sizes(*LINES), effort.sizes(*WIDTHS)
    with ollm_lsp() as ours:
        served = {("lines", size): partial(_through_server, ours, _text(size), THROUGH_SERVER) for size in lines}
        long = {("width", width): partial(_through_server, ours, _wide(width), THROUGH_SERVER) for width in widths}
        theirs = {
            (peer.name, 0): partial(_through_server, peer, _text(lines[-1]), THROUGH_PYGLS)
            for peer in await installed([PYGLS], notes)
        }
        costs = await effort.interleaved(ROUNDS, {**served, **long, **theirs})
    letters = await effort.interleaved(ROUNDS, {size: partial(_in_process, size, "x") for size in lines})
    breaks = await effort.interleaved(ROUNDS, {size: partial(_in_process, size, "\n") for size in lines})
    edited = {size: costs["lines", size] for size in lines}
    wide = {width: costs["width", width] for width in widths}
    name, largest = f"a letter, {lines[-1]:,} lines", edited[lines[-1]]
    small = Reference(f"{lines[0]:,} lines", edited[lines[0]])
    narrow = Reference(f"in one of {widths[0]:,}", wide[widths[0]])
    return Findings(
        [
            Figure(name, "µs", largest, small, goal=1.5, binding=True),
            *(Figure(name, "µs", largest, Reference(peer[0], costs[peer])) for peer in theirs),
            Figure(f"a letter in a line of {widths[-1]:,} characters", "µs", wide[widths[-1]], narrow),
            Figure(f"a line break, {lines[-1]:,} lines, buffer alone", "µs", breaks[lines[-1]]),
        ],
        [
            growth("didChange", "lines", "µs", edited),
            growth("didChange in a long line", "characters", "µs", wide),
            growth("an edit of the buffer alone", "lines", "µs", letters),
        ],
        notes=notes,
    )


async def _in_process(lines: int, letter: str) -> float:
    """Microseconds of CPU per edit."""
    text = _text(lines)
    buffer = TextBuffer(text, PositionEncoding.UTF16)
    edits = list(islice(_edits(lines, letter), IN_PROCESS))
    began = thread_time()
    for where, letters in edits:
        buffer.edit(where, letters)
    spent = thread_time() - began
    assert buffer.text == text
    return spent / IN_PROCESS * 1e6


async def _through_server(program: Program, text: str, count: int) -> float:
    """Microseconds of the server's CPU per edit."""
    async with running(program) as client:
        await client.begin()
        document = {"uri": URI, "languageId": "python", "version": 0, "text": text}
        client.notify("textDocument/didOpen", {"textDocument": document})
        await client.barrier()
        await settle(client.pid)
        before = cpu_seconds(client.pid)
        for version, (where, letters) in enumerate(islice(_edits(text.count("\n"), "x"), count), 1):
            params = {"textDocument": {"uri": URI, "version": version}, "contentChanges": [_change(where, letters)]}
            client.notify("textDocument/didChange", params)
        await client.barrier()
        return (cpu_seconds(client.pid) - before) / count * 1e6


def _text(lines: int) -> str:
    return "".join(
        f"    value_{number:06} = compute(value_{number:06}, 'of ordinary length')\n" for number in range(lines)
    )


def _wide(width: int) -> str:
    """Ten long lines."""
    return ("value " * (width // 6) + "\n") * 10


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
