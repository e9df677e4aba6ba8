"""JSON of somebody else: read in one way only, and every refusal is a `JsonError`."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from ollm_lsp.core.foreign_json import (
    MAX_DEPTH,
    JsonError,
    count_in,
    decode,
    decode_arguments,
    list_in,
    object_in,
    text_in,
)
from tests.core.values import patient

if TYPE_CHECKING:
    from collections.abc import Callable

finite = st.one_of(
    st.none(),
    st.booleans(),
    st.integers(-(10**30), 10**30),
    st.floats(allow_nan=False, allow_infinity=False),
    st.text(max_size=8),
)
values: st.SearchStrategy[Any] = st.recursive(
    finite,
    lambda inner: st.one_of(st.lists(inner, max_size=4), st.dictionaries(st.text(max_size=4), inner, max_size=4)),
    max_leaves=20,
)
pieces = st.sampled_from(
    [
        "{", "}", "[", "]", ",", ":", '"', '"a"', '"a":', "\\", "\\u0000", "\\ud800", "\\", "null", "true", "NaN",
        "Infinity", "-", "1", "0", ".5", "e", "e999", "9" * 5000, "\ufeff", "\x00", "\u2028", "\ud800", " ", "//",
    ]
)  # fmt: skip


@pytest.mark.threat("T30")
@patient
@given(
    st.one_of(
        st.binary(max_size=40), st.lists(pieces, max_size=12).map(lambda p: "".join(p).encode("utf-8", "replace"))
    )
)
@example(b"")
@example(b"\xef\xbb\xbf{}")
@example(b'"\xff"')
@example(b'"\xed\xa0\x80"')
@example("{}".encode("utf-16"))
def test_any_bytes_are_json_or_a_json_error(octets: bytes) -> None:
    try:
        value = decode(octets)
    except JsonError:
        return
    assert value == json.loads(octets.decode())


@pytest.mark.threat("T12")
@patient
@given(st.lists(pieces, max_size=12).map("".join))
@example('{"a": "' + "\ud800" + '"}')
@example('{"a": {"b": ["\\u0000"]}}')
def test_any_text_gives_harmless_arguments_or_a_json_error(text: str) -> None:
    try:
        arguments = decode_arguments(text)
    except JsonError:
        return
    again = json.dumps(arguments, ensure_ascii=False, allow_nan=False).encode()
    assert json.loads(again) == arguments
    assert "\0" not in "".join(_strings(arguments))


@patient
@given(values, st.booleans(), st.sampled_from([None, 1, "\t"]))
def test_valid_json_decodes_to_what_the_standard_decoder_makes_of_it(
    value: Any, ascii_only: bool, indent: int | str | None
) -> None:
    text = json.dumps(value, ensure_ascii=ascii_only, indent=indent)
    assert decode(text) == json.loads(text) == value
    assert decode(text.encode()) == value
    assert type(decode(text)) is type(value)


@patient
@given(st.dictionaries(st.text(max_size=4), values, max_size=4))
@example({"a": "\0"})
def test_arguments_are_kept_as_they_are_unless_they_hold_a_nul(arguments: dict[str, Any]) -> None:
    text = json.dumps(arguments)
    if any("\0" in string for string in _strings(arguments)):
        with pytest.raises(JsonError, match="NUL"):
            decode_arguments(text)
    else:
        assert decode_arguments(text) == arguments


def test_the_written_form_of_a_nul_is_only_text() -> None:
    source = {"code": r"const end = '\u0000'; // \\u0000", r"\u0000": [r"\\u0000"]}
    assert decode_arguments(json.dumps(source)) == source


@pytest.mark.threat("T12")
@pytest.mark.parametrize("text", [r'{"a": "\u0000"}', r'{"a\u0000": 1}', r'{"a": [{"b": "\\\u0000"}]}'])
def test_a_nul_in_arguments_is_refused(text: str) -> None:
    with pytest.raises(JsonError, match="NUL"):
        decode_arguments(text)


@pytest.mark.threat("T12")
@pytest.mark.parametrize("text", [r'{"a": "\ud800"}', r'{"\udc00": 1}', r'{"a": [["x\ude00\ud83d"]]}'])
def test_a_lone_surrogate_in_arguments_is_refused(text: str) -> None:
    with pytest.raises(JsonError, match="surrogate"):
        decode_arguments(text)


def test_a_pair_of_surrogates_is_a_character() -> None:
    assert decode_arguments(r'{"a": "\ud83d\ude00"}') == {"a": "😀"}


@pytest.mark.threat("T12")
@pytest.mark.parametrize(
    "text",
    ['{"path": "a", "path": "b"}', '[{"x": {"a": 1, "b": 2, "a": 1}}]', r'{"a": 1, "\u0061": 1}', '{"": 1, "": 2}'],
)
def test_the_same_key_twice_is_refused_at_any_depth(text: str) -> None:
    with pytest.raises(JsonError, match="same key twice"):
        decode(text)


@pytest.mark.threat("T12")
@pytest.mark.parametrize("number", ["NaN", "Infinity", "-Infinity", "1e999", "-1e999", "9" * 400 + ".0"])
def test_a_number_that_is_not_finite_is_refused(number: str) -> None:
    with pytest.raises(JsonError):
        decode(f'{{"a": [{number}]}}')


@pytest.mark.threat("T30")
@pytest.mark.parametrize("number", ["9" * 5000, "-" + "1" * 100_000])
def test_an_integer_of_absurd_length_is_refused(number: str) -> None:
    with pytest.raises(JsonError):
        decode(number)


@pytest.mark.parametrize("blank", ["", " ", "\t\r\n "])
def test_blanks_around_a_value_are_nothing(blank: str) -> None:
    assert decode(f'{blank}{{"a": 1}}{blank}') == {"a": 1}


@pytest.mark.parametrize("other", ["\ufeff", "\x00", "\x0b", "\x0c", "\x85", "\xa0", "\u2028", "{}", ",", "// note"])
def test_anything_else_around_a_value_is_refused(other: str) -> None:
    with pytest.raises(JsonError, match="more text"):
        decode(f'{{"a": 1}} {other}')
    with pytest.raises(JsonError):
        decode(f'{other} {{"a": 1}}')


def nested_lists(depth: int) -> str:
    return '{"a":' + "[" * (depth - 1) + "1" + "]" * (depth - 1) + "}"


def nested_objects(depth: int) -> str:
    return '{"a":' * depth + "1" + "}" * depth


@pytest.mark.threat("T30")
@pytest.mark.parametrize("nested", [nested_lists, nested_objects])
@pytest.mark.parametrize("depth", [MAX_DEPTH, MAX_DEPTH + 1, 990, 1_000, 100_000])
def test_what_is_nested_too_deeply_is_refused(nested: Callable[[int], str], depth: int) -> None:
    with pytest.raises(JsonError, match="nested too deeply"):
        decode_arguments(nested(depth))


@pytest.mark.parametrize("nested", [nested_lists, nested_objects])
def test_what_is_nested_a_little_less_is_accepted(nested: Callable[[int], str]) -> None:
    text = nested(MAX_DEPTH - 1)
    assert decode_arguments(text) == json.loads(text)


def test_brackets_side_by_side_or_in_a_string_are_no_depth() -> None:
    wide: dict[str, Any] = {"a": [[]] * MAX_DEPTH * 2, "b": "[{" * MAX_DEPTH}
    assert decode(json.dumps(wide)) == wide


@pytest.mark.parametrize("text", ["[]", '"{}"', "1", "null", "true"])
def test_arguments_are_an_object(text: str) -> None:
    with pytest.raises(JsonError, match="not a JSON object"):
        decode_arguments(text)


@patient
@given(values)
def test_looking_into_any_value_gives_the_expected_kind_or_nothing(value: Any) -> None:
    assert object_in(value) == (value if isinstance(value, dict) else {})
    assert list_in(value) == (value if isinstance(value, list) else [])
    assert text_in(value) == (value if isinstance(value, str) else "")
    sensible = isinstance(value, int) and not isinstance(value, bool) and 0 < value < 2**53
    assert count_in(value) == (value if sensible else 0)


@pytest.mark.parametrize(
    ("value", "count"), [(True, 0), (1, 1), (0, 0), (-1, 0), (1.0, 0), (2**53 - 1, 2**53 - 1), (2**53, 0)]
)
def test_a_count_is_a_positive_integer_that_every_reader_of_json_can_hold(value: Any, count: int) -> None:
    assert count_in(value) == count
    assert type(count_in(value)) is int


def _strings(value: Any) -> list[str]:
    if isinstance(value, str):
        return [value]
    members = object_in(value)
    return [string for inner in (*members, *members.values(), *list_in(value)) for string in _strings(inner)]
