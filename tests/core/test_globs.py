"""File name patterns: they mean what a slow and simple reading of them means, and they are quick."""

from __future__ import annotations

import re
import time
from fnmatch import fnmatchcase

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ollm_lsp.core import globs
from ollm_lsp.core.globs import matches
from tests.core.values import patient

TOKENS = ["a", "b", "B", ".", "*", "?", "[ab]", "[!a]", "[A-B]", "]", "!"]
pattern_names = st.one_of(st.lists(st.sampled_from(TOKENS), max_size=4).map("".join), st.just("**"))
patterns = st.tuples(
    st.sampled_from(["", "/", "**/"]), st.lists(pattern_names, min_size=1, max_size=4).map("/".join)
).map("".join)
paths = st.lists(st.text("abAB.!]", max_size=3), min_size=1, max_size=5).map("/".join)


def name_fits(name: str, wanted: str) -> bool:
    """A name against a pattern without slashes, in any way that works."""
    if not wanted:
        return not name
    if wanted[0] == "*":
        return any(name_fits(name[begin:], wanted[1:]) for begin in range(len(name) + 1))
    token = wanted[: wanted.index("]") + 1] if wanted[0] == "[" else wanted[0]
    if not name or not re.fullmatch({"?": "."}.get(token) or token.replace("[!", "[^").replace(".", "[.]"), name[0]):
        return False
    return name_fits(name[1:], wanted[len(token) :])


def path_fits(names: list[str], wanted: list[str]) -> bool:
    """A path against a pattern, in any way that works."""
    if not wanted:
        return not names
    if wanted[0] == "**" and any(path_fits(names[begin:], wanted[1:]) for begin in range(len(names) + 1)):
        return True
    return bool(names) and name_fits(names[0], wanted[0]) and path_fits(names[1:], wanted[1:])


@patient
@given(paths, patterns)
def test_a_pattern_fits_exactly_where_a_slow_reading_of_it_does(path: str, pattern: str) -> None:
    whole = pattern if pattern.startswith("/") else f"**/{pattern}"
    assert matches(path, pattern) == path_fits(path.casefold().split("/"), whole.casefold().split("/"))


@patient
@given(paths, patterns)
def test_letter_case_never_matters(path: str, pattern: str) -> None:
    fits = matches(path, pattern)
    assert matches(path.upper(), pattern.lower()) == matches(path.lower(), pattern.upper()) == fits


@patient
@given(st.text(max_size=12), st.text("ab[]!^-&~|\\*?/.(){}:#", max_size=14))
def test_any_text_is_a_pattern(path: str, pattern: str) -> None:
    assert isinstance(matches(path, pattern), bool)


@pytest.mark.parametrize(
    ("path", "pattern"),
    [
        ("/home/me/project/.env", "**/.env*"),
        ("/home/me/project/.ENV.local", "**/.env*"),
        (".env", "**/.env*"),
        ("/home/me/key.pem", "*.pem"),
        ("/home/me/secrets/deep/key", "secrets/**"),
        ("/home/me/secrets/key", "**/SECRETS/*"),
        ("/srv/a/b/c/key", "/srv/**/key"),
        ("/srv/key", "/srv/**/key"),
        ("/srv/a/b", "**/**/**/b"),
        ("C:/Work/.env", ".env"),
    ],
)
def test_a_file_is_found(path: str, pattern: str) -> None:
    assert matches(path, pattern)


@pytest.mark.parametrize(
    ("path", "pattern"),
    [
        ("/home/me/environment", "**/.env*"),
        ("/home/me/.env/file", "**/.env*"),
        ("/home/srv/key", "/srv/**/key"),
        ("/a/b", "/*"),
        ("/secrets/deep/key", "/secrets/*"),
        ("/a/xb", "**/b"),
        ("/a", "a/b"),
    ],
)
def test_another_file_is_not(path: str, pattern: str) -> None:
    assert not matches(path, pattern)


@pytest.mark.parametrize("pattern", ["**/" * 500 + "b", "**/a/" * 250 + "b", "*/" * 500 + "b", "**/*/" * 250 + "b"])
def test_the_names_compared_are_at_most_those_of_the_path_times_those_of_the_pattern(
    pattern: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    compared = 0

    def count(name: str, wanted: str) -> bool:
        nonlocal compared
        compared += 1
        return fnmatchcase(name, wanted)

    monkeypatch.setattr(globs, "fnmatchcase", count)
    depth = 60
    assert not matches("/".join("a" * depth), pattern)
    distinct = re.sub(r"(\*\*/)+", "**/", f"**/{pattern}").count("/") + 1
    assert 0 < compared <= depth * distinct


@pytest.mark.parametrize(
    ("name", "pattern"), [("a", "*a"), ("a", "*?"), ("ab", "*[ab]"), ("a/", "**/"), ("a/", "*/"), ("a/", "**/a/")]
)
def test_a_pattern_and_a_path_that_are_twice_as_long_take_no_more_than_a_few_times_as_long(
    name: str, pattern: str
) -> None:
    def took(size: int) -> float:
        path, hostile = f"{name * size}a", f"{pattern * (size // 4)}z"
        matches(path, hostile)  # compiled and cached, as in a session
        times: list[float] = []
        for _ in range(5):
            began = time.thread_time()
            assert not matches(path, hostile)
            times.append(time.thread_time() - began)
        return min(times)

    assert took(160) <= 10 * took(80) + 0.001
