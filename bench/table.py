"""Findings as aligned lines for people at a terminal, and numbers as people read them."""

from bench.figure import Figure, Findings, Growth

WIDTHS = (50, 12, 42, 26, 16)


def table(title: str, findings: Findings) -> str:
    lines = [_line(title, "measured", "reference", "ratio (middle half)", "at most")]
    lines += [_figure(figure) for figure in findings.figures]
    lines += [_growth(growth) for growth in findings.growths]
    lines += [f"  {share.share:6.1%}  {share.name}" for share in findings.shares]
    lines += [f"  Note: {note}" for note in findings.notes]
    return "\n".join(lines)


def number(value: float) -> str:
    """Three digits that count."""
    return f"{value:,.0f}" if abs(value) >= 100 else f"{value:.3g}"


def measured(figure: Figure) -> str:
    return f"{number(figure.value)} {figure.unit}".rstrip()


def compared(figure: Figure) -> str:
    reference = figure.reference
    return f"{number(reference.value)} {figure.unit} ({reference.name})" if reference else ""


def ratio(figure: Figure) -> str:
    if figure.ratio is None:
        return f"({_range(figure)})" if figure.spread else ""
    return f"{number(figure.ratio)} x" + (f" ({_range(figure)})" if figure.spread else "")


def goal(figure: Figure) -> str:
    if figure.goal is None:
        return ""
    unit = "x" if figure.reference else figure.unit
    return f"{figure.goal:g} {unit}{'' if figure.binding else ' (target)'}"


def verdict(figure: Figure) -> str:
    if figure.goal is None:
        return ""
    if figure.met:
        return "ok"
    return "MISSED" if figure.binding else "above"


def steps(growth: Growth) -> str:
    """The cost of each size."""
    return ", ".join(f"{point.size:,.0f}: {number(point.value)}" for point in growth.points)


def _figure(figure: Figure) -> str:
    line = _line(f"  {figure.name}", measured(figure), compared(figure), ratio(figure), goal(figure))
    return f"{line} {verdict(figure)}".rstrip()


def _growth(growth: Growth) -> str:
    verdict = "ok" if growth.met else "MISSED"
    return f"  {growth.name} in {growth.unit} by {growth.of}: {steps(growth)}; exponent {growth.exponent:.2f} {verdict}"


def _range(figure: Figure) -> str:
    lower, upper = figure.spread or (figure.judged, figure.judged)
    return f"{number(lower)} to {number(upper)}"


def _line(*cells: str) -> str:
    return " ".join(cell.ljust(width) for cell, width in zip(cells, WIDTHS, strict=True))
