"""One run of the torture: its seed, its size, and what each part of it did."""

from __future__ import annotations

import hashlib
import json
import random
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

CASES = Path(__file__).parent / "cases"
"""What once failed, one small file each. `test_cases.py` plays all of them."""
MOST_FAILURES = 20
"""A part that failed so often has said enough."""


@dataclass(frozen=True)
class Size:
    """How much of everything there is."""

    name: str
    streams: int
    messages: int
    lives: int
    settings: int
    edits: int
    soak_seconds: float
    store_kills: int
    ledger_kills: int
    server_kills: int
    family_kills: int
    family_seconds: float
    """In which a family has to follow its server. A busy machine is not to fail the small size."""
    mutants: int


SMALL = Size("small", 8_000, 8_000, 6, 1_500, 3_000, 20, 20, 30, 6, 3, 30, 3)
LARGE = Size("large", 200_000, 200_000, 200, 50_000, 100_000, 600, 1_000, 1_000, 100, 100, 5, 1_000)
SIZES = {size.name: size for size in (SMALL, LARGE)}


@dataclass
class Tally:
    """What a part did: its counts, and every failure in one line."""

    name: str
    counts: dict[str, int] = field(default_factory=dict[str, int])
    failures: list[str] = field(default_factory=list[str])
    seconds: float = 0.0

    @property
    def is_enough(self) -> bool:
        return len(self.failures) >= MOST_FAILURES

    def count(self, what: str, number: int = 1) -> None:
        self.counts[what] = self.counts.get(what, 0) + number

    def fail(self, why: str) -> None:
        self.failures.append(why)


def keep(kind: str, case: Mapping[str, Any]) -> Path:
    """Keep a case that failed as a file, which has to be committed with what mends it."""
    text = json.dumps({"kind": kind, **case}, indent=1)
    path = CASES / f"{kind}-{hashlib.sha256(text.encode()).hexdigest()[:10]}.json"
    path.write_text(text + "\n", encoding="utf-8")
    return path


@dataclass(frozen=True)
class Run:
    """A seed and a size. Every part draws from a stream of chance of its own, so that one can be run alone."""

    seed: int
    size: Size
    keep: Callable[[str, Mapping[str, Any]], Path] = keep

    def chance(self, part: str) -> random.Random:
        return random.Random(f"{self.seed}/{part}")
