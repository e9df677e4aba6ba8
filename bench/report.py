"""Figures as a table for people and as JSON for programs."""

import json
import os
import platform
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field
from datetime import UTC, datetime
from pathlib import Path

RESULTS = Path(__file__).parent / "results"
WIDTHS = (46, 12, 38, 26, 16)


@dataclass(frozen=True)
class Reference:
    """What a figure is compared with, in the same unit."""

    name: str
    value: float
    samples: Sequence[float] = ()


@dataclass(frozen=True)
class Figure:
    """A median, and how large it may be."""

    name: str
    value: float
    unit: str
    samples: Sequence[float] = field(default=())
    reference: Reference | None = None
    goal: float | None = None
    """At most this: a ratio where there is a reference, else a value."""
    binding: bool = False
    """Whether missing it fails the run; otherwise it is a target."""

    @property
    def ratio(self) -> float | None:
        return self.value / self.reference.value if self.reference else None

    @property
    def spread(self) -> tuple[float, float] | None:
        """The smallest and the largest ratio of a round, where both sides were measured in every round."""
        if self.reference is None or not len(self.samples) == len(self.reference.samples) > 0:
            return None
        ratios = [value / other for value, other in zip(self.samples, self.reference.samples, strict=True)]
        return min(ratios), max(ratios)

    @property
    def met(self) -> bool:
        judged = self.value if self.ratio is None else self.ratio
        return self.goal is None or judged <= self.goal


Figures = Mapping[str, Sequence[Figure]]


def missed(figures: Figures) -> list[Figure]:
    """The binding goals that were not met."""
    return [figure for group in figures.values() for figure in group if figure.binding and not figure.met]


def table(title: str, group: Sequence[Figure]) -> str:
    """One group of figures as aligned lines."""
    lines = [_line(title, "measured", "reference", "ratio", "at most")]
    for figure in group:
        reference = figure.reference
        compared = f"{_number(reference.value)} {figure.unit} ({reference.name})" if reference else ""
        measured = f"{_number(figure.value)} {figure.unit}"
        line = _line(f"  {figure.name}", measured, compared, _ratio(figure), _goal(figure))
        lines.append(f"{line} {_verdict(figure)}".rstrip())
    return "\n".join(lines)


def save(figures: Figures) -> Path:
    """Write the figures, their samples and the circumstances."""
    now = datetime.now(UTC)
    groups = {
        name: [
            {**asdict(figure), "ratio": figure.ratio, "spread": figure.spread, "met": figure.met} for figure in group
        ]
        for name, group in figures.items()
    }
    circumstances = {
        "time": now.isoformat(timespec="seconds"),
        "python": platform.python_version(),
        "platform": platform.platform(),
        "processors": os.cpu_count(),
        "load": os.getloadavg(),
    }
    RESULTS.mkdir(exist_ok=True)
    path = RESULTS / f"{now:%Y%m%d-%H%M%S}.json"
    path.write_text(json.dumps({**circumstances, "figures": groups}, indent=1, ensure_ascii=False) + "\n")
    return path


def _line(*cells: str) -> str:
    return " ".join(cell.ljust(width) for cell, width in zip(cells, WIDTHS, strict=True))


def _ratio(figure: Figure) -> str:
    if figure.ratio is None:
        return ""
    spread = f" ({_number(figure.spread[0])} to {_number(figure.spread[1])})" if figure.spread else ""
    return f"{_number(figure.ratio)} x{spread}"


def _goal(figure: Figure) -> str:
    if figure.goal is None:
        return ""
    unit = "x" if figure.reference else figure.unit
    return f"{figure.goal:g} {unit}{'' if figure.binding else ' (target)'}"


def _verdict(figure: Figure) -> str:
    if figure.goal is None:
        return ""
    if figure.met:
        return "ok"
    return "MISSED" if figure.binding else "above"


def _number(value: float) -> str:
    """Three digits that count."""
    if abs(value) >= 100:
        return f"{value:,.0f}"
    return f"{value:.3g}"
