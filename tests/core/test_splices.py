"""Splices and the comparison of lines under them: exact for all texts, small for small edits, bounded in time."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ollm_lsp.core.line_diff import hunks
from ollm_lsp.core.lines import adopted, body, ending, split, usual_ending
from ollm_lsp.core.splices import Splice, apply, splices, spots
from ollm_lsp.lsp.buffer import Position, PositionEncoding, Range, TextBuffer
from tests.core.values import patient

PIECES = ["a", "b", "é", "\N{PILE OF POO}", "\n", "\r", "\r\n", "a\n", "\u2028", "\ufeff", "  "]
texts = st.lists(st.sampled_from(PIECES), max_size=14).map("".join)
line_lists = st.lists(st.sampled_from("abc"), max_size=12)


@patient
@given(texts | st.text(max_size=20))
def test_lines_joined_are_the_text_and_each_but_the_last_has_an_ending(text: str) -> None:
    lines = split(text)
    assert "".join(lines) == text
    assert all(ending(line) for line in lines[:-1])
    assert all(lines)
    assert [body(line) + ending(line) for line in lines] == lines
    assert len(lines) == TextBuffer(text, PositionEncoding.UTF32).line_count - (not text or bool(ending(text)))


@patient
@given(line_lists, line_lists, st.integers(0, 30) | st.just(10_000))
def test_hunks_make_the_new_lines_of_the_old_ones_whatever_time_there_is(
    old: list[str], new: list[str], steps: int
) -> None:
    made: list[str] = []
    here = there = 0
    for hunk in hunks(old, new, steps):
        assert old[here : hunk.start] == new[there : hunk.new_start]
        assert here == there == 0 or hunk.start > here
        made += old[here : hunk.start] + new[hunk.new_start : hunk.new_end]
        here, there = hunk.end, hunk.new_end
    assert made + old[here:] == new


@patient
@given(line_lists, line_lists)
def test_with_enough_time_as_few_lines_change_as_can_be(old: list[str], new: list[str]) -> None:
    if set(old) & set(new) - {line for line in old + new if old.count(line) == new.count(line) == 1} != set(old) & set(
        new
    ):
        return  # anchors at unique lines are taken even where a shorter way exists
    changed = sum(hunk.end - hunk.start + hunk.new_end - hunk.new_start for hunk in hunks(old, new))
    common = [[0] * (len(new) + 1) for _ in range(len(old) + 1)]
    for x, line in enumerate(old):
        for y, other in enumerate(new):
            common[x + 1][y + 1] = common[x][y] + 1 if line == other else max(common[x][y + 1], common[x + 1][y])
    assert changed == len(old) + len(new) - 2 * common[-1][-1]


@pytest.mark.threat("F20")
@patient
@given(texts, texts)
def test_the_splices_of_any_two_texts_make_the_one_of_the_other(base: str, new: str) -> None:
    found = splices(base, new)
    assert apply(base, found) == new
    borders = [border for splice in found for border in (splice.start, splice.end)]
    assert borders == sorted(borders)
    assert not any(base[max(0, border - 1) : border + 1] == "\r\n" for border in borders if border)
    assert (found == ()) == (base == new)


def units(text: str, encoding: PositionEncoding) -> int:
    """How many code units a text has."""
    width = {PositionEncoding.UTF8: ("utf-8", 1), PositionEncoding.UTF16: ("utf-16-le", 2)}
    name, size = width.get(encoding, ("utf-32-le", 4))
    return len(text.encode(name)) // size


@patient
@given(texts, texts, st.sampled_from(PositionEncoding))
def test_an_editor_that_makes_the_splices_from_the_last_to_the_first_gets_the_new_text(
    base: str, new: str, encoding: PositionEncoding
) -> None:
    buffer = TextBuffer(base, encoding)
    for start, end, text in reversed(spots(base, splices(base, new))):
        place = Range(*(Position(spot.line, units(spot.before, encoding)) for spot in (start, end)))
        buffer.edit(place, text)
    assert buffer.text == new


@pytest.mark.threat("F24")
@pytest.mark.parametrize(
    ("base", "new", "expected"),
    [
        ("a\nb\nc\n", "a\nx\nc\n", [Splice(2, 3, "x")]),
        ("a\r\nb\r\nc", "a\r\nbb\r\nc", [Splice(4, 4, "b")]),
        ("\ufeffa\n", "\ufeffb\n", [Splice(1, 2, "b")]),
        ("a\nb", "a\nb\n", [Splice(3, 3, "\n")]),
        ("a\r\n", "a\n", [Splice(1, 3, "\n")]),
        ("a\r\n", "a\rb", [Splice(1, 3, "\rb")]),
        ("a\r", "a\r\n", [Splice(1, 2, "\r\n")]),
        ("a\nb", "a\r\nb", [Splice(1, 2, "\r\n")]),
        ("one\ntwo\nthree\nfour\n", "ONE\ntwo\nthree\nFOUR\n", [Splice(0, 3, "ONE"), Splice(14, 18, "FOUR")]),
    ],
)
def test_only_what_differs_is_touched(base: str, new: str, expected: list[Splice]) -> None:
    assert list(splices(base, new)) == expected


@pytest.mark.threat("T30")
@pytest.mark.parametrize(
    ("old", "new"),
    [
        (["a", "b"] * 20_000, ["b", "a", "a"] * 15_000),
        ([""] * 50_000, ["", "x"] * 30_000),
        ([f"{line}" for line in range(50_000)], [f"{line}" for line in reversed(range(50_000))]),
    ],
)
def test_hostile_texts_cost_no_more_steps_than_there_are(old: list[str], new: list[str]) -> None:
    compared = 0

    class Line(str):
        __slots__ = ()
        __hash__ = str.__hash__

        def __eq__(self, other: object) -> bool:
            nonlocal compared
            compared += 1
            return str.__eq__(self, other)

    hunks([Line(line) for line in old], [Line(line) for line in new], 10_000)
    assert compared <= 20 * (len(old) + len(new) + 10_000)


@pytest.mark.parametrize(
    ("text", "usual"), [("", "\n"), ("a\r\nb\r\nc\n", "\r\n"), ("a\rb\r", "\r"), ("a\nb\r\n", "\n"), ("a\r\nb", "\r\n")]
)
def test_new_lines_end_as_most_lines_do(text: str, usual: str) -> None:
    assert usual_ending(text) == usual
    assert adopted("x\ny\n", text) == f"x{usual}y{usual}"
