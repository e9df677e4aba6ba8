"""Extra parameters: any JSON, except what the conversation decides."""

from __future__ import annotations

import json
from datetime import date
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ollm_lsp.core.errors import SettingsError
from ollm_lsp.settings.extra import DEEPEST, check_extra
from tests.settings.raw import patient, scalars

JSON: Any = st.recursive(
    st.one_of(st.none(), st.booleans(), st.integers(-(2**63), 2**63), st.floats(allow_nan=False, allow_infinity=False)),
    lambda inner: st.one_of(st.lists(inner, max_size=3), st.dictionaries(st.text(max_size=5), inner, max_size=3)),
    max_leaves=6,
)


@pytest.mark.prop("eng-5")
@patient
@given(st.dictionaries(st.text(max_size=5).map(lambda name: f"x_{name}"), JSON, max_size=2))
def test_any_json_is_taken(members: dict[str, Any]) -> None:
    check_extra(members)
    assert json.loads(json.dumps(members)) == members


@patient
@given(st.dictionaries(st.text(max_size=5), st.one_of(scalars, st.lists(scalars, max_size=2)), max_size=3))
def test_what_is_taken_can_always_be_sent(members: dict[str, Any]) -> None:
    try:
        check_extra(members)
    except SettingsError:
        return
    assert json.loads(json.dumps(members, allow_nan=False, ensure_ascii=False).encode()) == members


@pytest.mark.parametrize("name", ["messages", "model", "stream", "tools", "tool_choice", "contents", "system", "n"])
def test_what_the_conversation_decides_is_refused(name: str) -> None:
    with pytest.raises(SettingsError, match=f"itself writes {name} ") as refused:
        check_extra({"top_k": 1, name: None})
    assert "Leave it out" in refused.value.remedy


@pytest.mark.parametrize(
    "value", [float("nan"), float("inf"), 2**64, 10**400, date(2020, 1, 1), b"x", {1: 2}, "\ud800"]
)
def test_what_is_no_json_is_refused_at_any_depth(value: object) -> None:
    for members in ({"a": value}, {"a": [{"b": value}]}):
        with pytest.raises(SettingsError, match="cannot hold"):
            check_extra(members)


def test_a_value_that_holds_itself_or_is_too_deep_is_refused() -> None:
    endless: list[Any] = []
    endless.append(endless)
    deep: Any = 1
    for _ in range(DEEPEST):
        deep = [deep]
    for members in ({"a": endless}, {"a": deep}):
        with pytest.raises(SettingsError, match="cannot hold"):
            check_extra(members)
    check_extra({"a": deep[0]})
