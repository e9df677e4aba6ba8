"""Params from clients: strict about types, forgiving about null and about what we do not know."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ollm_lsp.lsp import protocol, standard
from ollm_lsp.lsp.buffer import Position, Range
from ollm_lsp.lsp.from_wire import InvalidParams, structure
from ollm_lsp.lsp.server import AT_ONCE, IN_TASKS

KINDS = [kind for kind, _ in (*AT_ONCE.values(), *IN_TASKS.values())]
JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=5),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(
            st.sampled_from(
                ["text", "context", "uri", "range", "start", "textDocument", "contentChanges", "capabilities"]
            )
            | st.text(max_size=3),
            inner,
            max_size=4,
        )
    ),
    max_leaves=20,
)


@given(JSON, st.sampled_from(KINDS))
def test_any_value_gives_params_or_a_reason(value: Any, kind: type[Any]) -> None:
    reason, params = "", None
    try:
        params = structure(value, kind)
    except InvalidParams as error:
        reason = str(error)
    assert "params" in reason or isinstance(params, kind)


def test_null_is_the_same_as_absent_and_unknown_fields_are_skipped() -> None:
    value = {"text": "x", "context": {"uri": None, "files": None, "more": 1}, "model": None, "later": [1]}
    assert structure(value, protocol.ChatSendParams) == protocol.ChatSendParams("x", context=protocol.ChatContext())


def test_a_whole_edit_is_read() -> None:
    value = {
        "textDocument": {"uri": "file:///a", "version": 3},
        "contentChanges": [
            {"range": {"start": {"line": 1, "character": 2}, "end": {"line": 3, "character": 4}}, "text": "x"},
            {"text": "all"},
        ],
    }
    params = structure(value, standard.DidChangeParams)
    assert params.text_document == standard.VersionedIdentifier("file:///a", 3)
    assert params.content_changes == [
        standard.ContentChange("x", Range(Position(1, 2), Position(3, 4))),
        standard.ContentChange("all"),
    ]


@pytest.mark.parametrize("value", [None, {}, [], [None], 5, "x"])
def test_a_method_without_params_takes_whatever_a_client_sends(value: Any) -> None:
    assert structure(value, standard.NoParams) == standard.NoParams()


@pytest.mark.parametrize(
    ("value", "where"),
    [
        ({"text": 1}, "params.text"),
        ({"text": "x", "context": {"files": [1]}}, "params.context.files"),
        ({"text": "x", "context": {"range": {"start": {"line": True}}}}, "params.context.range.start"),
    ],
)
def test_the_message_names_the_place(value: Any, where: str) -> None:
    with pytest.raises(InvalidParams) as error:
        structure(value, protocol.ChatSendParams)
    assert where in str(error.value)


@pytest.mark.parametrize(
    ("value", "kind", "words"),
    [
        ({"text": " "}, protocol.ChatSendParams, "text is empty @ params"),
        ({"text": 5}, protocol.ChatSendParams, "expected a string @ params.text"),
        ({"text": "x", "maxTurns": 0}, protocol.ReleaseParams, "maxTurns is less than one @ params"),
        ({"limit": -1}, protocol.HistoryParams, "limit is negative @ params"),
        ({"limit": "x"}, protocol.HistoryParams, "expected an integer @ params.limit"),
        ([1], protocol.HistoryParams, "expected an object @ params"),
        ({}, protocol.ConversationParams, "required field missing @ params.conversationId"),
    ],
)
def test_the_message_says_what_does_not_fit(value: Any, kind: type[Any], words: str) -> None:
    with pytest.raises(InvalidParams) as error:
        structure(value, kind)
    assert str(error.value) == words


def test_true_is_no_number() -> None:
    with pytest.raises(InvalidParams, match="limit"):
        structure({"limit": True}, protocol.HistoryParams)
