"""Tokens: counted without a tokenizer, warned about in time, refused when they cannot fit."""

from __future__ import annotations

import json
from math import ceil
from typing import TYPE_CHECKING

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from ollm_lsp.core.errors import ContextOverflow
from ollm_lsp.core.messages import Image, Message, Reasoning, Role, Text
from ollm_lsp.core.tokens import (
    DEFAULT_LIMIT,
    IMAGE_TOKENS,
    MESSAGE_TOKENS,
    MIN_SHARE,
    answer_reserve,
    chars_left,
    check_fit,
    estimate,
    estimate_text,
    estimate_tools,
)
from ollm_lsp.core.tool import ToolCall, ToolResult, ToolSpec
from tests.core.values import messages, patient

if TYPE_CHECKING:
    from ollm_lsp.core.messages import Part

limits = st.integers(1, 2_000_000)


@pytest.mark.prop("core-24")
@patient
@given(st.text(max_size=200))
@example("")
@example("abcd")
@example("abcde")
@example("😀" * 5)
def test_a_text_is_a_token_for_every_four_characters_begun(text: str) -> None:
    assert estimate_text(text) == ceil(len(text) / 4)


@pytest.mark.prop("core-22")
@patient
@given(st.lists(messages, min_size=1, max_size=5))
def test_messages_are_a_positive_number_of_tokens_and_the_sum_of_each(said: list[Message]) -> None:
    assert estimate(said) == sum(estimate([message]) for message in said) > 0


@pytest.mark.prop("core-22")
@patient
@given(st.lists(messages, max_size=4), messages, st.text(max_size=40), st.text(max_size=40))
def test_more_is_never_fewer_tokens(said: list[Message], more: Message, text: str, longer: str) -> None:
    assert estimate([*said, more]) > estimate(said)
    assert estimate_text(text + longer) >= estimate_text(text)
    assert estimate([Message.user(text, longer)]) >= estimate([Message.user(text)])


@pytest.mark.prop("core-22")
@pytest.mark.parametrize(
    ("role", "part", "tokens"),
    [
        (Role.USER, Text("12345678"), 2),
        (Role.USER, Image("image/png", b"x" * 100_000), IMAGE_TOKENS),
        (Role.ASSISTANT, Reasoning("12345678"), 2),
        (Role.TOOL, ToolResult("id", "name", "12345678"), 2),
        (Role.TOOL, ToolResult("id", "name", "1234", images=(Image("image/png", b"x"),) * 2), 1 + 2 * IMAGE_TOKENS),
    ],
)
def test_every_kind_of_part_counts(role: Role, part: Part, tokens: int) -> None:
    assert estimate([Message(role, (part,))]) == MESSAGE_TOKENS + tokens


@pytest.mark.prop("core-22")
def test_a_tool_call_counts_with_its_arguments() -> None:
    arguments = {"path": "a" * 400}
    call = Message(Role.ASSISTANT, (ToolCall("id", "read", arguments),))
    assert estimate([call]) == MESSAGE_TOKENS + estimate_text("read" + json.dumps(arguments))


@pytest.mark.prop("core-25")
@pytest.mark.prop("core-26")
@patient
@given(limits, st.data())
def test_a_request_passes_below_nine_tenths_warns_from_there_and_is_refused_above_the_limit(
    limit: int, data: st.DataObject
) -> None:
    tokens = data.draw(st.integers(0, limit * 2) | st.integers(limit * 9 // 10 - 1, limit + 1).map(lambda n: max(n, 0)))
    if tokens > limit:
        with pytest.raises(ContextOverflow) as refused:
            check_fit(tokens, limit)
        assert f"{tokens:,} tokens" in refused.value.message
        assert f"at most {limit:,}" in refused.value.message
        assert refused.value.remedy
    elif tokens / limit >= 0.9:
        warning = check_fit(tokens, limit)
        assert warning is not None
        assert warning.code == "context_nearly_full"
        assert f"{tokens * 100 // limit} %" in warning.message
        assert f"{limit:,}" in warning.message
        assert warning.remedy
    else:
        assert check_fit(tokens, limit) is None


@pytest.mark.prop("core-25")
@pytest.mark.prop("core-26")
@pytest.mark.parametrize(("tokens", "heard"), [(899, None), (900, "90 %"), (1000, "100 %"), (1001, "1,001 tokens")])
def test_the_borders_are_exact(tokens: int, heard: str | None) -> None:
    try:
        warning = check_fit(tokens, 1000)
        message = warning.message if warning else None
    except ContextOverflow as error:
        message = error.message
    assert message is None if heard is None else message is not None and heard in message


@patient
@given(limits)
def test_the_answer_is_left_some_room_but_never_most_of_it(limit: int) -> None:
    assert 1 <= answer_reserve(limit) <= max(1, limit // 4)
    assert answer_reserve(limit) <= 4_096


@patient
@given(limits, st.integers(0, 2_000_000), st.integers(1, 50))
def test_texts_that_are_no_longer_than_what_is_left_fit_with_room_for_the_answer(
    limit: int, tokens: int, shares: int
) -> None:
    chars = chars_left(tokens, limit, shares)
    assert chars >= MIN_SHARE
    if chars > MIN_SHARE:
        assert tokens + chars * shares // 4 + answer_reserve(limit) <= limit


def test_tools_count_with_all_that_the_model_is_told_about_them() -> None:
    small, large = ToolSpec("read", "Reads.", {}), ToolSpec("read", "Reads.", {"description": "x" * 400})
    assert estimate_tools([small]) == MESSAGE_TOKENS + estimate_text("readReads.{}")
    assert estimate_tools([large]) > estimate_tools([small]) + 100
    assert estimate_tools([small, large]) == estimate_tools([small]) + estimate_tools([large])
    assert estimate_tools([]) == 0


def test_a_model_that_tells_nothing_can_still_be_asked_something() -> None:
    assert check_fit(DEFAULT_LIMIT // 2, DEFAULT_LIMIT) is None
