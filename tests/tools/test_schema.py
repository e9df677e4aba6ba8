"""Arguments and schemas: what does not fit is said in words that help a model."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ollm_lsp.tools.schema import fits

if TYPE_CHECKING:
    from ollm_lsp.core.foreign_json import JsonObject

SCHEMA: JsonObject = {
    "type": "object",
    "properties": {
        "path": {"type": "string"},
        "lines": {"type": "array", "items": {"type": "integer", "minimum": 1}},
    },
    "required": ["path"],
    "additionalProperties": False,
}
JSON: st.SearchStrategy[Any] = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(),
    lambda values: st.lists(values, max_size=3) | st.dictionaries(st.text(), values, max_size=3),
    max_leaves=8,
)


@pytest.mark.parametrize(
    ("arguments", "fault"),
    [
        ({}, "'path' is a required property"),
        ({"path": 5}, "path: 5 is not of type 'string'"),
        ({"path": "a", "lines": [1, 0]}, "lines[1]: 0 is less than the minimum of 1"),
        ({"path": "a", "file": "b"}, "'file' was unexpected"),
    ],
)
def test_what_is_wrong_is_said_with_its_place(arguments: JsonObject, fault: str) -> None:
    assert fault in (fits(SCHEMA, arguments) or "")


def test_arguments_that_fit_need_no_words() -> None:
    assert fits(SCHEMA, {"path": "a", "lines": [1, 2]}) is None


def test_several_faults_are_told_at_once_and_none_at_length() -> None:
    told = fits(SCHEMA, {"lines": ["x" * 10_000, 0, -1, -2, -3]})
    assert told is not None
    assert "'path' is a required property" in told
    assert told.count("; ") == 2
    assert len(told) < 1_000


@given(JSON)
def test_any_value_is_judged(value: Any) -> None:
    assert (fits({"type": "object", "properties": {"a": {"type": "string"}}}, {"a": value}) is None) is isinstance(
        value, str
    )


@pytest.mark.threat("T32")
def test_a_schema_never_makes_anybody_ask_the_network() -> None:
    with pytest.raises(Exception, match=r"Unresolvable|unresolvable"):
        fits({"$ref": "http://127.0.0.1:9/schema.json"}, {})
