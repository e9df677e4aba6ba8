"""Spellings: what hides is shown, what is honest stays, and names that some file system takes for one are one."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ollm_lsp.tools.spelling import folded, visible


@pytest.mark.parametrize(
    "text",
    ["main.py", "naïve.txt", "日本語.md", "Ελληνικά", "نمی‌خواهم", "हिन्दी", "👩‍💻.txt", "a b", "e\u0301", "☂\ufe0f"],
)
def test_honest_names_in_many_scripts_stay_as_they_are(text: str) -> None:
    assert visible(text) == text


@pytest.mark.parametrize(
    "hidden",
    [
        *("\x00", "\n", "\r", "\t", "\x1b", "\x7f", "\x85", "\x9b", "\xad", "\u061c", "\u200b", "\u200e", "\u202e"),
        *("\u2028", "\u2066", "\u2060", "\ufeff", "\u3164", "\u115f", "\u034f", "\ue000", "\ud800", "\udcff"),
        *("\U000e0041", "\U000e0101", "\U0001d173"),
    ],
)
def test_what_hides_or_moves_text_is_escaped(hidden: str) -> None:
    shown = visible(f"a{hidden}b")
    assert hidden not in shown
    assert shown.startswith("a\\")
    assert shown.endswith("b")


def test_joiners_between_plain_letters_hide_something() -> None:
    assert visible("pass\u200dword") == "pass\\u200dword"


@given(st.text())
def test_what_is_shown_never_acts_on_a_display(text: str) -> None:
    assert not any(character < " " or "\x7f" <= character <= "\x9f" for character in visible(text))


@pytest.mark.parametrize(
    ("one", "other"),
    [
        *((".ENV", ".env"), (".e\u200cnv", ".env"), (".env.", ".env"), (".env ", ".env"), ("\uff0eenv", ".env")),
        *(("é", "e\u0301"), ("ﬁle", "file"), (".gi\u2060t", ".GIT"), ("STRASSE", "straße"), (".git . ", ".git")),
    ],
)
def test_spellings_of_one_name_fold_to_the_same(one: str, other: str) -> None:
    assert folded(one) == folded(other)


def test_other_names_stay_different() -> None:
    assert len({folded(name) for name in (".env", "env", "_env", ".envy", ".en")}) == 5
