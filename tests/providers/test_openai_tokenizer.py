"""The tokens of OpenAI's models, counted without a network."""

from __future__ import annotations

import socket
from typing import Any, NoReturn

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ollm_lsp.core.messages import Image, Message, Reasoning, Role, Text
from ollm_lsp.core.request import ChatRequest
from ollm_lsp.core.tokens import IMAGE_TOKENS, most
from ollm_lsp.core.tool import ToolCall, ToolResult, ToolSpec
from ollm_lsp.providers import openai_tokenizer
from ollm_lsp.providers.openai_tokenizer import ANSWER_TOKENS, MESSAGE_TOKENS, count, is_openai_model, window_of
from tests.core.values import patient
from tests.providers import sendable

AROUND = MESSAGE_TOKENS + ANSWER_TOKENS
"""What a single message has around it."""


def tokens(text: str, model: str = "gpt-4o") -> int:
    return count(ChatRequest(model, (Message.user(text),))) - AROUND


@pytest.mark.prop("core-23")
@pytest.mark.parametrize(
    ("model", "text", "expected"),
    [
        ("gpt-4o", "hello world", 2),
        ("gpt-4", "hello world", 2),
        ("gpt-4o", "antidisestablishmentarianism", 6),
        ("gpt-4o", "お誕生日おめでとう", 8),
        ("gpt-4", "お誕生日おめでとう", 9),
        ("ft:gpt-4o-mini:me::1", "お誕生日おめでとう", 8),
        ("gpt-5-mini", "def main() -> None:\n    pass\n", 9),
        ("gpt-4o", "", 0),
        ("gpt-4o", "\ud800", 1),
    ],
)
def test_a_text_has_the_tokens_that_openai_counts(model: str, text: str, expected: int) -> None:
    assert tokens(text, model) == expected


@pytest.mark.threat("T32")
def test_nothing_is_fetched(monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(*_: Any, **__: Any) -> NoReturn:
        raise AssertionError("the network was asked")

    openai_tokenizer.tokenizer.cache_clear()
    monkeypatch.setattr(socket, "socket", refuse)
    monkeypatch.setattr(socket, "getaddrinfo", refuse)
    assert tokens("hello world") == 2
    assert tokens("hello world", "gpt-4") == 2


def test_every_kind_of_part_counts() -> None:
    call = ToolCall("1", "read", {"path": "hello world"})
    tool = ToolSpec("read", "hello world", {"type": "object"})
    messages = (
        Message.user("hello world", Image("image/png", b"x")),
        Message(Role.ASSISTANT, (Reasoning("is not sent"), Text("hello world"), call)),
        Message(Role.TOOL, (ToolResult("1", "read", "hello world"),)),
    )
    alone = [count(ChatRequest("gpt-4o", (message,))) - AROUND for message in messages]
    assert alone == [2 + IMAGE_TOKENS, 2 + tokens('read{"path": "hello world"}'), 2]
    whole = ChatRequest("gpt-4o", messages, (tool,))
    told = tokens('["read", "hello world", {"type": "object"}]')
    assert count(whole) == sum(alone) + told + 3 * MESSAGE_TOKENS + ANSWER_TOKENS


@patient
@given(sendable.requests)
def test_any_request_is_counted_and_never_more_than_the_most(request: ChatRequest) -> None:
    assert AROUND <= count(request) <= most(request) + ANSWER_TOKENS


@patient
@given(st.text(max_size=30), st.integers(1, 30))
def test_a_word_without_an_end_is_counted_in_time(piece: str, times: int) -> None:
    word = piece.replace(" ", "") * 10 * times
    assert tokens(word) <= max(1, len(word.encode("utf-8", "replace")))


@pytest.mark.threat("T30")
def test_a_megabyte_without_a_blank_is_no_trap() -> None:
    # By a tokenizer whose time grows with the square of a word, it would outlast the test.
    assert tokens("x" * 1_000_000) < 300_000


@pytest.mark.parametrize(
    ("model", "is_ours", "window"),
    [
        ("gpt-4o-2024-08-06", True, 128_000),
        ("gpt-4.1-mini", True, 1_047_576),
        ("gpt-4", True, 8_192),
        ("gpt-4-turbo", True, 128_000),
        ("gpt-3.5-turbo", True, 16_385),
        ("gpt-5-mini", True, 400_000),
        ("o1-mini", True, 128_000),
        ("o1", True, 200_000),
        ("o4-mini", True, 200_000),
        ("ft:gpt-4o-mini:me::1", True, 128_000),
        ("chatgpt-4o-latest", True, 128_000),
        ("gpt-oss-20b", False, None),
        ("qwen3", False, None),
        ("", False, None),
    ],
)
def test_openai_s_models_are_known_with_their_windows(model: str, is_ours: bool, window: int | None) -> None:
    assert (is_openai_model(model), window_of(model)) == (is_ours, window)
