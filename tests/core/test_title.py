"""Titles: the first words of the user, in one short line."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ollm_lsp.core.messages import Image, Message
from ollm_lsp.core.title import LENGTH, one_line, title_of
from tests.core.values import patient


@patient
@given(st.text(st.characters(codec=None)))
def test_any_text_is_one_short_line_that_utf_8_can_hold(text: str) -> None:
    title = one_line(text)
    assert 0 < len(title) <= LENGTH
    assert len(title.splitlines()) == 1
    assert "\0" not in title
    assert title.encode().decode() == title
    assert one_line(title) == title


@pytest.mark.parametrize(
    ("text", "title"),
    [
        ("What does this do?", "What does this do?"),
        ("  What\n\tdoes\r\nthis  do? ", "What does this do?"),
        ("a" * 60, "a" * 60),
        ("a" * 61, "a" * 59 + "…"),
        ("word " * 20, ("word " * 20)[:54] + "…"),
        (" \n ", "Untitled"),
    ],
)
def test_long_texts_are_cut_after_a_word(text: str, title: str) -> None:
    assert one_line(text) == title


def test_the_title_is_what_the_user_said_first() -> None:
    picture = Image("image/png", b"x")
    assert title_of([Message.system("be brief"), Message.user("one", picture), Message.user("two")]) == "one"
    assert title_of([Message.user(picture)]) == title_of([]) == "Untitled"
