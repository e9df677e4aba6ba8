"""What people see of texts: all of it, in one spelling, and honest texts are not suspected."""

from __future__ import annotations

import sys
import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ollm_lsp.core.hidden import hidden
from ollm_lsp.core.visible import unescape, visible, visible_name
from tests.core.values import patient

TRICKY = "a\u202e\u2066\u200b\u200d\ufeff\u00a0\u3000\u00ad\u2028\r\n\t\x1b\x00\x85\u27e8\u27e9U+0129AF \u0430\ufe0f"
any_text = st.text(st.characters() | st.sampled_from(TRICKY), max_size=20)

HONEST = [
    "def f(x):\n\treturn x\r\n",
    "\ufeffusing System;\r\n",
    "Page one\x0cPage two\n",
    "\N{WOMAN}\u200d\N{PERSONAL COMPUTER} \N{MAN}\U0001f3fd\u200d\N{ROCKET}",
    "\N{WAVING WHITE FLAG}\ufe0f\u200d\N{RAINBOW}",
    "\N{MAN}\u200d\N{WOMAN}\u200d\N{GIRL}\u200d\N{BOY}",
    "\u2764\ufe0f\u200d\N{FIRE} 1\ufe0f\u20e3 #\ufe0f\u20e3 \u2139\ufe0f",
    "\U0001f3f4\U000e0067\U000e0062\U000e0073\U000e0063\U000e0074\U000e007f and \u00a9\ufe0f \u203c\ufe0f \u2194\ufe0f",
    "\u0645\u06cc\u200c\u062e\u0648\u0627\u0647\u0645 \u0646\u0627\u0645\u0647\u200c\u0627\u06cc",
    "\u0915\u094d\u200d\u0937 \u0939\u093f\u0928\u094d\u0926\u0940",
    "\u0995\u09cd\u200c\u09b7, \u0dc1\u0dca\u200d\u0dbb\u0dd3",
    "\u0e20\u0e32\u0e29\u0e32\u200b\u0e44\u0e17\u0e22, \u1797\u17b6\u179f\u17b6\u200b\u1781\u17d2\u1798\u17c2\u179a",
    "\u05e9\u05dc\u05d5\u05dd (C++\u200e) \u05e2\u05d5\u05dc\u05dd\u200f 12",
    "\u845b\U000e0100\u98fe\u533a \u8fbb\ufe00, \u6f22\u5b57\u3000\u4eee\u540d",
    "\u182e\u1823\u1829\u182d\u1823\u182f\u180e\u1824\u180b\u1828",
    "Donau\u00addampf\u00adschiff, na\u00efve, \u20ac 5\u00a0000, 10\u202f%",
    "\u2840\u2800\u2800\u28ff braille art",
    "\u0416\u0438\u0437\u043d\u044c \u03b1\u03b2\u03b3 \u0394x = 3 \u03bcs",
    "\ud55c\uad6d\uc5b4, \u65e5\u672c\u8a9e, Ti\u1ebfng Vi\u1ec7t",
    "\U0001d15f\U0001d173\U0001d15f\U0001d174",
]  # fmt: skip
HIDDEN = [
    "if (isAdmin\u202e \u2066) {\u2069 \u2066", "x = 'a\u2067b\u2069'", "a\u200bb", "user\u200cname", "a\u200db",
    "\u200e\u200f\u200e", "pass\u2060word", "f\u2061(x)", "mid\ufeffdle", "\u3164 = 1", "\uffa0", "a\u115fb",
    "\x1b[2K", "a\x00b", "\x08\x08", "a\x85b", "plain\U000e0069\U000e0067\U000e006e",
    "\U0001f3f4\U000e0041\U000e0042", "h\ufe00i", "\N{GRINNING FACE}\ufe01\ufe02\ufe03", "a\U000e0101",
    "\u6f22\U000e0100\U000e0101", "a\u034fb", "a\u2800b", "line\u2028next", "\ufff9a\ufffa", "a\u180eb", "\u206a",
    "a\ud800", "\U000e0001x", "  \u00ad", "x\u061cy", "a\u17b4",
]  # fmt: skip


