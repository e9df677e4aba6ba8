"""search_text over many files, against ripgrep itself."""

import asyncio
import os
import random
import shutil
import sys
import tempfile
from collections.abc import Generator, Sequence
from contextlib import contextmanager
from pathlib import Path
from statistics import median
from time import perf_counter

from bench.report import Figure, Reference
from ollm_lsp.core.snapshot import Snapshot
from ollm_lsp.tools import programs
from ollm_lsp.tools.roots import Roots
from ollm_lsp.tools.search_text import SearchText
from ollm_lsp.tools.slow_search import SlowSearch
from ollm_lsp.tools.workspace import Workspace

FILES = 20_000
FOLDERS = 200
LINES = 60
OPEN = 10
HITS = 100
ROUNDS = 9
NEEDLE = "needle_in_a_haystack"
WORDS = ("value", "compute", "result", "index", "buffer", "return", "while", "length", "import", "string")
"""What the other lines are made of."""


class Buffers:
    """A few of the files, open with other text."""

    def __init__(self, files: Sequence[Path]) -> None:
        self._open = {path.as_uri(): Snapshot(path.as_uri(), f"{NEEDLE} unsaved\n" * 3, 1) for path in files}

    def get(self, uri: str) -> Snapshot | None:
        return self._open.get(uri)

    def all(self) -> Sequence[Snapshot]:
        return list(self._open.values())


class Run:
    """A call that nobody watches."""

    id = "bench"

    @contextmanager
    def asking(self) -> Generator[None]:
        yield


async def measure() -> list[Figure]:
    with tempfile.TemporaryDirectory() as folder:
        top = Path(folder)
        files = _plant(top)
        roots = Roots([top])
        workspace = Workspace(roots, Buffers(files[:OPEN]))
        slow = SearchText(workspace, SlowSearch(programs.environment(roots)), time_limit=60)
        slowly = [await _searched(slow) * 1e3 for _ in range(2)]
        fallback = Figure(f"{FILES:,} files without ripgrep", min(slowly), "ms", slowly)
        # Where the development tools are, so that the search finds it, too.
        os.environ["PATH"] = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"
        if (program := shutil.which("rg")) is None:
            print("ripgrep is not installed, so search_text is not compared with it.")
            return [fallback]
        ours: list[float] = []
        theirs: list[float] = []
        for _ in range(ROUNDS):
            ours.append(await _searched(SearchText(workspace)) * 1e3)
            theirs.append(await _grepped(program, top) * 1e3)
        ours, theirs = ours[1:], theirs[1:]
        reference = Reference("ripgrep itself", median(theirs), theirs)
        name = f"{FILES:,} files, {OPEN} of them open"
        return [Figure(name, median(ours), "ms", ours, reference=reference, goal=2, binding=True), fallback]


def _plant(top: Path) -> list[Path]:
    """Files of ordinary size in folders, with as many hits as a person would read."""
    chance = random.Random(1)  # noqa: S311 (the same files each time)
    files: list[Path] = []
    for number in range(FILES):
        folder = top / f"package{number % FOLDERS:03}"
        folder.mkdir(exist_ok=True)
        lines = [" ".join(chance.choices(WORDS, k=8)) for _ in range(LINES)]
        if number % (FILES // HITS) == 0:
            lines[chance.randrange(LINES)] = f"    {NEEDLE} = {number}"
        path = folder / f"module{number:05}.py"
        path.write_text("\n".join(lines))
        files.append(path)
    (top / ".gitignore").write_text("*.log\nbuild/\n")
    return files


async def _searched(tool: SearchText) -> float:
    began = perf_counter()
    text = await tool.run({"query": NEEDLE}, Run())
    spent = perf_counter() - began
    assert text.count(NEEDLE) == HITS + 3 * OPEN - 1  # the first file has a hit and is open
    return spent


async def _grepped(program: str, top: Path) -> float:
    """As somebody at a terminal would do it."""
    argv = [program, "--line-number", "--fixed-strings", NEEDLE, str(top)]
    began = perf_counter()
    process = await asyncio.create_subprocess_exec(*argv, stdout=asyncio.subprocess.PIPE)
    output, _ = await process.communicate()
    spent = perf_counter() - began
    assert output.count(b"\n") == HITS
    return spent
