"""Base URLs: one spelling, no surprises."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ollm_lsp.core.errors import SettingsError
from ollm_lsp.settings.address import base_url, is_loopback
from tests.settings.raw import patient


@pytest.mark.parametrize(
    ("written", "meant"),
    [
        ("http://127.0.0.1:11434", "http://127.0.0.1:11434"),
        ("http://127.0.0.1:8000/v1/", "http://127.0.0.1:8000/v1"),
        ("HTTPS://API.Example.COM//", "https://api.example.com"),
        ("http://[::1]:8000/v1", "http://[::1]:8000/v1"),
        ("http://my_host:80", "http://my_host:80"),
    ],
)
def test_an_address_gets_one_spelling(written: str, meant: str) -> None:
    assert base_url(written) == meant
    assert base_url(meant) == meant


@pytest.mark.parametrize(
    "written",
    [
        "", "localhost:8000", "ftp://host", "file:///etc/passwd", "http://", "http:///v1", "http://:80", "http:host",
        "http://user@host", "http://user:hunter22@host", "http://host?key=1", "http://host?", "http://host/#a",
        "http://host:0", "http://host:99999", "http://host:x", "http://[::1", "http://[::1%25eth0]/", "http://[v1.a]/",
        "http://ho st", "http://host\n.evil", "http://host\\@evil", "http://höst", "http://a..b", "http://ho%73t",
        " http://host", "http://127.0.0.1;evil", "//host", "unix:///run/x",
    ],
)  # fmt: skip
def test_what_is_no_plain_address_is_refused_without_repeating_it(written: str) -> None:
    with pytest.raises(SettingsError) as refused:
        base_url(written)
    assert "hunter22" not in str(refused.value)
    assert refused.value.remedy


@patient
@given(st.text(max_size=40).map(lambda text: f"http://{text}"))
def test_any_text_is_an_address_in_one_spelling_or_refused(text: str) -> None:
    try:
        url = base_url(text)
    except SettingsError:
        return
    assert base_url(url) == url
    assert "@" not in url.partition("//")[2].partition("/")[0]


@pytest.mark.parametrize("url", ["http://localhost", "http://127.0.0.1:1/v1", "http://127.9.9.9", "https://[::1]:8000"])
def test_loopback_is_this_machine(url: str) -> None:
    assert is_loopback(base_url(url))


@pytest.mark.parametrize(
    "url",
    [
        "http://0.0.0.0", "http://192.168.0.2", "http://localhost.evil.example", "http://127.0.0.1.nip.io",
        "http://127.1", "http://2130706433", "http://0177.0.0.1", "https://example.com/127.0.0.1", "http://[::2]",
    ],
)  # fmt: skip
def test_everything_else_is_not(url: str) -> None:
    assert not is_loopback(base_url(url))
