"""The list of planted bugs: long enough, and each of them can still be planted."""

from __future__ import annotations

from tests.torture.gates import ROOT
from tests.torture.mutants import mutants


def test_there_are_thirty_planted_bugs_and_each_has_exactly_one_place() -> None:
    known = mutants()
    assert len(known) == len({mutant.name for mutant in known}) >= 30
    for mutant in known:
        text = (ROOT / mutant.file).read_text(encoding="utf-8")
        assert text.count(mutant.search) == 1, mutant.name
        assert mutant.search != mutant.replace, mutant.name
        assert all((ROOT / path).exists() for path in mutant.gate.split(" -")[0].split()), mutant.name
