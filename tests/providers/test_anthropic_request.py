"""Requests in the Messages format: accepted by Anthropic's own types, and without loss."""

from __future__ import annotations

import base64
import json
from functools import cache
from typing import TYPE_CHECKING, Any, cast

import pytest
from anthropic.types.message_create_params import MessageCreateParamsStreaming
from hypothesis import given
from hypothesis import strategies as st
from pydantic import TypeAdapter

from ollm_lsp.core.messages import Image, Message, Reasoning, Role, Text
from ollm_lsp.core.request import ChatRequest
from ollm_lsp.core.tool import OneTool, ToolCall, ToolChoice, ToolResult, ToolSpec
from ollm_lsp.providers.wire.anthropic_messages import WORTH_CACHING, encode
from tests.core.values import patient
from tests.providers import sendable

if TYPE_CHECKING:
    from collections.abc import Iterable

    from ollm_lsp.core.messages import Part

IMAGE = Image("image/webp", b"RIFF\x00")
SOURCE = {"type": "base64", "media_type": "image/webp", "data": base64.b64encode(IMAGE.data).decode()}
READ = ToolCall("c1", "read", {"path": "é.py", "n": [1, None, 2.5]})
WIRE_READ = {"type": "tool_use", "id": "c1", "name": "read", "input": {"path": "é.py", "n": [1, None, 2.5]}}
TOOL = ToolSpec("read", "Reads", {"type": "object", "properties": {}})


def body(*messages: Message, **more: Any) -> dict[str, Any]:
    return encode(ChatRequest("m", messages, **more), max_tokens=4096)


def spoken(*parts: Any) -> Message:
    return Message(Role.ASSISTANT, parts)


ENCODED: dict[str, tuple[Message, list[dict[str, Any]]]] = {
    "user": (Message.user("Hi"), [{"type": "text", "text": "Hi"}]),
    "texts of nothing are not sent": (Message.user("", "Hi", " \n"), [{"type": "text", "text": "Hi"}]),
    "image": (
        Message.user("See", IMAGE),
        [{"type": "text", "text": "See"}, {"type": "image", "source": SOURCE}],
    ),
    "assistant": (spoken(Text("Yes")), [{"type": "text", "text": "Yes"}]),
    "thoughts without a signature stay here": (spoken(Reasoning("Hm"), Text("Yes")), [{"type": "text", "text": "Yes"}]),
    "thoughts before their call": (
        spoken(Reasoning("Hm", "s"), Reasoning("", "d", is_redacted=True), READ),
        [
            {"type": "thinking", "thinking": "Hm", "signature": "s"},
            {"type": "redacted_thinking", "data": "d"},
            WIRE_READ,
        ],
    ),
    "thoughts whose words are left out": (
        spoken(Reasoning("", "s"), Text("Yes")),
        [{"type": "thinking", "thinking": "", "signature": "s"}, {"type": "text", "text": "Yes"}],
    ),
    "thoughts at the end are not accepted": (
        spoken(Text("Yes"), Reasoning("Hm", "s")),
        [{"type": "text", "text": "Yes"}],
    ),
    "results": (
        Message(
            Role.TOOL,
            (
                ToolResult("c1", "read", "x = 1"),
                ToolResult("c2", "read", "no", is_error=True),
                ToolResult("c3", "read", ""),
                ToolResult("c4", "read", "", is_error=True),
            ),
        ),
        [
            {"type": "tool_result", "tool_use_id": "c1", "content": "x = 1"},
            {"type": "tool_result", "tool_use_id": "c2", "content": "no", "is_error": True},
            {"type": "tool_result", "tool_use_id": "c3"},
            {
                "type": "tool_result",
                "tool_use_id": "c4",
                "is_error": True,
                "content": "The tool failed and said nothing.",
            },
        ],
    ),
    "images of a tool, in its result": (
        Message(
            Role.TOOL,
            (ToolResult("c1", "read", "a.webp", images=(IMAGE,)), ToolResult("c2", "read", " ", images=(IMAGE,))),
        ),
        [
            {
                "type": "tool_result",
                "tool_use_id": "c1",
                "content": [{"type": "text", "text": "a.webp"}, {"type": "image", "source": SOURCE}],
            },
            {"type": "tool_result", "tool_use_id": "c2", "content": [{"type": "image", "source": SOURCE}]},
        ],
    ),
}


