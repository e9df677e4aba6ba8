"""Briefings: the goal always whole, never more than fits, and everything that helps as far as it does."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ollm_lsp.core.errors import ContextOverflow
from ollm_lsp.core.messages import Message, Role, Text
from ollm_lsp.core.tokens import estimate_text
from ollm_lsp.core.tool import ToolCall, ToolResult
from ollm_lsp.kraken.briefing import Matters, Piece, brief
from tests.core.values import patient

CALL = ToolCall("1", "edit_file", {"path": "app.py"})
HISTORY = (
    Message.user("What is wrong?"),
    Message(Role.ASSISTANT, (Text("I look."), CALL)),
    Message(Role.TOOL, (ToolResult("1", "edit_file", "There is no such text.", is_error=True),)),
    Message(Role.ASSISTANT, (Text("I do not know."),)),
)
PIECES = (Piece("/p/app.py", "app.py:\n```\nx = 1\n```\n\n"), Piece("diagnostics", "- app.py line 1: no\n"))
texts = st.text(max_size=400)
roles = st.sampled_from([Role.USER, Role.ASSISTANT])
messages = st.builds(Message, roles, st.tuples(st.builds(Text, texts)))
matters = st.builds(
    Matters,
    texts,
    texts,
    st.lists(messages, max_size=8).map(tuple) | st.just(HISTORY),
    st.lists(st.builds(Piece, st.just("f"), texts), max_size=5).map(tuple),
    texts,
)


@pytest.mark.prop("krk-19")
@pytest.mark.prop("krk-21")
@patient
@given(matters, st.integers(1, 2_000), st.booleans())
def test_a_briefing_never_has_more_than_fits_and_always_the_whole_goal(
    matters: Matters, limit: int, inherits: bool
) -> None:
    if estimate_text(matters.goal) > limit:
        with pytest.raises(ContextOverflow):
            brief(matters, limit, inherits=inherits)
        return
    briefing = brief(matters, limit, inherits=inherits)
    assert briefing.tokens <= limit
    assert matters.goal in briefing.text


@pytest.mark.prop("krk-19")
@pytest.mark.prop("krk-20")
def test_a_briefing_tells_everything_when_there_is_room() -> None:
    briefing = brief(Matters("Mend it.", "The local model failed.", HISTORY, PIECES, "No images."), 5_000)
    order = [
        "# The task\n\nMend it.",
        "## Why you are asked\n\nThe local model failed.",
        "## What is missing here\n\nNo images.",
        "## What failed",
        "There is no such text.",
        "## What the editor shows",
        "x = 1",
        "- app.py line 1: no",
        "## What was said before",
        "What is wrong?",
        "I do not know.",
    ]
    places = [briefing.text.index(text) for text in order]
    assert places == sorted(places)
    assert briefing.shared == (
        "your prompt",
        "tool calls that failed",
        "/p/app.py",
        "diagnostics",
        "4 messages of this conversation",
    )


@pytest.mark.prop("krk-24")
@given(matters)
def test_without_inheritance_there_is_the_prompt_and_nothing_else(matters: Matters) -> None:
    briefing = brief(matters, 10_000, inherits=False)
    assert (briefing.text, briefing.shared) == (matters.goal, ("your prompt",))


@pytest.mark.prop("krk-21")
def test_of_a_long_history_the_newest_is_told() -> None:
    history = tuple(Message.user(f"message number {number} of many") for number in range(500))
    briefing = brief(Matters("Mend it.", history=history), 200)
    assert "message number 499" in briefing.text
    assert "message number 250 " not in briefing.text


def test_a_file_that_does_not_fit_is_left_out_and_not_said_to_be_shared() -> None:
    pieces = (Piece("big", "x" * 10_000), Piece("small", "y = 1\n"))
    briefing = brief(Matters("Mend it.", pieces=pieces), 300)
    assert briefing.shared == ("your prompt", "small")
    assert "xxxx" not in briefing.text
