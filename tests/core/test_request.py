"""A request: what cannot be one, and what a model cannot do."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from ollm_lsp.core.errors import InvalidMessage, Unsupported
from ollm_lsp.core.messages import Image, Message, Role
from ollm_lsp.core.model import Capabilities
from ollm_lsp.core.request import ChatRequest
from ollm_lsp.core.tool import OneTool, ToolChoice, ToolResult, ToolSpec

ASKED = (Message.user("why?"),)
READ = ToolSpec("read", "Reads.", {"type": "object"})
PICTURE = (Message.user("what?", Image("image/png", b"x")),)
GIVEN = (Message(Role.TOOL, (ToolResult("1", "read", "a.png", images=(Image("image/png", b"x"),)),)),)


@pytest.mark.prop("core-31")
@pytest.mark.parametrize(
    "wrong",
    [
        {"model": ""},
        {"messages": ()},
        {"tools": (READ, READ)},
        {"tool_choice": ToolChoice.REQUIRED},
        {"tool_choice": OneTool("write"), "tools": (READ,)},
    ],
    ids=str,
)
def test_what_no_provider_could_take_cannot_be_asked(wrong: dict[str, Any]) -> None:
    with pytest.raises(InvalidMessage):
        replace(ChatRequest("m", ASKED), **wrong)


@pytest.mark.prop("core-14")
@pytest.mark.prop("eng-1")
@pytest.mark.parametrize(
    ("request_", "lacking", "words"),
    [
        (ChatRequest("m", PICTURE), Capabilities(tools=True), "images"),
        (ChatRequest("m", GIVEN), Capabilities(tools=True), "images"),
        (ChatRequest("m", ASKED, tools=(READ,)), Capabilities(vision=True), "tools"),
    ],
)
def test_what_a_model_cannot_do_is_refused_with_its_name(
    request_: ChatRequest, lacking: Capabilities, words: str
) -> None:
    with pytest.raises(Unsupported) as refused:
        request_.check(lacking)
    assert words in refused.value.message
    assert "'m'" in refused.value.message
    assert refused.value.remedy
    request_.check(Capabilities(tools=True, vision=True))
