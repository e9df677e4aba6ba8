"""Cutting texts by structure: what is left fits, is whole lines of the text in their order, and every gap is marked."""

from __future__ import annotations

import re

from hypothesis import given
from hypothesis import strategies as st

from ollm_lsp.core.cutting import MOST_LINES, cut, mark
from ollm_lsp.core.nesting import depths, enclosing

MARK = re.compile(r"… ([\d,]+) lines? left out …\n")
LINE = st.sampled_from(["a\n", "    bb\n", "        ccc\n", "\n", "\tdddd\n", "x" * 80 + "\n", "}\n", "    ee\r\n"])


def function(number: int, body: int = 5) -> list[str]:
    return [f"def function_{number}():\n", *(f"    line_{line}\n" for line in range(body)), "\n"]


def module(functions: int) -> list[str]:
    return [line for number in range(functions) for line in function(number)]


@given(
    st.lists(LINE, max_size=60),
    st.sampled_from(["", "no ending"]),
    st.integers(0, 900),
    st.none() | st.tuples(st.integers(0, 70), st.integers(0, 5)),
)
def test_what_is_left_after_cutting_fits_and_is_marked(
    lines: list[str], last: str, room: int, focus: tuple[int, int] | None
) -> None:
    lines = [*lines, last]
    left = cut(lines, room, (focus[0], sum(focus)) if focus else None)
    if left is None:
        return
    assert len(left.text) <= room
    rebuilt, number, kept = "", 0, 0
    for shown in re.findall(r"[^\n]*\n|[^\n]+$", left.text):
        if found := MARK.fullmatch(shown):
            number += int(found[1].replace(",", ""))
            continue
        assert shown.rstrip("\r\n") == lines[number].rstrip("\r\n")
        rebuilt += shown
        number, kept = number + 1, kept + 1
    assert number == len([line for line in lines if line])
    assert (kept, left.total) == (left.lines, number)


def test_what_fits_is_left_whole() -> None:
    lines = module(3)
    left = cut(lines, len("".join(lines)) + 100, (2, 2))
    assert left is not None
    assert left.text == "".join(lines)


def test_the_block_around_the_focus_comes_before_everything_else() -> None:
    lines = module(50)
    left = cut(lines, 200, (7 * 30 + 3, 7 * 30 + 3))
    assert left is not None
    assert "".join(function(30)[:-1]) in left.text
    assert left.text.startswith("… ")


def test_of_a_block_that_is_too_long_what_is_near_the_focus_is_left_and_its_head() -> None:
    lines = ["class Long:\n", *(f"    line_{number}\n" for number in range(500))]
    left = cut(lines, 600, (250, 250))
    assert left is not None
    assert left.text.startswith("class Long:\n… ")
    assert "    line_249\n    line_250\n" in left.text
    assert "line_0\n" not in left.text


def test_without_a_focus_the_lines_that_open_blocks_are_left() -> None:
    lines = module(10)
    left = cut(lines, 600)
    assert left is not None
    assert [f"def function_{number}():\n" in left.text for number in range(10)] == [True] * 10
    assert "".join(function(0)) in left.text
    assert "def function_9():\n… 6 lines left out …\n" in left.text


def test_nothing_is_left_where_no_line_fits() -> None:
    assert cut(["x" * 100], 50) is None
    assert cut([], 50) is None
    assert cut([""], 50) is None


def test_of_a_very_long_text_only_a_part_is_looked_at() -> None:
    lines = [f"line {number}\n" for number in range(10 * MOST_LINES)]
    left = cut(lines, 100_000_000, (5 * MOST_LINES, 5 * MOST_LINES))
    assert left is not None
    assert left.lines == MOST_LINES
    assert left.first < 5 * MOST_LINES < left.last
    assert left.text.startswith(mark(left.first))


def test_depth_is_told_by_indentation() -> None:
    text = ["a:\n", "  b:\n", "      c\n", "\n", "  d\n", "\te\n", "f\n"]
    assert depths(text) == [0, 1, 2, 2, 1, 2, 0]


def test_the_blocks_around_a_line_are_found_from_inside_out() -> None:
    nesting = [0, 1, 2, 2, 1, 0, 1]
    assert enclosing(nesting, 3, 3) == [(1, 3), (0, 4)]
    assert enclosing(nesting, 1, 1) == [(1, 3), (0, 4)]
    assert enclosing(nesting, 5, 5) == [(5, 6)]
    assert enclosing([0, 0], 1, 1) == []
