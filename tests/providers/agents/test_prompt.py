"""A request as one text: everything is in it, and nothing is shortened."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from ollm_lsp.core.messages import Message, Role, Text
from ollm_lsp.core.tool import ToolCall, ToolResult
from ollm_lsp.providers.agents.prompt import prompt

texts = st.text(st.characters(exclude_categories=["Cs"]), min_size=1)


def answered(text: str) -> Message:
    return Message(Role.ASSISTANT, (Text(text),))


def test_one_question_is_the_prompt_as_it_is() -> None:
    assert prompt([Message.user("What is 2+2?")]) == b"What is 2+2?"


def test_a_conversation_is_told_with_who_said_what() -> None:
    called = Message(Role.ASSISTANT, (Text("I look."), ToolCall("1", "read_file", {"path": "a.py"})))
    result = Message(Role.TOOL, (ToolResult("1", "read_file", "x = 1"),))
    told = prompt(
        [Message.system("Be brief."), Message.user("Why?"), called, result, answered("So."), Message.user("Oh?")]
    )
    assert told.decode().split("\n\n") == [
        "Be brief.",
        "# The conversation so far",
        "## User",
        "Why?",
        "## Assistant",
        'I look.\n[calls read_file with {"path": "a.py"}]',
        "## Tool results",
        "[read_file gave: x = 1]",
        "## Assistant",
        "So.",
        "# Now",
        "Oh?",
    ]


@given(st.lists(texts, min_size=1, max_size=5), texts)
def test_every_word_arrives_in_its_order(said: list[str], newest: str) -> None:
    messages = [Message.user(text) if at % 2 == 0 else answered(text) for at, text in enumerate(said)]
    told = prompt([*messages, Message.user(newest)]).decode()
    at = 0
    for text in (*said, newest):
        at = told.index(text, at) + len(text)
    assert told.endswith(newest)


def test_half_characters_are_replaced() -> None:
    assert prompt([Message.user("a\ud800b")]) == "a\N{REPLACEMENT CHARACTER}b".encode()
