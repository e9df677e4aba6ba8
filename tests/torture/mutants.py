"""Planted bugs: each of `mutants.toml`, in a copy of the code, must make its gate fail."""

from __future__ import annotations

import shutil
import tempfile
import tomllib
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from tests.torture.gates import ROOT, pytest
from tests.torture.run import Tally

if TYPE_CHECKING:
    from tests.torture.run import Run

FILE = Path(__file__).with_name("mutants.toml")
COPIED = ("ollm_lsp", "tests", "docs", "examples", "pyproject.toml", "README.md")
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
    """Plant some of them, or all."""
    tally, chance, known = Tally("mutants"), run.chance("mutants"), mutants()
    chosen = known if run.size.mutants >= len(known) else chance.sample(known, run.size.mutants)
    with tempfile.TemporaryDirectory(prefix="torture-") as name:
        tree = Path(name)
        for part in COPIED:
            copy = shutil.copytree if (ROOT / part).is_dir() else shutil.copy
            copy(ROOT / part, tree / part)
        for gate in sorted({mutant.gate for mutant in chosen}):
            status, output = pytest("-x", *gate.split(), cwd=tree)
            if status:
                tally.fail(f"{gate} fails without a planted bug: {output[-300:]}")
        for mutant in chosen:
            tally.count("planted")
            if _is_caught(mutant, tree):
                tally.count("caught")
            else:
                tally.fail(f"not caught by {mutant.gate}: {mutant.name}")
    return tally


def _is_caught(mutant: Mutant, tree: Path) -> bool:
    path = tree / mutant.file
    whole = path.read_text(encoding="utf-8")
    path.write_text(whole.replace(mutant.search, mutant.replace), encoding="utf-8")
    try:
        return pytest("-x", *mutant.gate.split(), cwd=tree)[0] == FAILED
    finally:
        path.write_text(whole, encoding="utf-8")
