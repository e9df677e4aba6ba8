"""The redactor: a key is in no text, whatever was done to it."""

from __future__ import annotations

import base64
import json
import string
from urllib.parse import quote, quote_plus, urlencode

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ollm_lsp.settings.redactor import NO_SECRETS, Redactor
from ollm_lsp.settings.redactor import redactor as of_this_process
from tests.settings.raw import patient

pytestmark = pytest.mark.prop("krk-41")
keys = st.text(string.ascii_letters + string.digits + string.punctuation, min_size=6, max_size=60).filter(
    lambda key: key not in NO_SECRETS  # Hypothesis finds them in the source
)
texts = st.text(max_size=20)


@pytest.mark.threat("T4")
@patient
@given(keys, texts, texts)
def test_a_key_is_replaced_in_any_text(key: str, before: str, after: str) -> None:
    redactor = Redactor()
    redactor.add(key)
    redacted = redactor.redact(f"{before}{key}{after}")
    assert "***" in redacted
    assert key not in redacted.replace("***", "\0")


@pytest.mark.threat("T4")
@patient
@given(keys)
def test_a_key_is_replaced_in_its_encoded_forms(key: str) -> None:
    redactor = Redactor()
    redactor.add(key)
    for encoded in (
        quote(key), quote(key, safe=""), quote_plus(key), urlencode({"k": key})[2:], quote(key, safe="").lower()
        if key.islower() else quote(key), json.dumps(key)[1:-1],
    ):  # fmt: skip
        assert redactor.redact(f"<{encoded}>") == "<***>"


@pytest.mark.threat("T4")
@patient
@given(keys, st.binary(max_size=7), st.binary(max_size=7))
def test_a_key_is_replaced_inside_base64_at_any_place(key: str, before: bytes, after: bytes) -> None:
    redactor = Redactor()
    redactor.add(key)
    for encode in (base64.b64encode, base64.urlsafe_b64encode):
        encoded = encode(before + key.encode() + after).decode()
        redacted = redactor.redact(encoded)
        assert "***" in redacted
        left = redacted.replace("***", "")
        assert len(encoded) - len(left) >= len(key) * 8 // 6 - 2


def test_a_longer_key_is_replaced_before_a_shorter_one_that_it_holds() -> None:
    redactor = Redactor()
    redactor.add("abcdef")
    redactor.add("abcdefghij")
    assert redactor.redact("abcdefghij abcdef") == "*** ***"


def test_short_values_are_left_alone() -> None:
    redactor = Redactor()
    redactor.add("model")
    redactor.add("")
    assert redactor.redact("the model answers") == "the model answers"


@patient
@given(texts)
def test_a_redactor_that_knows_nothing_changes_nothing(text: str) -> None:
    assert Redactor().redact(text) == text


@patient
@given(st.text(min_size=6).filter(lambda text: text not in NO_SECRETS))
def test_any_text_can_be_hidden(value: str) -> None:
    redactor = Redactor()
    redactor.add(value)
    assert redactor.redact(value) == "***"


def test_the_words_for_no_key_at_all_are_left_alone() -> None:
    redactor = Redactor()
    for word in NO_SECRETS:
        redactor.add(word)
    assert redactor.redact("Start ollama or lm-studio.") == "Start ollama or lm-studio."


def test_a_key_is_replaced_anywhere_in_json() -> None:
    redactor = Redactor()
    redactor.add("sk-canary-1")
    value = {"a sk-canary-1": ["sk-canary-1", {"deep": ("x sk-canary-1",)}, 1, None, True]}
    assert redactor.redact_json(value) == {"a ***": ["***", {"deep": ["x ***"]}, 1, None, True]}


few_letters = st.text("ab-", min_size=6, max_size=9)


def shown(redactor: Redactor, deltas: list[str]) -> tuple[list[str], str]:
    """What is shown after each delta, and what waits at the end."""
    pieces: list[str] = []
    waiting = ""
    for delta in deltas:
        piece, waiting = redactor.split(waiting + delta)
        pieces.append(piece)
    return pieces, waiting


@patient
@given(st.lists(few_letters, max_size=3), st.lists(st.text("ab-", max_size=12), max_size=12))
def test_a_text_that_grows_is_redacted_as_if_it_were_whole(secrets: list[str], deltas: list[str]) -> None:
    redactor = Redactor()
    for secret in secrets:
        redactor.add(secret)
    pieces, waiting = shown(redactor, deltas)
    assert "".join(pieces) + redactor.redact(waiting) == redactor.redact("".join(deltas))


@pytest.mark.threat("T4")
@patient
@given(keys, st.data())
def test_no_part_of_a_key_is_shown_before_it_is_known_to_be_none(key: str, data: st.DataObject) -> None:
    redactor = Redactor()
    redactor.add(key)
    at = data.draw(st.integers(1, len(key) - 1))
    assert shown(redactor, [f" {key[:at]}", key[at:]]) == ([" ", "***"], "")
    # Only what may become a key waits.
    assert shown(redactor, [f" {key[:at]}", "\n"]) == ([" ", f"{key[:at]}\n"], "")


@pytest.mark.parametrize("number", [1, 2])
@given(st.integers())
def test_every_example_has_a_redactor_that_knows_nothing(number: int, example: int) -> None:
    secret = f"the same word {number}"
    assert of_this_process.redact(secret) == secret
    of_this_process.add(secret)
    assert of_this_process.redact(secret) == "***"
