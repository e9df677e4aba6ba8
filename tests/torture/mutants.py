"""Planted bugs: each of `mutants.toml`, in a copy of the code, must make its gate fail."""

from __future__ import annotations

import shutil
import tempfile
import tomllib
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from queue import Queue
from typing import TYPE_CHECKING

from tests.torture.gates import ROOT, pytest
from tests.torture.run import Tally

if TYPE_CHECKING:
    from collections.abc import Sequence

    from tests.torture.run import Run

FILE = Path(__file__).with_name("mutants.toml")
COPIED = ("ollm_lsp", "tests", "docs", "examples", "pyproject.toml", "README.md")
TREES = 2
FAILED = 1
"""The status of pytest when tests have failed, and not something else."""


@dataclass(frozen=True)
class Mutant:
    """A bug as a piece of text that stands for another, and the tests that must notice."""

    name: str
    file: str
    search: str
    replace: str
    gate: str


def mutants() -> list[Mutant]:
    return [Mutant(**fields) for fields in tomllib.loads(FILE.read_text(encoding="utf-8"))["mutant"]]


def check(run: Run) -> Tally:
    """Plant some of them, or all, in two copies at once."""
    tally, chance, known = Tally("mutants"), run.chance("mutants"), mutants()
    chosen = known if run.size.mutants >= len(known) else chance.sample(known, run.size.mutants)
    with tempfile.TemporaryDirectory(prefix="torture-") as name:
        trees: Queue[Path] = Queue()
        for number in range(TREES):
            trees.put(_copied(Path(name) / str(number)))

        def try_one(mutant: Mutant | str) -> str | None:
            tree = trees.get()
            try:
                return _innocent(mutant, tree) if isinstance(mutant, str) else _not_caught(mutant, tree)
            finally:
                trees.put(tree)

        with ThreadPoolExecutor(TREES) as pool:
            troubles = [*pool.map(try_one, [*_gates(chosen), *chosen])]
        tally.count("planted", len(chosen))
        tally.count("caught", troubles[-len(chosen) :].count(None))
        tally.failures += [trouble for trouble in troubles if trouble]
    return tally


def _copied(tree: Path) -> Path:
    tree.mkdir()
    for part in COPIED:
        copy = shutil.copytree if (ROOT / part).is_dir() else shutil.copy
        copy(ROOT / part, tree / part)
    return tree


def _gates(chosen: Sequence[Mutant]) -> list[str]:
    """All gates, those without options as one: together they start once."""
    gates = sorted({mutant.gate for mutant in chosen})
    plain = sorted({path for gate in gates if " -" not in gate for path in gate.split()})
    return [gate for gate in gates if " -" in gate] + ([" ".join(plain)] if plain else [])


def _innocent(gate: str, tree: Path) -> str | None:
    """What is wrong with a gate that shuts before anything is planted."""
    status, output = pytest("-x", *gate.split(), cwd=tree)
    return f"{gate} fails without a planted bug: {output[-300:]}" if status else None


def _not_caught(mutant: Mutant, tree: Path) -> str | None:
    path = tree / mutant.file
    whole = path.read_text(encoding="utf-8")
    path.write_text(whole.replace(mutant.search, mutant.replace), encoding="utf-8")
    try:
        is_caught = pytest("-x", *mutant.gate.split(), cwd=tree)[0] == FAILED
        return None if is_caught else f"not caught by {mutant.gate}: {mutant.name}"
    finally:
        path.write_text(whole, encoding="utf-8")
