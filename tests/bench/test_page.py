"""The page about performance: what it holds, and that it is the one that the committed figures give."""

from __future__ import annotations

from xml.etree import ElementTree as ET

from bench.__main__ import BASELINE, PARTS, TITLES
from bench.chart import Bars, bars, panels
from bench.figure import growth
from bench.page import GROWTH, PAGE, PEERS, pages
from bench.result import load

SVG = "{http://www.w3.org/2000/svg}"


def drawn(text: str) -> ET.Element:
    return ET.fromstring(text)  # noqa: S314 (our own text)


def test_the_page_is_what_the_committed_figures_give() -> None:
    for path, text in pages(load(BASELINE), TITLES).items():
        assert path.read_text() == text, f"{path.name} is not fresh: make performance-docs"


def test_the_page_names_every_figure() -> None:
    result = load(BASELINE)
    assert result.parts.keys() <= PARTS.keys()
    text = PAGE.read_text()
    for findings in result.parts.values():
        assert all(figure.name in text for figure in findings.figures)
        assert all(growth.name in text for growth in findings.growths)


def test_charts_are_svg_for_light_and_dark_pages() -> None:
    for path in (PEERS, GROWTH):
        assert drawn(path.read_text()).tag == f"{SVG}svg"
        assert "prefers-color-scheme: dark" in path.read_text()


def test_bars_are_as_long_as_their_values_and_escape_names() -> None:
    picture = drawn(bars([Bars("CPU", "ms", "ours", [("<peer>", 100.0), ("ours", 25.0)])]))
    ours, peer = (shape for shape in picture.iter(f"{SVG}rect"))
    assert ours.get("class") == "ours"
    assert float(peer.get("width", 0)) == 4 * float(ours.get("width", 0))
    assert "<peer>" in [text.text for text in picture.iter(f"{SVG}text")]


def test_a_linear_cost_lies_on_the_dashed_line() -> None:
    linear = growth("edits", "lines", "ms", {10: [1.0], 100: [10.0], 1_000: [100.0]})
    picture = drawn(panels([linear]))
    lines = {shape.get("class"): shape.get("d") for shape in picture.iter(f"{SVG}path")}
    assert lines["cost"] == lines["linear"]
