"""search_text over many files, against ripgrep itself."""

import asyncio
import os
import random
import resource
import shutil
import sys
import tempfile
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from time import perf_counter

from bench.effort import Effort
from bench.figure import Figure, Findings, Reference, growth
from ollm_lsp.tools import programs
from ollm_lsp.tools.roots import Roots
from ollm_lsp.tools.search_text import SearchText
from ollm_lsp.tools.slow_search import SlowSearch
from ollm_lsp.tools.workspace import Workspace
from tests.support.quiet_run import QuietRun
from tests.support.workspace import OpenBuffers

FILES = (200, 2_000, 20_000)
PER_FOLDER = 100
LINES = 60
OPEN = 10
"""Files that are open with other text."""
HITS = 100
"""Files with a hit: as many as a person would read."""
ROUNDS = 9
NEEDLE = "needle_in_a_haystack"
WORDS = ("value", "compute", "result", "index", "buffer", "return", "while", "length", "import", "string")
"""What the other lines are made of."""


@dataclass(frozen=True)
class Search:
    """Milliseconds of CPU, also of the programs that were started, and of wall time."""

    cpu: float
    wall: float


async def measure(effort: Effort) -> Findings:
    sizes, largest = effort.sizes(*FILES), FILES[-1]
    with tempfile.TemporaryDirectory() as folder:
        tops = {size: Path(folder, str(size)) for size in sizes}
        spaces = {size: _plant(top, size) for size, top in tops.items()}
        environment = programs.environment(Roots([tops[largest]]))
        slow = SearchText(spaces[largest], SlowSearch(environment), time_limit=60)
        fallback = [await _timed(partial(_searched, slow)) for _ in range(2)]
        figures = [Figure(f"{largest:,} files without ripgrep", "ms", [one.cpu for one in fallback])]
        # Where the development tools are, so that the search finds it, too.
        os.environ["PATH"] = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"
        if (program := shutil.which("rg")) is None:
            return Findings(figures, notes=["ripgrep is not installed, so search_text is not compared with it."])
        ours = {size: partial(_timed, partial(_searched, SearchText(space))) for size, space in spaces.items()}
        theirs = {0: partial(_timed, partial(_grepped, program, tops[largest]))}
        samples = await effort.interleaved(ROUNDS, {**ours, **theirs})
    name = f"{largest:,} files, {OPEN} of them open"
    cpu, wall = ({size: [getattr(one, what) for one in samples[size]] for size in samples} for what in ("cpu", "wall"))
    return Findings(
        [
            Figure(f"CPU, {name}", "ms", cpu[largest], Reference("ripgrep itself", cpu[0])),
            Figure(f"wall time, {name}", "ms", wall[largest], Reference("ripgrep itself", wall[0]), 2, binding=True),
            *figures,
        ],
        [growth("search_text", "files", "ms", {size: cpu[size] for size in sizes})],
    )


def _plant(top: Path, count: int) -> Workspace:
    """Files of ordinary size in folders, some of them open with other text."""
    chance = random.Random(1)  # noqa: S311 (the same files each time)
    buffers = OpenBuffers()
    for number in range(count):
        folder = top / f"package{number // PER_FOLDER:03}"
        folder.mkdir(parents=True, exist_ok=True)
        lines = [" ".join(chance.choices(WORDS, k=8)) for _ in range(LINES)]
        if number % (count // HITS) == 0:
            lines[chance.randrange(LINES)] = f"    {NEEDLE} = {number}"
        path = folder / f"module{number:05}.py"
        path.write_text("\n".join(lines))
        if number < OPEN:
            buffers.open(path.as_uri(), f"{NEEDLE} unsaved\n" * 3)
    (top / ".gitignore").write_text("*.log\nbuild/\n")
    return Workspace(Roots([top]), buffers)


async def _timed(search: Callable[[], Awaitable[None]]) -> Search:
    cpu, began = _cpu(), perf_counter()
    await search()
    return Search((_cpu() - cpu) * 1e3, (perf_counter() - began) * 1e3)


def _cpu() -> float:
    uses = (resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN))
    return sum(use.ru_utime + use.ru_stime for use in uses)


async def _searched(tool: SearchText) -> None:
    text = await tool.run({"query": NEEDLE}, QuietRun())
    assert f"{NEEDLE} unsaved" in text
    assert text.count(NEEDLE) > HITS


async def _grepped(program: str, top: Path) -> None:
    """As somebody at a terminal would do it."""
    argv = [program, "--line-number", "--fixed-strings", NEEDLE, str(top)]
    process = await asyncio.create_subprocess_exec(*argv, stdout=asyncio.subprocess.PIPE)
    output, _ = await process.communicate()
    assert output.count(b"\n") == HITS
