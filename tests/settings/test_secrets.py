"""Secrets: references in, keys only at use, and nothing to be seen on the way."""

from __future__ import annotations

import copy
import pickle
import sys
from types import ModuleType

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ollm_lsp.core.errors import SettingsError
from ollm_lsp.settings.redactor import redactor
from ollm_lsp.settings.secrets import Secret
from tests.settings.raw import patient

VALUE = "sk-canary-0a1b2c3d4e"


def keyring_that(answers: dict[str, str] | Exception) -> ModuleType:
    module = ModuleType("keyring")

    def get_password(service: str, name: str) -> object:
        assert service == "ollm-lsp"
        if isinstance(answers, Exception):
            raise answers
        return answers.get(name)

    module.__dict__["get_password"] = get_password
    return module


@pytest.mark.prop("krk-39")
def test_a_reference_is_resolved_at_each_use(monkeypatch: pytest.MonkeyPatch) -> None:
    secret = Secret("${VLLM_API_KEY}")
    monkeypatch.setenv("VLLM_API_KEY", VALUE)
    assert secret.reveal() == VALUE
    monkeypatch.setenv("VLLM_API_KEY", " another-key-9z8y \n")
    assert secret.reveal() == "another-key-9z8y"


@pytest.mark.prop("krk-41")
def test_a_secret_shows_only_its_reference(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("VLLM_API_KEY", VALUE)
    secret = Secret("${VLLM_API_KEY}")
    secret.reveal()
    assert repr(secret) == "Secret(${VLLM_API_KEY})"
    assert f"{secret}" == "${VLLM_API_KEY}"
    assert VALUE.encode() not in pickle.dumps(secret)


@pytest.mark.prop("krk-41")
def test_a_literal_shows_nothing_and_is_redacted_before_its_first_use() -> None:
    secret = Secret("sk-literal-canary-77")
    assert secret.is_literal
    assert repr(secret) == "Secret(***)"
    assert str(secret) == "***"
    assert redactor.redact("oops sk-literal-canary-77!") == "oops ***!"
    assert secret.reveal() == "sk-literal-canary-77"


@pytest.mark.prop("krk-41")
def test_a_revealed_key_is_redacted_from_then_on(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OLLM_SECRET", "canary-revealed-4711")
    Secret("${OLLM_SECRET}").reveal()
    assert redactor.redact("Bearer canary-revealed-4711") == "Bearer ***"


@pytest.mark.parametrize("value", [None, "", "  \n"])
def test_a_missing_variable_is_named_with_a_remedy(monkeypatch: pytest.MonkeyPatch, value: str | None) -> None:
    monkeypatch.delenv("SOME_API_KEY", raising=False)
    if value is not None:
        monkeypatch.setenv("SOME_API_KEY", value)
    with pytest.raises(SettingsError, match="SOME_API_KEY is not set") as missing:
        Secret("${SOME_API_KEY}").reveal()
    assert "SOME_API_KEY" in missing.value.remedy


@pytest.mark.parametrize("value", ["two\r\nX-Header: evil-canary", "kéy-of-canary", "a canary key"])
def test_a_value_that_would_break_a_header_is_refused_without_showing_it(
    monkeypatch: pytest.MonkeyPatch, value: str
) -> None:
    monkeypatch.setenv("SOME_API_KEY", value)
    with pytest.raises(SettingsError, match="SOME_API_KEY") as refused:
        Secret("${SOME_API_KEY}").reveal()
    assert "canary" not in str(refused.value)


@pytest.mark.parametrize("name", ["OPENAI_API_KEY", "OLLM_X", "HF_TOKEN", "MY_KEY", "API_KEY", "OLLM_9"])
def test_names_of_api_keys_are_read(monkeypatch: pytest.MonkeyPatch, name: str) -> None:
    monkeypatch.setenv(name, VALUE)
    assert Secret(f"${{{name}}}").reveal() == VALUE


@pytest.mark.threat("T2")
@pytest.mark.parametrize(
    "name", ["HOME", "PATH", "DATABASE_URL", "PGPASSWORD", "AWS_SECRET", "SSH_AUTH_SOCK", "KEY", "XOLLM_A"]
)
def test_names_of_other_secrets_are_never_read(monkeypatch: pytest.MonkeyPatch, name: str) -> None:
    monkeypatch.setenv(name, VALUE)
    with pytest.raises(SettingsError, match=f"{name} does not look like an API key") as refused:
        Secret(f"${{{name}}}")
    assert "_API_KEY" in refused.value.remedy


@pytest.mark.parametrize(
    "text",
    [
        "", "$CANARY_API_KEY", "${}", "${keyring:}", "${sk-canary-1}", "${env:CANARY_KEY}", "${CANARY_KEY}x",
        "${canary_api_key}", "canary with spaces", "canary\n", "canäry", "${keyring:a/canary}",
    ],
)  # fmt: skip
def test_what_is_neither_key_nor_reference_is_refused_without_repeating_it(text: str) -> None:
    with pytest.raises(SettingsError) as refused:
        Secret(text)
    assert "canary" not in str(refused.value).casefold()
    assert "${NAME}" in refused.value.remedy


@patient
@given(st.text(max_size=30))
def test_any_text_makes_a_secret_or_a_settings_error(text: str) -> None:
    try:
        secret = Secret(text)
    except SettingsError:
        return
    assert secret == Secret(text)
    assert hash(secret) == hash(copy.deepcopy(secret))
    assert str(secret) in (text, "***")
    assert secret.is_literal == (str(secret) == "***")


def test_the_keyring_is_read_at_use(monkeypatch: pytest.MonkeyPatch) -> None:
    secret = Secret("${keyring:vllm}")
    monkeypatch.setitem(sys.modules, "keyring", keyring_that({"vllm": "from-keyring-123"}))
    assert secret.reveal() == "from-keyring-123"
    assert redactor.redact("from-keyring-123") == "***"


def test_a_missing_entry_of_the_keyring_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "keyring", keyring_that({}))
    with pytest.raises(SettingsError, match="entry vllm is not set") as missing:
        Secret("${keyring:vllm}").reveal()
    assert "keyring set ollm-lsp vllm" in missing.value.remedy


def test_a_locked_keyring_is_a_settings_error_without_its_words(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "keyring", keyring_that(RuntimeError(VALUE)))
    with pytest.raises(SettingsError, match=r"vllm cannot be read \(RuntimeError\)") as locked:
        Secret("${keyring:vllm}").reveal()
    assert VALUE not in str(locked.value)
    assert locked.value.__suppress_context__


def test_without_the_keyring_library_the_remedy_says_how_to_get_it(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "keyring", None)
    with pytest.raises(SettingsError, match="not installed") as absent:
        Secret("${keyring:vllm}").reveal()
    assert "pip install keyring" in absent.value.remedy
