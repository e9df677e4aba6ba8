"""Values for property tests of the wires."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from hypothesis import strategies as st

from ollm_lsp.core.tool import ToolSpec

if TYPE_CHECKING:
    from hypothesis.strategies import SearchStrategy

texts = st.text(st.characters(exclude_categories=["Cs"]), max_size=12)
names = st.from_regex(r"[a-z][a-z_]{0,8}", fullmatch=True)
_scalars = st.none() | st.booleans() | st.integers(-(10**6), 10**6) | st.floats(allow_nan=False, allow_infinity=False)
_safe = st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\x00"), max_size=12)
_values: SearchStrategy[Any] = st.recursive(
    _scalars | _safe,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(_safe, inner, max_size=3),
    max_leaves=6,
)
arguments: SearchStrategy[dict[str, Any]] = st.dictionaries(_safe, _values, max_size=3)
tool_specs = st.builds(ToolSpec, names, texts, st.dictionaries(_safe, _values, max_size=4))

hostile_arguments = {
    "the same key twice": '{"path": "a", "path": "b"}',
    "the same key twice, escaped": '{"path": "a", "p\\u0061th": "b"}',
    "the same key twice, inside": '{"x": [{"a": 1, "a": 1}]}',
    "NaN": '{"x": NaN}',
    "Infinity": '{"x": -Infinity}',
    "a number without limit": '{"x": 1e999}',
    "lone surrogate": '{"x": "\\ud800"}',
    "lone surrogate as a key": '{"\\udfff": 1}',
    "surrogates in the wrong order": '{"x": "\\ude00\\ud83d"}',
    "NUL": '{"path": "a\\u0000.py"}',
    "NUL in a key": '{"\\u0000": 1}',
    "NUL after a backslash": '{"x": "\\\\\\u0000"}',
    "a list": "[1]",
    "a text": '"x"',
    "null": "null",
    "a number": "1",
    "cut": '{"path": "a',
    "two documents": "{} {}",
    "not JSON": "path=a",
    "single quotes": "{'a': 1}",
    "comment": '{"a": 1 /* x */}',
    "raw line break": '{"a": "\n"}',
    "depth": '{"a":' * 5_000 + "1" + "}" * 5_000,
    "digits": '{"a":' + "9" * 5_000 + "}",
}
"""Documents that are no tool's arguments, by what is wrong with them."""


def foreign_json(keys: str) -> SearchStrategy[Any]:
    """JSON of any shape, with these keys in its objects."""
    return st.recursive(
        _scalars | texts,
        lambda inner: st.lists(inner, max_size=2) | st.dictionaries(st.sampled_from(keys.split()), inner, max_size=4),
        max_leaves=8,
    )
