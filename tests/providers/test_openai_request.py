"""What we send in the Chat Completions format: judged by OpenAI's own types, and read back without a loss."""

from __future__ import annotations

import base64
import json
from collections.abc import Iterator
from dataclasses import replace
from typing import TYPE_CHECKING, Any, cast

import pytest
from hypothesis import given
from hypothesis import strategies as st
from openai.types.chat.completion_create_params import CompletionCreateParamsStreaming
from pydantic import TypeAdapter, ValidationError

from ollm_lsp.core.foreign_json import object_in
from ollm_lsp.core.messages import Image, Message, Reasoning, Role, Text
from ollm_lsp.core.request import ChatRequest
from ollm_lsp.core.tool import OneTool, ToolCall, ToolChoice, ToolResult, ToolSpec
from ollm_lsp.providers.wire.openai_chat import encode
from tests.core.values import patient
from tests.providers.sendable import requests, shown_after
from tests.providers.values import tool_specs

if TYPE_CHECKING:
    from collections.abc import Iterable

    from ollm_lsp.core.messages import Part

OFFICIAL = TypeAdapter[Any](CompletionCreateParamsStreaming)
HI = (Message.user("Hi"),)
TOOLS = (ToolSpec("read", "Read a file", {"type": "object"}), ToolSpec("now", "", {"type": "object"}))


def on_the_wire(body: dict[str, Any]) -> dict[str, Any]:
    return json.loads(json.dumps(body))


def as_openai_reads(body: dict[str, Any]) -> Any:
    """The request as the official types keep it: without any field that they do not know."""

    def whole(value: Any) -> Any:
        if members := object_in(value):
            return {key: whole(item) for key, item in members.items()}
        # What may be any iterable is validated only while it is read.
        return [whole(item) for item in cast("Any", value)] if isinstance(value, list | Iterator) else value

    return whole(OFFICIAL.validate_python(body))


def test_the_judge_judges() -> None:
    body = on_the_wire(encode(ChatRequest("m", HI)))
    assert as_openai_reads(body) == body
    assert as_openai_reads(body | {"max_takens": 1}) == body
    for message in ({"role": "tool", "content": "x"}, {"role": "user", "content": [{"type": "image_url"}]}, {}):
        with pytest.raises(ValidationError):
            as_openai_reads(body | {"messages": [message]})


# What a server reads


def joined(parts: Iterable[Part]) -> tuple[Part, ...]:
    """The parts with texts side by side as one; an empty one is none."""
    found: list[Part] = []
    for part in parts:
        if isinstance(part, Text) and found and isinstance(found[-1], Text):
            found[-1] = Text(found[-1].text + part.text)
        elif part != Text(""):
            found.append(part)
    return tuple(found) or (Text(""),)


def carried(message: Message, field: str | None) -> list[Message]:
    """What this wire can tell of a message: each result alone, no marks, and thoughts only where there is a field."""
    if message.role is Role.TOOL:
        results = [part for part in message.parts if isinstance(part, ToolResult)]
        alone = [Message(Role.TOOL, (replace(part, is_error=False, images=()),)) for part in results]
        return [*alone, *shown_after(results)]
    parts: list[Part] = [part for part in message.parts if isinstance(part, Text | Image)]
    calls = [replace(part, signature=None) for part in message.parts if isinstance(part, ToolCall)]
    thoughts = [part.text for part in message.parts if isinstance(part, Reasoning)]
    if field is not None and (thoughts or calls):
        parts.insert(0, Reasoning("".join(thoughts)))
    return [Message(message.role, joined((*parts, *calls)))]


def read(messages: list[dict[str, Any]], field: str | None) -> list[Message]:
    """The messages that a server reads out of a request."""
    found: list[Message] = []
    names: dict[str, str] = {}
    for item in messages:
        content: Any = item["content"]
        if item["role"] == "tool":
            call_id = item["tool_call_id"]
            found.append(Message(Role.TOOL, (ToolResult(call_id, names[call_id], content),)))
            continue
        parts: list[Part] = [Reasoning(item[field])] if field is not None and field in item else []
        entries: list[Any] = [{"type": "text", "text": content}] if isinstance(content, str) else content
        for entry in entries:
            if entry["type"] == "text":
                parts.append(Text(entry["text"]))
            else:
                head, _, data = entry["image_url"]["url"].partition(";base64,")
                parts.append(Image(head.removeprefix("data:"), base64.b64decode(data)))
        for call in item.get("tool_calls", []):
            names[call["id"]] = call["function"]["name"]
            parts.append(ToolCall(call["id"], call["function"]["name"], json.loads(call["function"]["arguments"])))
        found.append(Message(Role(item["role"]), joined(parts)))
    return found


