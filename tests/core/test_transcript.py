"""A conversation as text: who said what, within a bound."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from ollm_lsp.core.messages import Image, Message, Reasoning, Role, Text
from ollm_lsp.core.tokens import estimate_text
from ollm_lsp.core.tool import ToolCall, ToolResult
from ollm_lsp.core.transcript import shortened, transcript
from tests.core.values import patient

SAID = [
    Message.user(Image("image/png", b"x"), "q" * 40, "q" * 300),
    Message.user("q"),
    Message(Role.ASSISTANT, (Reasoning("hm"), ToolCall("1", "read", {"path": "a" * 30}))),
    Message(Role.TOOL, (ToolResult("1", "read", "r" * 80), ToolResult("2", "list", ""))),
]


def test_every_part_is_told_but_thoughts() -> None:
    told = transcript(
        [
            Message.user("Look.", Image("image/png", b"x")),
            Message(Role.ASSISTANT, (Reasoning("hm"), Text("Yes."), ToolCall("1", "read", {"path": "ä"}))),
            Message(Role.TOOL, (ToolResult("1", "read", "text"), ToolResult("2", "list", "No.", is_error=True))),
            Message(Role.TOOL, (ToolResult("3", "read", "a.png", images=(Image("image/png", b"x"),)),)),
        ],
        1_000,
    )
    assert told.split("\n\n") == [
        "user: Look.\n[image/png]",
        'assistant: Yes.\n[calls read with {"path": "ä"}]',
        "tool: [read gave: text]\n[list failed: No.]",
        "tool: [read gave: a.png [image/png]]",
    ]


def test_a_long_part_loses_its_middle() -> None:
    told = transcript([Message.user("begin" + "x" * 10_000 + "end"), Message.user("short")], 200)
    assert told.startswith("user: beginxxx")
    assert "xxx\n[…]\nxxx" in told
    assert told.endswith("xxxend\n\nuser: short")


def test_the_first_message_and_the_newest_are_kept() -> None:
    told = transcript([Message.user(f"message {number}") for number in range(100)], 50)
    assert told.startswith("user: message 0\n\n[…]\n\nuser: message ")
    assert told.endswith("\n\nuser: message 98\n\nuser: message 99")


@patient
@given(st.lists(st.sampled_from(SAID), max_size=8), st.integers(0, 60))
def test_it_is_never_longer_than_its_bound(said: list[Message], tokens: int) -> None:
    assert estimate_text(transcript(said, tokens)) <= tokens


@patient
@given(st.text("ab", max_size=30), st.integers(0, 40))
def test_a_text_is_shortened_only_when_it_is_too_long(text: str, size: int) -> None:
    short = shortened(text, size)
    assert len(short) <= size
    assert (short == text) == (len(text) <= size)
