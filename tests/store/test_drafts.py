"""Drafts: everything is given out once, in order, and never cut where a key could hide."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ollm_lsp.core.events import ReasoningDelta, TextDelta, UsageChanged
from ollm_lsp.core.usage import Cost, Usage
from ollm_lsp.settings.redactor import Redactor
from ollm_lsp.store.drafts import Drafts
from tests.core.values import patient

KEY = "sk-canary+0123/456789=abcdef"


def given_out(drafts: Drafts) -> list[tuple[bool, str]]:
    news = drafts.take()
    return news["r"].pieces if "r" in news else []


@pytest.mark.prop("krk-41")
@patient
@given(st.lists(st.sampled_from(["a ", "word", " ", "\n", "é", KEY]), max_size=8), st.data())
def test_a_key_is_found_however_its_text_is_cut_into_deltas(words: list[str], data: st.DataObject) -> None:
    text = "".join(words)
    redactor, drafts, written = Redactor(), Drafts(), ""
    redactor.add(KEY)
    cuts = sorted(data.draw(st.lists(st.integers(0, len(text)), max_size=6)))
    for start, end in zip([0, *cuts], [*cuts, len(text)], strict=True):
        drafts.add("r", TextDelta(text[start:end]))
        pieces = given_out(drafts)
        assert not any(is_reasoning for is_reasoning, _ in pieces)
        written += "".join(redactor.redact(piece) for _, piece in pieces)
    whole = redactor.redact(text)
    assert whole.startswith(written)
    assert KEY not in written
    assert whole[len(written) :] == redactor.redact(text.split(" ")[-1].split("\n")[-1].rpartition("é")[2])


@patient
@given(st.lists(st.tuples(st.booleans(), st.sampled_from(["one ", "two ", "é"]), st.booleans()), max_size=12))
def test_thoughts_and_text_keep_their_order(deltas: list[tuple[bool, str, bool]]) -> None:
    drafts = Drafts()
    pieces: list[tuple[bool, str]] = []
    for is_reasoning, text, is_taken in deltas:
        drafts.add("r", ReasoningDelta(text) if is_reasoning else TextDelta(text))
        pieces += given_out(drafts) if is_taken else []
    pieces += given_out(drafts)
    spelled = [(is_reasoning, letter) for is_reasoning, text in pieces for letter in text]
    assert spelled == [(is_reasoning, letter) for is_reasoning, text, _ in deltas for letter in text]
    assert drafts.take() == {}


def test_only_the_newest_usage_is_given_out() -> None:
    drafts = Drafts()
    for tokens in (1, 2):
        drafts.add("r", UsageChanged(Usage(tokens, tokens), Cost(tokens), 0, None))
    growth = drafts.take()["r"]
    assert (growth.pieces, growth.usage) == ([], (Usage(2, 2), Cost(2)))
    assert drafts.take() == {}


def test_what_has_a_better_successor_is_dropped() -> None:
    drafts = Drafts()
    for name in ("r", "s"):
        drafts.add(name, TextDelta("a word "))
        drafts.add(name, UsageChanged(Usage(1, 1), Cost(), 0, None))
    drafts.drop_text("r")
    drafts.drop("s")
    growth = drafts.take()
    assert list(growth) == ["r"]
    assert (growth["r"].pieces, growth["r"].usage) == ([], (Usage(1, 1), Cost()))
