"""Whether a history can be sent: by its parts, and as every wire writes it."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from ollm_lsp.core.messages import Role
from ollm_lsp.core.request import ChatRequest
from ollm_lsp.core.tool import ToolCall, ToolResult
from ollm_lsp.providers.wire import ollama_chat, openai_chat

if TYPE_CHECKING:
    from collections.abc import Sequence

    from ollm_lsp.core.messages import Message

WIRES = (openai_chat, ollama_chat)


def assert_valid(messages: Sequence[Message]) -> None:
    """Each call is followed by its result, and nothing else is a result: in our values and on every wire."""
    owed: list[tuple[str, str]] = []
    for message in messages:
        if message.role is Role.TOOL:
            results = [part for part in message.parts if isinstance(part, ToolResult)]
            assert [(result.call_id, result.name) for result in results] == owed
            owed = []
        else:
            assert owed == [], "a call without a result"
            owed = [(part.id, part.name) for part in message.parts if isinstance(part, ToolCall)]
    assert owed == [], "a call without a result"
    if messages:
        for wire in WIRES:
            body = json.loads(json.dumps(wire.encode(ChatRequest("m", tuple(messages))), ensure_ascii=False).encode())
            _assert_valid_on_the_wire(body["messages"])


def _assert_valid_on_the_wire(messages: list[dict[str, Any]]) -> None:
    owed: list[str] = []
    for message in messages:
        if message["role"] == "tool":
            assert message["tool_call_id"] == owed.pop(0)
        else:
            assert owed == []
            owed = [call["id"] for call in message.get("tool_calls", ())]
    assert owed == []