@pytest.mark.prop("core-12")
@pytest.mark.prop("krk-5")
@pytest.mark.parametrize(("message", "content"), ENCODED.values(), ids=ENCODED)
def test_each_kind_of_part_has_its_place_in_the_request(message: Message, content: list[dict[str, Any]]) -> None:
    role = "assistant" if message.role is Role.ASSISTANT else "user"
    assert body(message)["messages"] == [{"role": role, "content": content}]


@pytest.mark.prop("core-14")
def test_a_request_has_the_required_fields_and_no_others() -> None:
    assert body(Message.system("Be brief."), Message.user("Hi")) == {
        "model": "m",
        "max_tokens": 4096,
        "system": [{"type": "text", "text": "Be brief."}],
        "messages": [{"role": "user", "content": [{"type": "text", "text": "Hi"}]}],
        "stream": True,
    }


@pytest.mark.prop("core-14")
def test_the_limit_of_a_request_counts_more_than_that_of_the_model() -> None:
    assert body(Message.user("Hi"), max_tokens=7)["max_tokens"] == 7


def test_a_temperature_is_not_sent_because_newer_models_refuse_it() -> None:
    assert "temperature" not in body(Message.user("Hi"), temperature=0.0)


@pytest.mark.parametrize(
    ("choice", "wire"),
    [
        (ToolChoice.AUTO, None),
        (ToolChoice.NONE, {"type": "none"}),
        (ToolChoice.REQUIRED, {"type": "any"}),
        (OneTool("read"), {"type": "tool", "name": "read"}),
    ],
)
def test_the_choice_of_a_tool_is_sent(choice: ToolChoice | OneTool, wire: Any) -> None:
    assert body(Message.user("Hi"), tools=(TOOL,), tool_choice=choice).get("tool_choice") == wire


