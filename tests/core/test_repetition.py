"""Repetition: a model that goes in circles is noticed, one that gets on is not."""

from __future__ import annotations

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ollm_lsp.core.image import Image
from ollm_lsp.core.repetition import PATIENCE, Repetition
from ollm_lsp.core.tool import ToolCall, ToolResult
from tests.core.values import patient

Outcome = tuple[ToolCall, ToolResult]


def outcome(name: str, text: str = "same", *, is_error: bool = False, **arguments: int) -> Outcome:
    return ToolCall("call_0", name, arguments), ToolResult("call_0", name, text, is_error)


def watched(*turns: list[Outcome]) -> list[str]:
    """What is thought of the model after each turn."""
    repetition, thoughts = Repetition(), list[str]()
    for turn in turns:
        repetition.add(turn)
        assert repetition.is_worth_a_word >= repetition.is_hopeless
        thoughts.append("end" if repetition.is_hopeless else "tell" if repetition.is_worth_a_word else "")
    return thoughts


@pytest.mark.threat("T29", "F39")
@pytest.mark.prop("core-9")
def test_the_third_identical_call_is_worth_a_word_and_the_fourth_is_the_end() -> None:
    assert watched(*[[outcome("read", path=1)]] * 4) == ["", "", "tell", "end"]


@pytest.mark.threat("T29", "F39")
def test_a_circle_of_several_calls_is_a_circle_too() -> None:
    there, back = [outcome("read", path=1)], [outcome("read", path=2)]
    assert watched(there, back, there, back, there) == ["", "", "", "tell", "end"]


def test_another_image_is_progress() -> None:
    turns = [
        [(call, replace(result, images=(Image("image/png", data),)))]
        for call, result in [outcome("read", path=1)]
        for data in (b"1", b"2", b"3", b"3", b"3")
    ]
    assert watched(*turns) == ["", "", "", "", "tell"]


def test_the_order_of_keys_makes_no_other_call() -> None:
    one, other = ToolCall("1", "a", {"x": 1, "y": 2}), ToolCall("2", "a", {"y": 2, "x": 1})
    result = ToolResult("1", "a", "same")
    assert watched([(one, result)], [(other, result)], [(one, result)]) == ["", "", "tell"]


@pytest.mark.parametrize(
    "news",
    [
        outcome("read", "other", path=1),
        outcome("read", is_error=True, path=1),
        outcome("read", path=2),
        outcome("list", path=1),
    ],
)
def test_anything_new_is_progress(news: Outcome) -> None:
    old = outcome("read", path=1)
    assert watched([old], [old], [old, news], [old], [old], [old]) == ["", "", "", "", "tell", "end"]


@patient
@given(st.lists(st.lists(st.builds(outcome, st.sampled_from("ab"), st.sampled_from("xy")), min_size=1), max_size=12))
def test_the_model_is_told_exactly_after_turns_that_brought_nothing_new(turns: list[list[Outcome]]) -> None:
    def facts(turn: list[Outcome]) -> set[tuple[str, str]]:
        return {(call.name, result.text) for call, result in turn}

    idle = [facts(turn) <= set[tuple[str, str]]().union(*map(facts, turns[:n])) for n, turn in enumerate(turns)]
    for number, thought in enumerate(watched(*turns)):
        streak = next((length for length in range(number + 1) if not idle[number - length]), number + 1)
        assert thought == ("end" if streak > PATIENCE else "tell" if streak == PATIENCE else "")
