"""Headers: names that a user may add, values that nothing shows."""

from __future__ import annotations

import copy

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ollm_lsp.core.errors import SettingsError
from ollm_lsp.settings.headers import HeaderValue, check_name, check_names
from ollm_lsp.settings.redactor import redactor
from ollm_lsp.settings.secrets import Secret
from tests.settings.raw import patient


@pytest.mark.parametrize("name", ["X-Team", "HTTP-Referer", "anthropic-beta", "api-key", "cf-access-client-id", "x_y!"])
def test_a_header_of_the_users_own_is_taken(name: str) -> None:
    assert check_name(name) == name


@pytest.mark.prop("krk-41")
@pytest.mark.parametrize("name", ["Authorization", "authorization", "X-API-Key", "x-goog-api-key"])
def test_a_header_for_the_key_is_refused_in_favour_of_the_option(name: str) -> None:
    with pytest.raises(SettingsError) as refused:
        check_name(name)
    assert 'apiKey: "${NAME}"' in refused.value.remedy


@pytest.mark.parametrize(
    "name", ["Host", "content-length", "Content-Type", "Transfer-Encoding", "CONNECTION", "Accept-Encoding", "te"]
)
def test_a_header_that_frames_the_request_is_refused(name: str) -> None:
    with pytest.raises(SettingsError, match="sets this header itself"):
        check_name(name)


@pytest.mark.parametrize("name", ["", "X Team", "X-Team:", "X\r\nY", "Ünal", "a/b", "(x)", "X-Team\n"])
def test_what_is_no_token_is_no_name(name: str) -> None:
    with pytest.raises(SettingsError, match="not the name of a header"):
        check_name(name)


def test_two_names_that_differ_in_case_are_one_header() -> None:
    check_names(["X-A", "X-B"])
    with pytest.raises(SettingsError, match="twice"):
        check_names(["X-A", "x-a"])


@pytest.mark.prop("krk-41")
def test_a_value_by_reference_is_read_at_use_and_hidden(monkeypatch: pytest.MonkeyPatch) -> None:
    value = HeaderValue("X-Team", "${TEAM_TOKEN}")
    monkeypatch.setenv("TEAM_TOKEN", "Bearer canary-of-team-5")
    assert value.reveal() == "Bearer canary-of-team-5"
    assert repr(value) == "Secret(${TEAM_TOKEN})"
    assert redactor.redact("You sent canary-of-team-5.") == "You sent ***."
    monkeypatch.setenv("TEAM_TOKEN", "two\r\nX-Evil: canary")
    with pytest.raises(SettingsError, match="TEAM_TOKEN") as refused:
        value.reveal()
    assert "canary" not in str(refused.value)


@pytest.mark.prop("krk-41")
@pytest.mark.parametrize(
    ("name", "text"),
    [("X-Access-Token", "canary-6-77"), ("X-Gate", "Basic canary-6-77"), ("Cookie", "canary-6-77"), ("X-A", "sk-6-77")],
)
def test_a_literal_that_looks_like_a_key_is_hidden(name: str, text: str) -> None:
    value = HeaderValue(name, text)
    assert value.is_literal_key
    assert str(value) == "***"
    assert "6-77" not in redactor.redact(f"oops {text}! {text.rsplit(maxsplit=1)[-1]}?")


@pytest.mark.parametrize(("name", "text"), [("HTTP-Referer", "https://my.example"), ("X-Title", "ollm-lsp at work")])
def test_a_literal_that_looks_like_none_stays_readable_elsewhere(name: str, text: str) -> None:
    value = HeaderValue(name, text)
    assert value.reveal() == text
    assert not value.is_literal_key
    assert redactor.redact(f"ollm-lsp: {text}") == f"ollm-lsp: {text}"


@pytest.mark.parametrize(
    "text", ["", " ", " x", "x ", "a\tb", "a\nb", "é", "\x7f", "$X_KEY", "Bearer ${X_KEY}", "${X_KEY}x"]
)
def test_what_cannot_be_a_value_is_refused(text: str) -> None:
    with pytest.raises(SettingsError) as refused:
        HeaderValue("X-A", text)
    assert "printable ASCII" in refused.value.remedy


@patient
@given(st.text(max_size=20), st.one_of(st.text(max_size=30), st.text(st.characters(codec="ascii"), max_size=30)))
def test_any_text_is_a_value_fit_for_a_request_or_refused(name: str, text: str) -> None:
    try:
        value = HeaderValue(name, text)
    except SettingsError:
        return
    assert value == Secret(text) if " " not in text else value == HeaderValue(name, text)
    assert copy.deepcopy(value) == value
    if value.is_literal:
        assert value.reveal() == text == text.strip()
        assert text.isascii()
        assert text.isprintable()