def choice_in(body: dict[str, Any]) -> ToolChoice | OneTool:
    choice = body.get("tool_choice", "auto")
    return ToolChoice(choice) if isinstance(choice, str) else OneTool(choice["function"]["name"])


@pytest.mark.prop("core-12")
@pytest.mark.prop("core-13")
@pytest.mark.prop("core-14")
@pytest.mark.prop("eng-5")
@patient
@given(requests, st.sampled_from([None, "reasoning_content"]))
def test_any_request_is_accepted_by_the_official_types_and_reads_the_same(
    request: ChatRequest, field: str | None
) -> None:
    body = on_the_wire(encode(request, thoughts=field))
    assert read(body["messages"], field) == [part for message in request.messages for part in carried(message, field)]
    assert tuple(ToolSpec(**tool["function"]) for tool in body.get("tools", ())) == request.tools
    assert choice_in(body) == request.tool_choice
    assert (body.get("max_tokens"), body.get("temperature")) == (request.max_tokens, request.temperature)
    for message in body["messages"]:
        message.pop(field, None)
    assert as_openai_reads(body) == body


@pytest.mark.prop("core-13")
@patient
@given(st.lists(tool_specs, min_size=1, max_size=4, unique_by=lambda tool: tool.name))
def test_any_tool_survives_the_way_to_the_server(tools: list[ToolSpec]) -> None:
    wire = on_the_wire(encode(ChatRequest("m", HI, tools=tuple(tools))))["tools"]
    assert [tool["type"] for tool in wire] == ["function"] * len(tools)
    assert [ToolSpec(**tool["function"]) for tool in wire] == tools


# Message by message

IMAGE = Image("image/png", b"\x89PNG\r\n\x1a\n\x00")
IMAGE_URL = "data:image/png;base64," + base64.b64encode(IMAGE.data).decode()
CALL = ToolCall("c1", "read", {"path": "é.py", "n": [1, None, 2.5]})
CALL_TEXT = '{"path": "é.py", "n": [1, null, 2.5]}'
WIRE_CALL = {"id": "c1", "type": "function", "function": {"name": "read", "arguments": CALL_TEXT}}

ENCODED: dict[str, tuple[Message, list[dict[str, Any]]]] = {
    "system": (Message.system("Be brief."), [{"role": "system", "content": "Be brief."}]),
    "user": (Message.user("Hi"), [{"role": "user", "content": "Hi"}]),
    "user in parts": (Message.user("a", "b\n"), [{"role": "user", "content": "ab\n"}]),
    "nothing beside an image": (
        Message.user("", IMAGE),
        [{"role": "user", "content": [{"type": "image_url", "image_url": {"url": IMAGE_URL}}]}],
    ),
    "nothing": (Message.user(""), [{"role": "user", "content": ""}]),
    "image between texts": (
        Message.user("See", IMAGE, "that"),
        [
            {
                "role": "user",
                "content": [
                    {"type": "text", "text": "See"},
                    {"type": "image_url", "image_url": {"url": IMAGE_URL}},
                    {"type": "text", "text": "that"},
                ],
            }
        ],
    ),
    "assistant": (Message(Role.ASSISTANT, (Text("Yes"),)), [{"role": "assistant", "content": "Yes"}]),
    "thoughts stay here": (
        Message(Role.ASSISTANT, (Reasoning("Hm", "sig"), Text("Yes"))),
        [{"role": "assistant", "content": "Yes"}],
    ),
    "text and call": (
        Message(Role.ASSISTANT, (Text("Let me see."), CALL)),
        [{"role": "assistant", "content": "Let me see.", "tool_calls": [WIRE_CALL]}],
    ),
    "call alone": (
        Message(Role.ASSISTANT, (CALL,)),
        [{"role": "assistant", "content": "", "tool_calls": [WIRE_CALL]}],
    ),
    "results": (
        Message(Role.TOOL, (ToolResult("c1", "read", "x = 1"), ToolResult("c2", "read", "no", is_error=True))),
        [
            {"role": "tool", "tool_call_id": "c1", "content": "x = 1"},
            {"role": "tool", "tool_call_id": "c2", "content": "no"},
        ],
    ),
    "images of a tool, after all results": (
        Message(Role.TOOL, (ToolResult("c1", "read", "a.png", images=(IMAGE,)), ToolResult("c2", "now", "12:00"))),
        [
            {"role": "tool", "tool_call_id": "c1", "content": "a.png"},
            {"role": "tool", "tool_call_id": "c2", "content": "12:00"},
            {
                "role": "user",
                "content": [
                    {"type": "text", "text": "[From read]"},
                    {"type": "image_url", "image_url": {"url": IMAGE_URL}},
                ],
            },
        ],
    ),
}


