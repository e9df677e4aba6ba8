"""Repair: whatever was stored or cut short, the history is a valid request again."""

from __future__ import annotations

from collections import Counter

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from ollm_lsp.core.messages import Message, Role, Text
from ollm_lsp.core.repair import NO_RESULT, calls_of, no_result, repaired
from ollm_lsp.core.tool import ToolCall, ToolResult
from tests.core.values import messages, patient
from tests.support.history import assert_valid

READ, LIST = ToolCall("1", "read", {"path": "a"}), ToolCall("2", "list", {})
ASKED, CALLED = Message.user("why?"), Message(Role.ASSISTANT, (Text("I look."), READ, LIST))
THERE, HERE = ToolResult("1", "read", "text"), ToolResult("2", "list", "a b")


def answered(*results: ToolResult) -> Message:
    return Message(Role.TOOL, results)


@pytest.mark.threat("F49")
@pytest.mark.prop("core-30")
@patient
@given(st.lists(messages, max_size=8))
@example([CALLED, answered(HERE)])
def test_any_messages_become_a_history_that_every_wire_accepts(said: list[Message]) -> None:
    history = repaired(said)
    assert_valid(history)
    assert repaired(history) == history


@pytest.mark.threat("F49")
@pytest.mark.prop("core-30")
@patient
@given(st.lists(messages, max_size=8))
def test_nothing_but_results_is_added_or_dropped_and_no_result_is_made_up(said: list[Message]) -> None:
    history = repaired(said)
    assert [message for message in history if message.role is not Role.TOOL] == [
        message for message in said if message.role is not Role.TOOL
    ]
    texts = Counter(part.text for message in said for part in message.parts if isinstance(part, ToolResult))
    kept = Counter(part.text for message in history for part in message.parts if isinstance(part, ToolResult))
    del kept[NO_RESULT]
    assert kept <= texts


@pytest.mark.threat("F49")
@pytest.mark.prop("core-8")
@pytest.mark.parametrize(
    ("broken", "whole"),
    [
        ([ASKED, CALLED, answered(THERE, HERE)], [ASKED, CALLED, answered(THERE, HERE)]),
        ([ASKED, CALLED], [ASKED, CALLED, answered(no_result(READ), no_result(LIST))]),
        ([CALLED, ASKED], [CALLED, answered(no_result(READ), no_result(LIST)), ASKED]),
        ([CALLED, answered(HERE)], [CALLED, answered(no_result(READ), HERE)]),
        ([CALLED, answered(HERE), answered(THERE)], [CALLED, answered(THERE, HERE)]),
        ([CALLED, answered(THERE, THERE, HERE)], [CALLED, answered(THERE, HERE)]),
        ([CALLED, ASKED, answered(THERE, HERE)], [CALLED, answered(no_result(READ), no_result(LIST)), ASKED]),
        ([ASKED, answered(THERE)], [ASKED]),
        ([answered(THERE)], []),
        ([], []),
    ],
)
def test_calls_get_their_results_in_their_order(broken: list[Message], whole: list[Message]) -> None:
    assert list(repaired(broken)) == whole


def test_a_call_id_that_was_made_up_twice_is_answered_twice() -> None:
    twice = Message(Role.ASSISTANT, (READ, READ))
    first, second = ToolResult("1", "read", "first"), ToolResult("1", "read", "second")
    assert repaired([twice, answered(first, second)]) == (twice, answered(first, second))
    assert repaired([twice, answered(first)]) == (twice, answered(first, no_result(READ)))
    assert calls_of(twice) == (READ, READ)


def test_the_model_is_told_that_a_call_has_no_result() -> None:
    result = no_result(READ)
    assert (result.call_id, result.name, result.is_error) == ("1", "read", True)
    assert "no result" in result.text
