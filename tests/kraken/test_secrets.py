"""Secrets are found, and never shared: what is masked has none, and comes home whole."""

from __future__ import annotations

import re
import string
import subprocess
import sys
from dataclasses import replace

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from ollm_lsp.kraken.mask import CLOSE, EXPLANATION, OPEN, Mask
from ollm_lsp.kraken.secrets import SHORTEST, FoundSecret, find, is_variables_file
from ollm_lsp.settings.redactor import redactor
from tests.core.values import patient

PEM = (
    "-----BEGIN RSA PRIVATE KEY-----\nMIIEpAIBAAKCAQEAz5Cq7lqkqv8K\nYt0x3k4l5m6n7o8p9q0r\n-----END RSA PRIVATE KEY-----"
)
JWT = "eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxMjM0NTY3ODkwIn0.SflKxwRJSMeKKF2QT4fwpMeJf36POk6yJV"
SECRETS = {
    "anthropic": ("client = Client('{}')", "sk-ant-" + "api03-AbCdEfGhIjKlMnOpQrStUvWxYz0123"),
    "openai": ("Authorization: Bearer {}", "sk-" + "proj-abcdefghijklmnopqrstT3BlbkFJabcd"),
    "google": ("curl '…?key={}'", "AIza" + "SyDaGmWKa4JsXZ-HjGw7ISLn_3namBGewQe"),
    "aws": ("aws_access_key_id = {}", "AKIA" + "IOSFODNN7EXAMPL2"),
    "aws secret": ('aws_secret_access_key = "{}"', "wJalrXUtnFEMI/K7MDENG/bPxRfiCYzzPQRTKEY1"),
    "github": ("git clone https://x/{}", "ghp_" + "1234567890abcdefghijklmnopqrstuvwxyZ"),
    "slack": ("slack({})", "xoxb-" + "123456789012-1234567890123-abcdefABCDEF123456abcdef"),
    "stripe": ("stripe: {}", "sk_live_" + "4eC39HqLyjWDarjtT1zdp7dc"),
    "jwt": ("cookie: {};", JWT),
    "url": ("DATABASE = postgres://admin:{}@db.host/prod", "hunter2secret"),
    "password": ('    password = "{}"', "correct-horse-battery"),
    "json": ('{{"api_key": "{}", "x": 1}}', "lkj34lk5jh345kjh"),
    "shell": ("export DB_PASSWORD={}", "hunter2-really"),
    "private key": ("{}", PEM),
}
HARMLESS = [
    "def f(token: str) -> None:\n    return get_token(token)\n",
    "password = getpass()\n",
    "commit 4b825dc642cb6eb9a060e54bf8d69288fbee4904\n",
    'uuid = "123e4567-e89b-12d3-a456-426614174000"\n',
    "API_KEY=$OTHER_KEY\n",
    "see https://example.org/a/rather/long/path?with=arguments\n",
    "assert_that_a_rather_long_identifier_is_no_secret(at_all)\n",
]

texts = st.text(st.characters(codec="utf-8") | st.sampled_from(f"{OPEN}{CLOSE}S0123_ \n=\"'"), max_size=60)
nasty = st.sampled_from(
    ["⟦", "⟧", "⟦S0⟧", "⟦S1⟧", "⟦S2⟧", "S1⟧", "⟦S", "abcdef", "abcdefg", "bcdefgh", "1", "⟦abcdefg"]
)
values = st.one_of(
    st.text(st.sampled_from(f"{OPEN}{CLOSE}S01ab_") | st.sampled_from(string.printable), min_size=1, max_size=12),
    st.lists(nasty, min_size=1, max_size=3).map("".join),
)
pieces = st.lists(
    st.one_of(texts, st.sampled_from([text.format(value) for text, value in SECRETS.values()])), max_size=6
)


@pytest.mark.threat("T26")
@pytest.mark.prop("krk-42")
@pytest.mark.parametrize("name", SECRETS)
def test_a_secret_is_found_where_it_stands(name: str) -> None:
    template, value = SECRETS[name]
    text = f"# first line\n{template.format(value)}\nlast line"
    (found,) = find(text, "src/a.py")
    assert (found.value, found.source, found.line) == (value, "src/a.py", 2)
    assert str(found) == f"{found.kind} in src/a.py, line 2"
    assert value not in repr(found)


@pytest.mark.parametrize("text", HARMLESS)
def test_usual_code_has_no_secrets(text: str) -> None:
    assert find(text, "src/a.py") == []


