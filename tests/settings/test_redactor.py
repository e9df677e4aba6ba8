"""The redactor: a key is in no text, whatever was done to it."""

from __future__ import annotations

import base64
import json
import string
from urllib.parse import quote, quote_plus, urlencode

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ollm_lsp.settings.secrets import Redactor
from tests.settings.raw import patient

pytestmark = pytest.mark.prop("krk-41")
keys = st.text(string.ascii_letters + string.digits + string.punctuation, min_size=6, max_size=60)
texts = st.text(max_size=20)


@patient
@given(keys, texts, texts)
def test_a_key_is_replaced_in_any_text(key: str, before: str, after: str) -> None:
    redactor = Redactor()
    redactor.add(key)
    redacted = redactor.redact(f"{before}{key}{after}")
    assert "***" in redacted
    assert key not in redacted.replace("***", "\0")


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
@given(st.text(min_size=6))
def test_any_text_can_be_hidden(value: str) -> None:
    redactor = Redactor()
    redactor.add(value)
    assert redactor.redact(value) == "***"
