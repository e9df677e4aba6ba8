"""The diff that people decide by: complete, exact, and nothing hides in it."""

from __future__ import annotations

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ollm_lsp.core.diff import CRLF, NO_NEWLINE, diff
from ollm_lsp.core.visible import unescape
from tests.core.values import patient

lines = st.sampled_from(
    ["a\n", "b\n", "c\n", "a\r\n", "b\r\n", "\n", "x", "\r", "\u202e\n", "-\n", "+b\n", "\\ No\n", "@@ -1 +1 @@\n"]
)
texts = st.lists(lines, max_size=20).map("".join)
crlf_texts = st.lists(st.sampled_from(["a\r\n", "b\r\n", "\u200b\r\n", "\r\n"]), max_size=12).map("".join)


def patched(old: str, shown: str) -> str:
    """What a program of few words makes of the old text by a diff. It checks every line on the way."""
    ending = "\r\n" if shown.startswith(CRLF) else "\n"
    rest = [line + ending for line in old.split(ending)]
    rest[-1:] = [rest[-1].removesuffix(ending)] if rest[-1] != ending else []
    rows = shown.split("\n")[:-1]
    made: list[str] = []
    here = 0
    for number, row in enumerate(rows):
        if head := re.fullmatch(r"@@ -(\d+)(?:,(\d+))? \+(\d+)(?:,(\d+))? @@", row):
            start = int(head[1]) - (head[2] != "0")
            made += rest[here:start]
            here = start
            assert len(made) == int(head[3]) - (head[4] != "0")
        elif not row.startswith("\\ "):
            is_cut = rows[number + 1 : number + 2] == [NO_NEWLINE]
            line = unescape(row[1:]) + ("" if is_cut else ending)
            if row[0] in " -":
                assert rest[here] == line
                here += 1
            if row[0] in " +":
                made.append(line)
    return "".join(made + rest[here:])


@pytest.mark.threat("T10")
@patient
@given(texts, texts)
def test_the_diff_holds_all_that_is_needed_to_make_the_new_text(old: str, new: str) -> None:
    shown = diff(old, new)
    assert bool(shown) == (old != new)
    assert "\r" not in shown
    assert patched(old, shown) == new


@patient
@given(crlf_texts, crlf_texts)
def test_so_it_does_when_all_lines_end_with_cr_lf(old: str, new: str) -> None:
    shown = diff(old, new)
    assert patched(old, shown) == new
    assert "U+000D" not in shown


def test_it_looks_as_people_know_it() -> None:
    old = "".join(f"{number}\n" for number in range(1, 21))
    new = old.replace("2\n", "two\n", 1).replace("\n20\n", "\n20")
    assert diff(old, new) == (
        "@@ -1,5 +1,5 @@\n 1\n-2\n+two\n 3\n 4\n 5\n"
        "@@ -17,4 +17,4 @@\n 17\n 18\n 19\n-20\n+20\n\\ No newline at end of file\n"
    )


@pytest.mark.threat("T10")
@pytest.mark.parametrize(
    ("old", "new", "holds"),
    [
        ("a\r\nb\r\n", "a\nb\n", "-a⟨U+000D⟩\n"),
        ("a\r\n", "b\r\n", CRLF),
        ("x\n", "x\u202ey\n", "+x⟨U+202E⟩y\n"),
        ("", "\x1b[0m\n", "+⟨U+001B⟩[0m\n"),
    ],
)
def test_what_cannot_be_seen_is_spelt_out(old: str, new: str, holds: str) -> None:
    assert holds in diff(old, new)
