"""Whether ratios have become worse than the committed ones, by more than the noise of both measurements."""

from collections.abc import Mapping
from dataclasses import dataclass

from bench.figure import Figure, Findings
from bench.table import number

MARGIN = 0.05
"""What a ratio may grow by in any case."""
SIGMAS = 3
"""Half of the middle half is two thirds of a standard deviation of a round: so many of them leave little to chance."""

Ratios = Mapping[tuple[str, str], Figure]


@dataclass(frozen=True)
class Regression:
    """A ratio that has grown."""

    name: str
    reference: str
    before: float
    now: float
    allowed: float

    def __str__(self) -> str:
        figures = f"{number(self.now)} x, was {number(self.before)} x, noise allows {number(self.allowed)} x"
        return f"{self.name} against {self.reference}: {figures}"


def regressions(now: Findings, before: Findings) -> list[Regression]:
    """What has become worse. A figure that only one side has, such as that of a missing peer, is not compared."""
    known = _ratios(before)
    found: list[Regression] = []
    for key, figure in _ratios(now).items():
        if key in known and figure.judged > (allowed := _allowed(known[key], figure)):
            found.append(Regression(*key, known[key].judged, figure.judged, allowed))
    return found


def compared(now: Findings, before: Findings) -> int:
    """How many figures both sides have."""
    return len(_ratios(now).keys() & _ratios(before).keys())


def _ratios(findings: Findings) -> Ratios:
    """Figures without a reference tell more of the machine than of us."""
    return {(figure.name, figure.reference.name): figure for figure in findings.figures if figure.reference}


def _allowed(before: Figure, now: Figure) -> float:
    return before.judged * (1 + MARGIN + SIGMAS * (_noise(before) + _noise(now)))


def _noise(figure: Figure) -> float:
    """Half of the middle half of the rounds, as a part of the ratio."""
    if figure.spread is None:
        return 0.0
    lower, upper = figure.spread
    return (upper - lower) / 2 / figure.judged