@pytest.mark.prop("core-12")
@pytest.mark.parametrize(("message", "wire"), ENCODED.values(), ids=ENCODED)
def test_each_kind_of_part_has_its_place_in_the_request(message: Message, wire: list[dict[str, Any]]) -> None:
    assert encode(ChatRequest("m", (message,)))["messages"] == wire


@pytest.mark.prop("core-14")
def test_a_request_has_the_required_fields_and_no_others() -> None:
    assert encode(ChatRequest("m", HI)) == {
        "model": "m",
        "messages": [{"role": "user", "content": "Hi"}],
        "stream": True,
        "stream_options": {"include_usage": True},
    }


@pytest.mark.prop("eng-5")
@pytest.mark.parametrize(
    ("message", "fields"),
    [
        (Message(Role.ASSISTANT, (Reasoning("Hm"), Text("Yes"))), {"content": "Yes", "reasoning_content": "Hm"}),
        (Message(Role.ASSISTANT, (Reasoning("H"), Reasoning("m", "s"), CALL)), {"reasoning_content": "Hm"}),
        (Message(Role.ASSISTANT, (Text("Yes"), CALL)), {"content": "Yes", "reasoning_content": ""}),
        (Message(Role.ASSISTANT, (Text("Yes"),)), {"content": "Yes", "reasoning_content": None}),
        (Message.user("Hi"), {"content": "Hi", "reasoning_content": None}),
    ],
    ids=["thoughts and text", "thoughts and call", "call without thoughts", "text alone", "user"],
)
def test_thoughts_go_back_in_the_field_that_the_server_has_for_them(message: Message, fields: dict[str, Any]) -> None:
    [wire] = encode(ChatRequest("m", (message,)), thoughts="reasoning_content")["messages"]
    assert {name: wire.get(name) for name in fields} == fields


CHOICES: dict[str, tuple[ToolChoice | OneTool, Any]] = {
    "auto": (ToolChoice.AUTO, None),
    "none": (ToolChoice.NONE, "none"),
    "required": (ToolChoice.REQUIRED, "required"),
    "one": (OneTool("now"), {"type": "function", "function": {"name": "now"}}),
}


@pytest.mark.prop("core-14")
@pytest.mark.parametrize(("choice", "wire"), CHOICES.values(), ids=CHOICES)
def test_a_choice_of_tools_is_sent_only_when_there_is_one(choice: ToolChoice | OneTool, wire: Any) -> None:
    body = encode(ChatRequest("m", HI, TOOLS, tool_choice=choice))
    assert body.get("tool_choice") == wire
    assert len(body["tools"]) == 2
    assert as_openai_reads(body) == body


def test_without_tools_there_is_nothing_to_choose() -> None:
    body = encode(ChatRequest("m", HI, tool_choice=ToolChoice.NONE))
    assert not {"tools", "tool_choice"} & body.keys()


OLD = """
    m gpt-4o gpt-4.1-mini gpt-3.5-turbo gpt-35-turbo gpt-oss:20b openai/gpt-oss-120b chatgpt-4o-latest o o1x olmo-2
    ft:gpt-4o-mini:acme:o1-like:x1 phi-4:o1 deepseek-reasoner qwen/qwq-32b
"""
NEW = """
    o1 o1-mini o3-mini-2025-01-31 o4-mini gpt-5 gpt-5.1-chat-latest GPT-5-Codex gpt-6
    openai/gpt-5-mini openrouter/openai/o3 ft:o4-mini-2025-04-16:acme::x1
"""


@pytest.mark.prop("core-14")
@pytest.mark.parametrize(
    ("model", "name"),
    [
        (model, name)
        for models, name in ((OLD, "max_tokens"), (NEW, "max_completion_tokens"))
        for model in models.split()
    ],
)
def test_the_token_limit_has_the_name_that_the_model_takes(model: str, name: str) -> None:
    body = encode(ChatRequest(model, HI, max_tokens=7, temperature=0.0))
    limits = {key: value for key, value in body.items() if key.startswith("max_")}
    assert (limits, body["temperature"]) == ({name: 7}, 0.0)
