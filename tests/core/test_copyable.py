"""Names for a model: what is honest stays so that it can be written again, and what hides is spelt out."""

from __future__ import annotations

import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ollm_lsp.core.copyable import copyable
from ollm_lsp.core.visible import unescape
from tests.core.values import patient


@pytest.mark.parametrize(
    "text",
    ["main.py", "naïve.txt", "日本語.md", "Ελληνικά", "نمی‌خواهم", "हिन्दी", "👩‍💻.txt", "a b", "e\u0301", "☂\ufe0f"],
)
def test_honest_names_in_many_scripts_stay_as_they_are(text: str) -> None:
    assert copyable(text) == text


@pytest.mark.parametrize(
    "hidden",
    [
        *("\x00", "\n", "\r", "\t", "\x1b", "\x7f", "\x85", "\x9b", "\xad", "\u061c", "\u200b", "\u200e", "\u202e"),
        *("\u2028", "\u2066", "\u2060", "\ufeff", "\u3164", "\u115f", "\u034f", "\ue000", "\ud800", "\udcff"),
        *("\U000e0041", "\U000e0101", "\U0001d173"),
    ],
)
def test_what_hides_or_moves_text_is_spelt_out(hidden: str) -> None:
    assert copyable(f"a{hidden}b") == f"a⟨U+{ord(hidden):04X}⟩b"


def test_joiners_between_plain_letters_hide_something() -> None:
    assert copyable("pass\u200dword") == "pass⟨U+200D⟩word"


@pytest.mark.threat("T19")
@given(st.text())
def test_what_is_shown_never_acts_on_a_display(text: str) -> None:
    assert not any(character < " " or "\x7f" <= character <= "\x9f" for character in copyable(text))


@pytest.mark.threat("T19")
@patient
@given(st.text(st.characters() | st.sampled_from("\u202e\u200d\u200c\ufe0f\u27e8\n\N{WOMAN}U+0")))
def test_no_two_names_look_the_same_and_each_stays_on_one_line(text: str) -> None:
    shown = copyable(text)
    assert unescape(shown) == text
    unseen = {"Cc", "Cf", "Cn", "Co", "Cs", "Zl", "Zp"}
    assert {letter for letter in shown if unicodedata.category(letter) in unseen} <= {"\u200c", "\u200d"}
