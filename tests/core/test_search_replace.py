"""Search and replace: tolerant in finding, exact in what it changes, helpful when it fails."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ollm_lsp.core import nearest as nearest_module
from ollm_lsp.core.lines import split
from ollm_lsp.core.nearest import nearest
from ollm_lsp.core.search_replace import Block, NoMatch, replaced
from tests.core.values import patient

PYTHON = """\
class A:
    def f(self):
        if x:
            return 1
        return 2

    def g(self):
        return 3
"""

words = st.sampled_from(["x", "y", "return", "    ", "\t", "(", "\n", "\r\n", "\N{PILE OF POO}", " "])
texts = st.lists(words, max_size=25).map("".join)


@patient
@given(texts, texts, texts, texts)
def test_a_block_that_is_there_once_is_replaced_and_nothing_else(before: str, old: str, after: str, new: str) -> None:
    before, old, after, new = (text.replace("\r", "") for text in (before, f"<{old}>", after, new))
    assert replaced(before + old + after, [Block(old, new)]) == before + new + after


@pytest.mark.threat("F24")
@patient
@given(texts, st.lists(st.tuples(texts, texts, st.booleans()), min_size=1, max_size=3))
def test_whatever_is_replaced_the_text_around_it_stays_byte_for_byte(
    text: str, blocks: list[tuple[str, str, bool]]
) -> None:
    try:
        made = replaced(text, [Block(*block) for block in blocks])
    except NoMatch:
        return
    # Each block without its new text: what is left of the text was there before, in that order.
    emptied = replaced(text, [Block(old, "", is_for_all) for old, _, is_for_all in blocks])
    for shorter, longer in ((emptied, text), (emptied, made)):
        letters = iter(longer)
        assert all(letter in letters for letter in shorter)


@pytest.mark.threat("F24")
@patient
@given(st.lists(st.sampled_from(["a", "b", "c = 1", "", "  d"]), min_size=1, max_size=8), st.data())
def test_line_endings_of_the_file_are_kept_whatever_the_model_writes(lines: list[str], data: st.DataObject) -> None:
    unique = [f"{line}{number}" for number, line in enumerate(lines)]
    text = "".join(f"{line}\r\n" for line in unique)
    place = data.draw(st.integers(0, len(unique) - 1))
    made = replaced(text, [Block(f"{unique[place]}\n", "one\ntwo\n")])
    assert made.split("\r\n") == [*unique[:place], "one", "two", *unique[place + 1 :], ""]
    assert made.count("\n") == made.count("\r\n")


def test_a_quote_from_the_middle_of_a_line_over_a_line_ending_is_found_too() -> None:
    assert replaced("f(a,\r\n  b)\r\n", [Block("(a,\n  b", "(b,\n  a")]) == "f(b,\r\n  a)\r\n"


@pytest.mark.parametrize("old", ["x = 1\ny = 2\n", "x = 1  \ny = 2\n", "x = 1\n\ty = 2"])
def test_space_at_the_ends_of_lines_does_not_matter(old: str) -> None:
    text = "a\nx = 1 \ny = 2\t\nb\n"
    if old.startswith("x = 1\n\t"):
        with pytest.raises(NoMatch):
            replaced(text, [Block(old, "z\n")])
    else:
        assert replaced(text, [Block(old, "z\n")]) == "a\nz\nb\n"


@pytest.mark.parametrize(
    ("old", "new", "made"),
    [
        ("if x:\n    return 1\n", "if y:\n    return 7\n", "        if y:\n            return 7\n"),
        ("  if x:\n      return 1", "  if y:\n\n      pass", "        if y:\n\n            pass\n"),
        ("            if x:\n                return 1\n", "            pass\n", "        pass\n"),
    ],
)
def test_another_indentation_is_found_and_the_new_lines_are_moved_along(old: str, new: str, made: str) -> None:
    changed = replaced(PYTHON, [Block(old, new)])
    assert changed == PYTHON.replace("        if x:\n            return 1\n", made)


def test_lines_that_are_indented_unevenly_are_not_taken_for_the_same() -> None:
    with pytest.raises(NoMatch):
        replaced(PYTHON, [Block("if x:\nreturn 1\n", "pass\n")])
    with pytest.raises(NoMatch):
        replaced("\tif x:\n\t\ty\n", [Block("      if x:\n        y\n", "  pass\n")])


@pytest.mark.threat("F24")
def test_a_file_without_a_final_newline_stays_so() -> None:
    assert replaced("a\n  b", [Block("b\n", "c\n")]) == "a\n  c"
    assert replaced("a \nb", [Block("a\nb\n", "x\ny\n")]) == "x\ny"


def test_several_matches_are_refused_unless_all_are_meant() -> None:
    with pytest.raises(NoMatch, match=r"is there 2 times, in lines 1, 3\. .*set `all`"):
        replaced("a\nb\na\n", [Block("a", "c")])
    assert replaced("a\nb\na\n", [Block("a", "c", is_for_all=True)]) == "c\nb\nc\n"
    with pytest.raises(NoMatch, match=r"30 times, in lines .* and 20 more"):
        replaced("a\n" * 30, [Block("a", "c")])


def test_all_blocks_are_replaced_or_none_and_each_is_looked_for_in_the_text_as_it_was() -> None:
    assert replaced("a\nb\n", [Block("a", "b2"), Block("b\n", "a\n")]) == "b2\na\n"
    with pytest.raises(NoMatch, match="in edit 2 is not in the file"):
        replaced("a\nb\n", [Block("a", "c"), Block("zzz", "y")])
    with pytest.raises(NoMatch, match="Edits 1 and 2 change the same text"):
        replaced("abc\n", [Block("ab", "x"), Block("bc", "y")])
    with pytest.raises(NoMatch, match="Edits 1 and 2 change the same text"):
        replaced("abc\n", [Block("ab", "x"), Block("ab", "y")])


@pytest.mark.parametrize("old", ["", " \n", "\t"])
def test_nothing_is_never_found(old: str) -> None:
    with pytest.raises(NoMatch):
        replaced("a\n\n\nb\n", [Block(old, "x")])


def test_a_failure_quotes_the_nearest_text_with_its_lines() -> None:
    with pytest.raises(NoMatch) as failure:
        replaced(PYTHON, [Block("    def f(this):\n        if x is not None:\n            return 1\n", "")])
    assert (
        "The nearest text there is:\n     2\t    def f(self):\n     3\t        if x:\n     4\t            return 1\n"
        in str(failure.value)
    )
    with pytest.raises(NoMatch, match="nor anything like it"):
        replaced(PYTHON, [Block("SELECT * FROM table WHERE id = 5", "")])
    with pytest.raises(NoMatch, match=r"⟨U\+202E⟩"):
        replaced("some name\u202e here\n", [Block("some name here too\n", "")])


@patient
@given(texts, texts)
def test_the_nearest_lines_are_lines_of_the_text(text: str, wanted: str) -> None:
    near = nearest(text, wanted)
    if near is not None:
        lines = split(text)
        assert [lines[number - 1] for number, _ in near] == [line for _, line in near]
        numbers = [number for number, _ in near]
        assert numbers == list(range(numbers[0], numbers[0] + len(numbers)))


def test_looking_for_the_nearest_text_compares_only_a_few_candidates(monkeypatch: pytest.MonkeyPatch) -> None:
    compared: list[int] = []
    likeness = nearest_module.likeness_of

    def counted(one: str, other: str) -> float:
        compared.append(len(one) + len(other))
        return likeness(one, other)

    monkeypatch.setattr(nearest_module, "likeness_of", counted)
    nearest("spam eggs ham\n" * 50_000, "spam eggs spam\n" * 5_000)
    assert len(compared) <= 20
    assert max(compared) <= 8_000


def test_looking_for_lines_that_nearly_repeat_is_linear() -> None:
    text, old = "a \n" * 20_000, "a\n" * 5_000 + "b\n"
    with pytest.raises(NoMatch):
        replaced(text, [Block(old, "")])
