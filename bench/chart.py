"""Charts as SVG, readable on light and on dark pages."""

from collections.abc import Sequence
from dataclasses import dataclass
from html import escape
from math import ceil, floor, log10

from bench.figure import Growth
from bench.table import number

WIDTH = 860
GAP = 24
STYLE = """<style>
text { font: 12px system-ui, -apple-system, "Segoe UI", "DejaVu Sans", sans-serif; fill: #1f2328 }
.title { font-size: 13px; font-weight: 600 }
.soft { fill: #59636e; font-size: 11px }
.end { text-anchor: end }
.ours { fill: #0969da }
.other { fill: #afb8c1 }
.axis { stroke: #d1d9e0; fill: none }
.linear { stroke: #818b98; stroke-dasharray: 4 4; fill: none }
.cost { stroke: #0969da; stroke-width: 2; fill: none }
@media (prefers-color-scheme: dark) {
text { fill: #f0f6fc }
.soft { fill: #9198a1 }
.ours { fill: #4493f8 }
.other { fill: #656c76 }
.axis { stroke: #3d444d }
.linear { stroke: #9198a1 }
.cost { stroke: #4493f8 }
}
</style>"""


@dataclass(frozen=True)
class Bars:
    """One measure of several programs; less is better."""

    title: str
    unit: str
    ours: str
    values: Sequence[tuple[str, float]]


def bars(charts: Sequence[Bars]) -> str:
    """Charts of bars below each other, each with its own scale from zero."""
    label, row, room = 230, 20, 70
    shapes: list[str] = []
    top = 0
    for chart in charts:
        top += 20
        shapes.append(_text(0, top, f"{chart.title}, {chart.unit}", "title"))
        largest = max(value for _, value in chart.values)
        for name, value in sorted(chart.values, key=lambda one: one[1]):
            top += row
            length = max(1.0, value / largest * (WIDTH - label - room))
            kind = "ours" if name == chart.ours else "other"
            shapes.append(_text(label - 8, top, name, "end"))
            shapes.append(f'<rect class="{kind}" x="{label}" y="{top - 11}" width="{length:.1f}" height="14" rx="2"/>')
            shapes.append(_text(label + length + 6, top, number(value)))
        top += GAP
    return _picture(top, shapes, "Bars of the measured programs; less is better.")


def panels(growths: Sequence[Growth], columns: int = 3) -> str:
    """How costs grow, each in a panel with logarithmic scales; dashed is linear growth from the first point."""
    width, height = (WIDTH - GAP * (columns - 1)) / columns, 190
    shapes: list[str] = []
    for number_, growth in enumerate(growths):
        left, top = number_ % columns * (width + GAP), number_ // columns * (height + GAP)
        shapes += [f'<g transform="translate({left:.1f} {top})">', *_panel(growth, width, height), "</g>"]
    rows = ceil(len(growths) / columns)
    return _picture(rows * (height + GAP), shapes, "How costs grow with size; dashed is linear growth.")


def _panel(growth: Growth, width: float, height: float) -> list[str]:
    left, top, right, bottom = 44.0, 30.0, width - 8, height - 34
    sizes = [point.size for point in growth.points]
    values = [point.value for point in growth.points]
    ideal = [values[0] * size / sizes[0] for size in sizes]
    lowest, highest = floor(log10(min(values)) + 1e-9), ceil(log10(max(*values, *ideal)) - 1e-9)
    highest = max(highest, lowest + 1)

    def at(size: float, value: float) -> tuple[float, float]:
        across = (log10(size) - log10(sizes[0])) / (log10(sizes[-1]) - log10(sizes[0]))
        up = (log10(value) - lowest) / (highest - lowest)
        return left + across * (right - left), bottom - up * (bottom - top)

    shapes = [_text(0, 14, f"{growth.name}, {growth.unit}", "title")]
    for power in range(lowest, highest + 1):
        _, y = at(sizes[0], 10.0**power)
        shapes.append(f'<path class="axis" d="M{left:.1f} {y:.1f}H{right:.1f}"/>')
        shapes.append(_text(left - 6, y + 4, f"{10.0**power:,g}", "soft end"))
    shapes.append(_line("linear", [at(size, value) for size, value in zip(sizes, ideal, strict=True)]))
    shapes.append(_line("cost", [at(size, value) for size, value in zip(sizes, values, strict=True)]))
    for point in growth.points:
        x, y = at(point.size, point.value)
        shapes.append(f'<circle class="ours" cx="{x:.1f}" cy="{y:.1f}" r="3"/>')
    shapes.append(_text(left, bottom + 16, _short(sizes[0]), "soft"))
    shapes.append(_text(right, bottom + 16, f"{_short(sizes[-1])} {growth.of}", "soft end"))
    return shapes


def _short(size: float) -> str:
    return f"{size:,.0f}"


def _line(kind: str, places: Sequence[tuple[float, float]]) -> str:
    return f'<path class="{kind}" d="M{"L".join(f"{x:.1f} {y:.1f}" for x, y in places)}"/>'


def _text(x: float, y: float, text: str, kind: str = "") -> str:
    attribute = f' class="{kind}"' if kind else ""
    return f'<text{attribute} x="{x:.1f}" y="{y:.1f}">{escape(text)}</text>'


def _picture(height: float, shapes: Sequence[str], label: str) -> str:
    head = f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {height:.0f}" width="{WIDTH}" role="img"'
    return "\n".join([f'{head} aria-label="{escape(label)}">', STYLE, *shapes, "</svg>", ""])
