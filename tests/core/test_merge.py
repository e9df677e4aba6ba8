"""Three-way merge: both changes or none, and never a keystroke lost."""

from __future__ import annotations

from dataclasses import dataclass

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ollm_lsp.core.change import CreateFile, DeleteFile, EditText, RenameFile
from ollm_lsp.core.merge import merge
from ollm_lsp.core.rebase import rebased, renewed
from ollm_lsp.core.snapshot import Snapshot
from tests.core.values import patient

texts = st.lists(st.sampled_from(["a\n", "b\n", "c\r\n", "d", "\n", "\r"]), max_size=9).map("".join)


@dataclass(frozen=True)
class Editing:
    """For each line of a base: what it becomes and what is put before it. Every new line is there only once."""

    lines: tuple[str, ...]
    before: tuple[tuple[str, ...], ...]

    @property
    def touched(self) -> set[int]:
        """The lines and the gaps that were changed, as numbers: gap 0, line 0, gap 1, line 1, …"""
        lines = {2 * number + 1 for number, line in enumerate(self.lines) if line != f"base {number}\n"}
        return lines | {2 * number for number, fresh in enumerate(self.before) if fresh}

    @property
    def text(self) -> str:
        pieces = [piece for number, line in enumerate((*self.lines, "")) for piece in (*self.before[number], line)]
        return "".join(pieces)


@st.composite
def editings(draw: st.DrawFn, who: str, size: int) -> Editing:
    def line(number: int) -> str:
        return draw(
            st.sampled_from([f"base {number}\n"] * 4 + ["", f"{who} {number}\n", f"{who} {number}a\n{who} {number}b\n"])
        )

    def fresh(number: int) -> tuple[str, ...]:
        return tuple(f"{who} new {number}.{index}\n" for index in range(draw(st.sampled_from([0] * 8 + [1, 2]))))

    return Editing(tuple(map(line, range(size))), tuple(map(fresh, range(size + 1))))


pairs = st.integers(1, 12).flatmap(lambda size: st.tuples(editings("ours", size), editings("theirs", size)))


@patient
@given(texts, texts)
def test_merging_with_an_unchanged_side_is_the_other_side(base: str, changed: str) -> None:
    assert merge(base, base, changed) == changed
    assert merge(base, changed, base) == changed
    assert merge(base, changed, changed) == changed


@patient
@given(texts, texts, texts)
def test_it_does_not_matter_who_is_who(base: str, ours: str, theirs: str) -> None:
    assert merge(base, ours, theirs) == merge(base, theirs, ours)


@pytest.mark.threat("F20")
@settings(deadline=None, max_examples=200)
@given(pairs)
def test_what_is_merged_holds_both_changes_exactly_and_what_is_far_apart_is_merged(
    pair: tuple[Editing, Editing],
) -> None:
    ours, theirs = pair
    size = len(ours.lines)
    base = "".join(f"base {number}\n" for number in range(size))
    merged = merge(base, ours.text, theirs.text)
    together = Editing(
        tuple(
            our if their == f"base {number}\n" else their
            for number, (our, their) in enumerate(zip(ours.lines, theirs.lines, strict=True))
        ),
        tuple(our or their for our, their in zip(ours.before, theirs.before, strict=True)),
    )
    if merged is not None and ours.touched and theirs.touched and ours.text != theirs.text:
        assert merged == together.text
    apart = min((abs(one - other) for one in ours.touched for other in theirs.touched), default=99)
    if apart > 3:
        assert merged == together.text
    if apart == 0 and not any(
        ours.lines[number // 2] == theirs.lines[number // 2] == ""
        for number in ours.touched & theirs.touched
        if number % 2
    ):
        assert merged is None


@pytest.mark.threat("F20")
@settings(deadline=None, max_examples=200)
@given(texts, texts, texts)
def test_every_line_that_somebody_added_is_in_the_merged_text(base: str, ours: str, theirs: str) -> None:
    merged = merge(base, ours, theirs)
    if merged is not None:
        for side in (ours, theirs):
            for line in set(side.split("\n")) - set(base.split("\n")):
                assert line in merged


@pytest.mark.parametrize(
    ("base", "ours", "theirs"),
    [
        ("a\nb\nc\n", "a\nx\nc\n", "a\ny\nc\n"),
        ("a\nb\nc\n", "a\nx\nc\n", "a\nc\n"),
        ("a\nb\n", "x\nb\n", "a\ny\n"),
        ("a\n", "a\nx\n", "a\ny\n"),
        ("a\n", "a\nb\n", "a"),
        ("", "a\n", "b\n"),
    ],
)
def test_changes_that_meet_are_not_merged(base: str, ours: str, theirs: str) -> None:
    assert merge(base, ours, theirs) is None
    assert merge(base, theirs, ours) is None


def test_the_same_change_is_made_once() -> None:
    assert merge("a\nb\nc\nd\n", "a\nx\nc\nD\n", "a\nx\nc\nd\n") == "a\nx\nc\nD\n"


@pytest.mark.threat("F20")
def test_an_edit_is_brought_onto_the_present_text_or_not_at_all() -> None:
    base, now = Snapshot("f", "a\nb\nc\n", 1), Snapshot("f", "a\nb\nC\n", 2)
    edit = EditText("f", base, "A\nb\nc\n")
    assert rebased(edit, now) == EditText("f", now, "A\nb\nC\n")
    assert rebased(edit, Snapshot("f", base.text, 7)) == EditText("f", Snapshot("f", base.text, 7), edit.text)
    assert rebased(edit, Snapshot("f", "x\nb\nc\n", 3)) is None


def test_any_change_is_renewed_on_what_there_is_now_or_not_at_all() -> None:
    base, now, other = Snapshot("f", "a\n"), Snapshot("f", "a\n", 3), Snapshot("f", "b\n", 4)
    assert renewed(EditText("f", base, "c\n"), now) == EditText("f", now, "c\n")
    assert renewed(EditText("f", base, "c\n"), other) is None
    assert renewed(EditText("f", base, "c\n"), None) is None
    assert renewed(DeleteFile("f", base), now) == DeleteFile("f", now)
    assert renewed(DeleteFile("f", base), other) is None
    assert renewed(DeleteFile("f", base), None) is None
    assert renewed(CreateFile("f", "x"), None) == CreateFile("f", "x")
    assert renewed(CreateFile("f", "x"), now) is None
    assert renewed(RenameFile("f", "g"), now) == RenameFile("f", "g")