@pytest.mark.threat("T10")
@patient
@given(any_text)
def test_what_was_made_visible_can_be_read_back_so_no_two_texts_look_the_same(text: str) -> None:
    assert unescape(visible(text)) == text
    assert unescape(visible_name(text)) == text


def test_a_text_that_looks_like_a_spelling_is_not_taken_for_one() -> None:
    assert visible("⟨U+202E⟩") == "⟨U+27E8⟩U+202E⟩"
    assert visible_name("⟨U+202E⟩") == "⟨U+27E8⟩U+202E⟩"


@pytest.mark.threat("T10")
@patient
@given(any_text)
def test_nothing_unseen_is_left_and_a_name_stays_on_one_line(text: str) -> None:
    for shown, spared in ((visible(text), "\n\t "), (visible_name(text), " ")):
        unseen = {"Cc", "Cf", "Cn", "Co", "Cs", "Zl", "Zp", "Zs"}
        assert not [letter for letter in shown if unicodedata.category(letter) in unseen and letter not in spared]


@pytest.mark.threat("T10")
def test_every_character_that_may_be_ignored_when_it_is_drawn_is_spelt_out() -> None:
    ignorable = [
        chr(point)
        for start, end in [(0xAD, 0xAD), (0x34F, 0x34F), (0x61C, 0x61C), (0x115F, 0x1160), (0x17B4, 0x17B5),
            (0x180B, 0x180F), (0x200B, 0x200F), (0x202A, 0x202E), (0x2060, 0x206F), (0x3164, 0x3164), (0xFE00, 0xFE0F),
            (0xFEFF, 0xFEFF), (0xFFA0, 0xFFA0),
            (0xFFF0, 0xFFF8), (0x1BCA0, 0x1BCA3), (0x1D173, 0x1D17A), (0xE0000, 0xE0FFF)]
        for point in range(start, end + 1)
    ]  # fmt: skip
    assert [letter for letter in ignorable if visible(letter) == letter] == []


def test_letters_and_symbols_stay_as_they_are() -> None:
    for point in range(sys.maxunicode + 1):
        if unicodedata.category(chr(point)) in {"Ll", "Lu", "Nd", "Sc"}:
            assert visible(chr(point)) == chr(point)


@pytest.mark.threat("T10")
def test_a_letter_that_looks_like_a_latin_one_is_spelt_out_in_a_latin_word() -> None:
    assert visible_name("p\u0430y.py") == "p⟨U+0430⟩y.py"
    assert visible_name("\u043f\u0440\u0438\u043c\u0435\u0440.py") == "\u043f\u0440\u0438\u043c\u0435\u0440.py"
    assert visible_name("\uff47it\n") == "⟨U+FF47⟩it⟨U+000A⟩"


@pytest.mark.threat("T22")
@pytest.mark.parametrize("text", HONEST, ids=ascii)
def test_honest_texts_are_not_suspected(text: str) -> None:
    assert hidden(text) == []


@pytest.mark.threat("T22")
@pytest.mark.parametrize("text", HIDDEN, ids=ascii)
def test_hidden_characters_are_found(text: str) -> None:
    assert hidden(text)
    assert hidden(f"{HONEST[0]}{text}")


@pytest.mark.threat("T22")
@patient
@given(st.lists(st.sampled_from(HONEST), max_size=5), st.sampled_from(["\u202e", "\u2060", "\x1b"]), st.integers(0, 40))
def test_a_hidden_character_is_found_wherever_it_is_and_its_place_is_told(
    honest: list[str], character: str, index: int
) -> None:
    text = "\n".join(honest)
    spoilt = text[:index] + character + text[index:]
    (line, column) = (spoilt.count("\n", 0, index), len(text[:index].rpartition("\n")[2]))
    assert (character, line, column) in [(one.character, one.line, one.column) for one in hidden(spoilt)]


@pytest.mark.threat("T22")
@patient
@given(
    st.text(st.characters(categories=["L", "N", "P", "Zs", "Sc", "Sm"], exclude_characters="\u115f\u1160\u3164\uffa0"))
)
def test_letters_numbers_and_signs_of_all_scripts_are_never_suspected(text: str) -> None:
    assert hidden(text) == []