@pytest.mark.prop("krk-42")
def test_every_value_of_a_file_of_variables_is_taken_as_secret() -> None:
    text = "# why\nURL='https://a.host/path'\nexport NAME=some value # why\nDEBUG=true\nPORT=80800\nX=abc\nEMPTY=\n"
    assert {secret.value for secret in find(text, "app/.env.local")} == {"https://a.host/path", "some value"}
    assert find(text, "app/notes.txt") == []


@pytest.mark.parametrize(
    ("path", "expected"),
    [
        (".env", True),
        ("a/.ENV.production", True),
        ("prod.env", True),
        (".env.example", False),
        ("environment.py", False),
    ],
)
def test_files_of_variables_are_known_by_their_names(path: str, expected: bool) -> None:
    assert is_variables_file(path) is expected


@pytest.mark.prop("krk-41")
def test_the_keys_of_the_settings_are_secrets_in_every_text() -> None:
    redactor.add("key-that-looks-like-none")
    (found,) = find("somewhere: key-that-looks-like-none!")
    assert found.value == "key-that-looks-like-none"


def test_a_secret_in_a_very_long_line_is_found() -> None:
    key = SECRETS["openai"][1]
    for size in (1_480, 1_990, 2_500, 9_000):
        assert [secret.value for secret in find(f"{'x ' * (size // 2)}{key} {'y ' * 3_000}")] == [key]


@pytest.mark.threat("T26")
@pytest.mark.prop("krk-42")
@patient
@given(pieces)
def test_no_text_keeps_what_was_found_in_it_and_all_come_home_whole(pieces: list[str]) -> None:
    shared = {f"file{number}": text for number, text in enumerate(pieces)}
    whole = "\n".join(pieces)
    mask = Mask.over({**shared, "whole": whole})
    for text in (*pieces, whole):
        masked = mask.mask(text)
        assert mask.restore(masked) == text
        assert not any(secret.value in masked for secret in mask.found)


@pytest.mark.prop("krk-42")
@patient
@given(st.lists(values, max_size=6), st.lists(st.one_of(texts, nasty, values, st.integers(0, 5)), max_size=12))
def test_any_secrets_in_any_text_are_masked_and_restored(values: list[str], parts: list[str | int]) -> None:
    """Also those that overlap, hold brackets, look like placeholders or stand beside each other."""
    mask = Mask(tuple(FoundSecret("k", value) for value in dict.fromkeys(values)))
    text = "".join((values[part % len(values)] if values else "") if isinstance(part, int) else part for part in parts)
    masked = mask.mask(text)
    assert mask.restore(masked) == text
    pieces = [piece for value in values for piece in re.split(f"[{OPEN}{CLOSE}]", value) if len(piece) >= SHORTEST]
    assert not any(piece in masked for piece in pieces)


def test_of_secrets_that_begin_alike_the_longest_is_masked() -> None:
    mask = Mask((FoundSecret("k", "abcdef"), FoundSecret("k", "abcdefgh")))
    assert mask.mask("abcdefgh abcdef") == f"{OPEN}S2{CLOSE} {OPEN}S1{CLOSE}"


@patient
@given(texts, texts)
def test_a_secret_keeps_its_placeholder_all_through_a_release(first: str, second: str) -> None:
    secret = SECRETS["google"][1]
    mask = Mask.over({"a": f"{first}\n{secret}"})
    later = mask.and_over({"b": f"{second}\n{SECRETS['openai'][1]}"})
    assume(len(later.found) > len(mask.found))
    assert later.mask(secret) == mask.mask(secret) == later.mask(secret)
    assert later.found[: len(mask.found)] == mask.found


def test_a_model_s_answer_gets_its_secrets_back_and_nothing_else() -> None:
    mask = Mask.over({"a": 'password = "correct-horse-battery"'})
    assert (
        mask.restore(f"x = {OPEN}S1{CLOSE}; y = {OPEN}S7{CLOSE}") == f"x = correct-horse-battery; y = {OPEN}S7{CLOSE}"
    )
    assert f"{OPEN}S1{CLOSE}" in EXPLANATION


def test_who_looks_at_a_mask_sees_no_secret() -> None:
    mask = Mask.over({"a": 'password = "correct-horse-battery"'})
    mask.mask("x")
    assert "correct-horse" not in repr(mask)
    assert replace(mask.found[0], source="b").source == "b"


def test_the_detector_is_imported_when_it_is_used() -> None:
    code = "import sys; from ollm_lsp.kraken import mask; sys.exit('detect_secrets' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0


@pytest.mark.threat("T30")
@pytest.mark.parametrize("text", ["-----BEGIN PRIVATE KEY-----" * 4_000, "password " * 10_000, "A" * 100_000])
def test_a_hostile_text_is_looked_through_in_the_end(text: str) -> None:
    mask = Mask.over({"a": text})
    assert mask.restore(mask.mask(text)) == text