def test_a_long_beginning_is_to_be_kept_by_the_server() -> None:
    half = "x" * (WORTH_CACHING // 2)
    tool = ToolSpec("read", half, {"type": "object"})
    kept = [{"type": "text", "text": half, "cache_control": {"type": "ephemeral"}}]
    assert body(Message.system(half), Message.user("Hi"), tools=(tool,))["system"] == kept
    assert "cache_control" not in body(Message.system(half), Message.user("Hi"))["system"][0]


def test_what_one_side_says_in_several_messages_is_one_turn() -> None:
    messages = body(
        Message.user("a"),
        spoken(Reasoning("only thoughts")),
        Message.user("b"),
        spoken(READ),
        Message(Role.TOOL, (ToolResult("c1", "read", "x"),)),
        Message.user("c"),
    )["messages"]
    assert [(turn["role"], [block["type"] for block in turn["content"]]) for turn in messages] == [
        ("user", ["text", "text"]),
        ("assistant", ["tool_use"]),
        ("user", ["tool_result", "text"]),
    ]


def test_ids_of_other_providers_become_ids_that_anthropic_accepts() -> None:
    def turn(call_id: str) -> list[Message]:
        return [
            spoken(ToolCall(call_id, "read", {})),
            Message(Role.TOOL, (ToolResult(call_id, "read", "x"),)),
        ]

    ids = ["call_0", "call_0", "functions.read:0", "été", "call_0", "call_3_1"]
    messages = body(Message.user("Hi"), *(message for call_id in ids for message in turn(call_id)))["messages"]
    calls = [block["id"] for turn in messages for block in turn["content"] if block["type"] == "tool_use"]
    results = [block["tool_use_id"] for turn in messages for block in turn["content"] if block["type"] == "tool_result"]
    assert calls == results
    assert len(set(calls)) == len(ids)
    assert calls[0] == "call_0"
    assert all(call.replace("_", "").replace("-", "").isalnum() and call.isascii() for call in calls)


BUDGET = {"type": "enabled", "budget_tokens": 2000}
RESULT = Message(Role.TOOL, (ToolResult("c1", "read", "x"),))
THINKING: dict[str, tuple[ChatRequest, Any, Any]] = {
    "as wished": (ChatRequest("m", (Message.user("Hi"),)), BUDGET, BUDGET),
    "adaptive": (ChatRequest("m", (Message.user("Hi"),)), {"type": "adaptive"}, {"type": "adaptive"}),
    "less than all tokens": (
        ChatRequest("m", (Message.user("Hi"),), max_tokens=1500),
        BUDGET,
        BUDGET | {"budget_tokens": 1499},
    ),
    "too few tokens": (ChatRequest("m", (Message.user("Hi"),), max_tokens=1024), BUDGET, None),
    "not with a tool that is required": (
        ChatRequest("m", (Message.user("Hi"),), (TOOL,), tool_choice=ToolChoice.REQUIRED),
        BUDGET,
        None,
    ),
    "within a turn that began with thoughts": (
        ChatRequest("m", (Message.user("Hi"), spoken(Reasoning("Hm", "s"), READ), RESULT), (TOOL,)),
        BUDGET,
        BUDGET,
    ),
    "not within a turn that began without": (
        ChatRequest("m", (Message.user("Hi"), spoken(READ), RESULT), (TOOL,)),
        BUDGET,
        None,
    ),
}


@pytest.mark.parametrize(("request_", "wish", "sent"), THINKING.values(), ids=THINKING)
def test_thoughts_are_asked_for_where_anthropic_allows_it(request_: ChatRequest, wish: Any, sent: Any) -> None:
    assert encode(request_, max_tokens=4096, thinking=wish).get("thinking") == sent


@cache
def judge() -> TypeAdapter[Any]:
    return TypeAdapter(MessageCreateParamsStreaming)


def unrolled(value: Any) -> Any:
    """The value with its lazily validated lists read to the end."""
    if isinstance(value, dict):
        return {key: unrolled(inner) for key, inner in cast("dict[str, Any]", value).items()}
    if isinstance(value, str | bytes) or not hasattr(value, "__iter__"):
        return value
    return [unrolled(inner) for inner in cast("Iterable[Any]", value)]


def decoded(wire: dict[str, Any]) -> tuple[str, list[tuple[str, list[Any]]]]:
    """The conversation that a server reads out of a request."""
    system = "".join(block["text"] for block in wire.get("system", []))
    return system, [(turn["role"], [read(block) for block in turn["content"]]) for turn in wire["messages"]]


def read(block: dict[str, Any]) -> Any:
    match block["type"]:
        case "text":
            return Text(block["text"])
        case "image":
            return Image(block["source"]["media_type"], base64.b64decode(block["source"]["data"]))
        case "thinking":
            return Reasoning(block["thinking"], block["signature"])
        case "redacted_thinking":
            return Reasoning("", block["data"], is_redacted=True)
        case "tool_use":
            return ToolCall(block["id"], block["name"], block["input"])
        case _:
            content = block.get("content", "")
            said = [Text(content)] if isinstance(content, str) else [read(inner) for inner in content]
            return (block["tool_use_id"], said, block.get("is_error", False))


def canonical(messages: Iterable[Message]) -> tuple[str, list[tuple[str, list[Any]]]]:
    """A conversation as far as this wire can tell: without what it has no place for, in turns."""
    turns: list[tuple[str, list[Any]]] = []
    system = ""
    for message in messages:
        if message.role is Role.SYSTEM:
            system = message.text.strip()
            continue
        parts = [kept for part in message.parts if (kept := kept_of(part))]
        while parts and isinstance(parts[-1], Reasoning):
            parts.pop()
        role = "assistant" if message.role is Role.ASSISTANT else "user"
        if turns and turns[-1][0] == role:
            turns[-1][1].extend(parts)
        elif parts:
            turns.append((role, parts))
    return system, turns


def kept_of(part: Part) -> Any:
    match part:
        case Text(text) if not text.strip():
            return None
        case Reasoning(signature=None):
            return None
        case ToolCall(call_id, name, given):
            return ToolCall(call_id, name, given)
        case ToolResult(call_id, _, text, is_error, images):
            silent = "The tool failed and said nothing." if is_error else ""
            said = [Text(text)] if text.strip() else [] if images else [Text(silent)]
            return (call_id, [*said, *images], is_error)
        case _:
            return part


@pytest.mark.prop("core-12")
@pytest.mark.prop("core-13")
@pytest.mark.prop("core-14")
@pytest.mark.prop("krk-5")
@patient
@given(sendable.requests, st.sampled_from([None, {"type": "adaptive"}, BUDGET]))
def test_any_request_is_one_that_anthropic_accepts_and_says_what_was_meant(request: ChatRequest, thinking: Any) -> None:
    wire = json.loads(json.dumps(encode(request, max_tokens=4096, thinking=thinking)))
    assert unrolled(judge().validate_python(wire, strict=True)) == wire
    assert decoded(wire) == canonical(request.messages)
    tools = [ToolSpec(tool["name"], tool["description"], tool["input_schema"]) for tool in wire.get("tools", [])]
    assert tools == list(request.tools)
    roles = [turn["role"] for turn in wire["messages"]]
    assert roles == ["user", "assistant"] * (len(roles) // 2) + ["user"] * (len(roles) % 2)
