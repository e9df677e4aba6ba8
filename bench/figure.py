"""What was measured: figures with what they are compared with, and how a cost grows with its size."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from math import log
from statistics import median, quantiles
from typing import Any

LINEAR = 1.1
"""The largest exponent that still counts as linear growth: noise of a quarter in a tenfold step."""


@dataclass(frozen=True)
class Reference:
    """What a figure is compared with, in the same unit."""

    name: str
    samples: Sequence[float]

    @property
    def value(self) -> float:
        return median(self.samples)


@dataclass(frozen=True)
class Figure:
    """A median, and how large it may be."""

    name: str
    unit: str
    samples: Sequence[float]
    reference: Reference | None = None
    goal: float | None = None
    """At most this: a ratio where there is a reference, else a value."""
    binding: bool = False
    """Whether missing it fails the run; otherwise it is a target."""

    @property
    def value(self) -> float:
        return median(self.samples)

    @property
    def ratio(self) -> float | None:
        return self.value / self.reference.value if self.reference else None

    @property
    def rounds(self) -> list[float]:
        """What is judged, of each round by itself; empty where the two sides were not measured in the same rounds."""
        if self.reference is None:
            return list(self.samples)
        if len(self.samples) != len(self.reference.samples):
            return []
        return [value / other for value, other in zip(self.samples, self.reference.samples, strict=True)]

    @property
    def spread(self) -> tuple[float, float] | None:
        """The middle half of what the rounds gave."""
        if len(self.rounds) < 2:
            return None
        lower, _, upper = quantiles(self.rounds, n=4, method="inclusive")
        return lower, upper

    @property
    def judged(self) -> float:
        """What a goal is about."""
        return self.value if self.ratio is None else self.ratio

    @property
    def met(self) -> bool:
        return self.goal is None or self.judged <= self.goal


@dataclass(frozen=True)
class Point:
    """What one size costs."""

    size: float
    samples: Sequence[float]

    @property
    def value(self) -> float:
        return median(self.samples)


@dataclass(frozen=True)
class Growth:
    """A cost over sizes, the smallest first."""

    name: str
    of: str
    """What there is more and more of."""
    unit: str
    points: Sequence[Point]

    @property
    def exponent(self) -> float:
        """Of the last step, which is the one that fixed costs hide least: 0 is flat, 1 linear, 2 quadratic."""
        before, last = self.points[-2:]
        return log(last.value / before.value) / log(last.size / before.size)

    @property
    def met(self) -> bool:
        return self.exponent <= LINEAR


@dataclass(frozen=True)
class Share:
    """A function, and what part of the CPU it takes by itself."""

    name: str
    share: float


@dataclass(frozen=True)
class Findings:
    """What a part of the suite found."""

    figures: Sequence[Figure] = ()
    growths: Sequence[Growth] = ()
    shares: Sequence[Share] = ()
    notes: Sequence[str] = field(default=())
    """What a reader must know, such as which peer could not be had."""

    @property
    def missed(self) -> list[str]:
        """The binding goals that were not met."""
        figures = [figure.name for figure in self.figures if figure.binding and not figure.met]
        return figures + [f"{growth.name}, growth" for growth in self.growths if not growth.met]


def growth(name: str, of: str, unit: str, samples: Mapping[int, Sequence[float]]) -> Growth:
    """The growth of a cost whose samples are known for each size."""
    return Growth(name, of, unit, [Point(size, samples[size]) for size in sorted(samples)])


def findings_from(data: Mapping[str, Any]) -> Findings:
    """Findings as `dataclasses.asdict` wrote them."""
    return Findings(
        [_figure(one) for one in data["figures"]],
        [_growth(one) for one in data["growths"]],
        [Share(**one) for one in data["shares"]],
        data["notes"],
    )


def _growth(data: Mapping[str, Any]) -> Growth:
    points = [Point(**point) for point in data["points"]]
    return Growth(data["name"], data["of"], data["unit"], points)


def _figure(data: Mapping[str, Any]) -> Figure:
    reference = data["reference"]
    whole: dict[str, Any] = {**data, "reference": Reference(**reference) if reference else None}
    return Figure(**whole)
