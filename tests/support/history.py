"""Whether a history can be sent: by its parts, and as every wire writes it."""

from __future__ import annotations

import json
from functools import partial
from itertools import pairwise
from typing import TYPE_CHECKING, Any

from ollm_lsp.core.messages import Role
from ollm_lsp.core.request import ChatRequest
from ollm_lsp.core.tool import ToolCall, ToolResult
from ollm_lsp.providers.wire import anthropic_messages, google_generate, ollama_chat, openai_chat

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from ollm_lsp.core.messages import Message


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
        request = ChatRequest("m", tuple(messages))
        for encode, judge in WIRES:
            judge(json.loads(json.dumps(encode(request), ensure_ascii=False).encode()))


def _judge_messages(body: dict[str, Any]) -> None:
    """Chat Completions and Ollama: a message for each result, in the order of the calls."""
    owed: list[str] = []
    for message in body["messages"]:
        if message["role"] == "tool":
            assert message["tool_call_id"] == owed.pop(0)
        else:
            assert owed == []
            owed = [call["id"] for call in message.get("tool_calls", ())]
    assert owed == []


def _judge_blocks(body: dict[str, Any]) -> None:
    """Anthropic: roles take turns, and the message after calls begins with their results."""
    roles = [message["role"] for message in body["messages"]]
    assert all(before != after for before, after in pairwise(roles))
    owed: list[str] = []
    for message in body["messages"]:
        blocks: list[dict[str, Any]] = message["content"]
        results = [block["tool_use_id"] for block in blocks if block["type"] == "tool_result"]
        assert results == owed
        assert [block["type"] for block in blocks[: len(results)]] == ["tool_result"] * len(results)
        owed = [block["id"] for block in blocks if block["type"] == "tool_use"]
    assert owed == []


def _judge_contents(body: dict[str, Any]) -> None:
    """Google: as many responses as calls, in the same order, and nothing else beside them."""
    owed: list[str] = []
    for content in body["contents"]:
        parts: list[dict[str, Any]] = content["parts"]
        responses = [part["functionResponse"]["name"] for part in parts if "functionResponse" in part]
        assert responses == owed
        owed = [part["functionCall"]["name"] for part in parts if "functionCall" in part]
    assert owed == []


WIRES: tuple[tuple[Callable[[ChatRequest], Any], Callable[[dict[str, Any]], None]], ...] = (
    (openai_chat.encode, _judge_messages),
    (ollama_chat.encode, _judge_messages),
    (partial(anthropic_messages.encode, max_tokens=1), _judge_blocks),
    (google_generate.encode, _judge_contents),
)
