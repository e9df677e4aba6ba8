"""Assembling the context of a question among many open buffers, and among many files that are not open."""

import gc
import tempfile
from collections.abc import Awaitable, Callable
from functools import partial
from pathlib import Path
from time import process_time

from bench.effort import Effort
from bench.figure import Figure, Findings, Reference, growth
from ollm_lsp.lsp.buffer import Position, Range
from ollm_lsp.lsp.standard import ContentChange
from tests.support.surroundings import Place

BUFFERS = (10, 100, 1_000)
FOLDERS = 30
LINES = 1_000
LONG_LINES = 25_000
"""Lines of about a megabyte."""
LONG_BUFFERS = 300
UNOPENED = 20_000
ROUNDS = 12
SMALL, LARGE = 6_000, 96_000
"""Tokens that models with 8 k and with 128 k leave for the context."""
IMPORTS = "".join(f"from package{number:02} import module{number:03}\n" for number in range(FOLDERS))
IGNORED = "*.log\nbuild/\nnode_modules/\n__pycache__/\n*.pyc\ndist/\n.venv/\n"


async def measure(effort: Effort) -> Findings:
    with tempfile.TemporaryDirectory() as folder, tempfile.TemporaryDirectory() as crowded:
        _plant(Path(folder), 0)
        _plant(Path(crowded), UNOPENED)
        sizes = effort.sizes(*BUFFERS)
        places = {size: _question(Path(folder), size) for size in sizes}
        costs = await effort.interleaved(ROUNDS, {size: partial(ask, LARGE) for size, ask in places.items()})
        middle = _question(Path(folder), LONG_BUFFERS)
        variants = {
            "small": partial(middle, SMALL),
            "large": partial(middle, LARGE),
            "long": partial(_question(Path(folder), LONG_BUFFERS, LONG_LINES), LARGE),
            "crowded": partial(_question(Path(crowded), LONG_BUFFERS), LARGE),
        }
        others = await effort.interleaved(ROUNDS, variants)
    name = f"{LONG_BUFFERS} buffers of {LINES:,} lines"
    reference = Reference("no other files", others["large"])
    return Findings(
        [
            Figure(f"{name}, {SMALL:,} tokens", "ms", others["small"], goal=50, binding=True),
            Figure(f"{name}, {LARGE:,} tokens", "ms", others["large"], goal=50, binding=True),
            Figure(f"{LONG_BUFFERS} buffers of 1 MB, {LARGE:,} tokens", "ms", others["long"], goal=100),
            Figure(f"{name}, {UNOPENED:,} other files", "ms", others["crowded"], reference, goal=1.5),
        ],
        [growth("context of a question", "open buffers", "ms", costs)],
    )


def _question(top: Path, buffers: int, lines: int = LINES) -> Callable[[int], Awaitable[float]]:
    """A question from a place with so many open documents, asked with a budget as often as wanted."""
    place = Place(top, is_external=True)
    body = "".join(_function(number) for number in range(lines // 10))
    for number in reversed(range(buffers)):
        place.open(_path(top, number), (IMPORTS if number == 0 else "") + f"# module {number}\n{body}")
    version = 1
    selection = Range(Position(500, 0), Position(510, 0))

    async def ask(budget: int) -> float:
        """Milliseconds of CPU, over all threads, after edits in the active document and in others."""
        nonlocal version
        version += 1
        for number in (*range(buffers // 2, buffers // 2 + 5), 0):
            start = Range(Position(5, 0), Position(5, 0))
            place.documents.change(_path(top, number).as_uri(), version, [ContentChange("x", start)])
        gc.collect()
        began = process_time()
        context = await place.ask("What does this do?", budget, uri=_path(top, 0).as_uri(), range=selection)
        spent = process_time() - began
        assert len(context.parts) >= min(10, buffers)
        assert sum(part.tokens for part in context.parts) <= budget
        return spent * 1e3

    return ask


def _function(number: int) -> str:
    body = "".join(f"    value_{line} = compute(argument, {line}, 'of ordinary length')\n" for line in range(8))
    return f"def function_{number:05}(argument):\n{body}\n"


def _path(top: Path, number: int) -> Path:
    return top / f"package{number % FOLDERS:02}" / f"module{number:03}.py"


def _plant(top: Path, unopened: int) -> None:
    (top / ".gitignore").write_text(IGNORED)
    for number in range(unopened):
        path = top / f"package{number % FOLDERS:02}" / f"unopened{number:05}.py"
        path.parent.mkdir(exist_ok=True)
        path.touch()
