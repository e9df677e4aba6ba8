"""Text of others carries no control characters or sequences to the terminal."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ollm_lsp.terminal.clean import Cleaner, clean, clean_line

SEQUENCES = ("\x1b", "\x1b[", "\x1b]0;", "\x1bP", "\x1b\\", "\x1b(B", "\x9b31m", "\x9d", "\x9c", "\x07")
CHARACTERS = tuple("\\[]Pm0; a\n\t\r\x00\x7f\x85é漢\ud800(B~@")
PIECES = st.sampled_from(SEQUENCES + CHARACTERS)
TEXTS = st.lists(PIECES | st.text(max_size=3), max_size=20).map("".join)


@pytest.mark.threat("T25")
@pytest.mark.parametrize(
    ("dirty", "shown"),
    [
        ("plain\ttext\n", "plain\ttext\n"),
        ("\x1b[31mred\x1b[0m", "red"),
        ("\x1b[2J\x1b[1;1Hgone", "gone"),
        ("\x1b]0;title\x07after", "after"),
        ("\x1b]8;;http://x\x1b\\link\x1b]8;;\x1b\\", "link"),
        ("\x1bP1$r0m\x1b\\after", "after"),
        ("\x9b31mred\x9d0;title\x9cafter", "redafter"),
        ("\x1b(Bafter\x1bcreset\x1b7", "afterreset"),
        ("\x1b]52;c;unfinished\nnext line", "\nnext line"),
        ("\x1b[12é", "é"),
        ("a\rb\x08c\x00d\x7fe\x85f", "abcdef"),
        ("lone \ud83d surrogate", "lone � surrogate"),
        ("\x1b", ""),
    ],
)
def test_sequences_are_removed_whole(dirty: str, shown: str) -> None:
    assert clean(dirty) == shown


@pytest.mark.threat("T25")
@settings(deadline=None)
@given(TEXTS, st.data())
def test_every_cut_gives_the_same_text(text: str, data: st.DataObject) -> None:
    cuts = sorted(data.draw(st.lists(st.integers(0, len(text)), max_size=6)))
    cleaner = Cleaner()
    pieces = [text[start:end] for start, end in zip([0, *cuts], [*cuts, len(text)], strict=True)]
    assert "".join(map(cleaner.feed, pieces)) == clean(text)


@settings(deadline=None)
@given(TEXTS)
def test_single_characters_give_the_same_text(text: str) -> None:
    assert "".join(map(Cleaner().feed, text)) == clean(text)


@pytest.mark.threat("T25")
@settings(deadline=None)
@given(TEXTS)
def test_no_control_character_is_left(text: str) -> None:
    shown = clean(text)
    assert all(c in "\n\t" or not (c < " " or "\x7f" <= c <= "\x9f") for c in shown)
    shown.encode()
    assert clean(shown) == shown


@settings(deadline=None)
@given(st.text(st.characters(exclude_categories=["Cc", "Cs"])))
def test_harmless_text_stays_as_it_is(text: str) -> None:
    assert clean(text) == text


def test_a_line_has_no_line_breaks() -> None:
    assert clean_line(" two\n\x1b[1mlines\x1b[0m\there ") == "two lines here"
