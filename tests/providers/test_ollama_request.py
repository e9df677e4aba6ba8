"""What we send to Ollama: judged by the official client's types, and read back without a loss."""

from __future__ import annotations

import base64
import json
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from ollama._types import ChatRequest as OfficialRequest
from ollama._types import Message as OfficialMessage
from ollama._types import Options as OfficialOptions
from pydantic import ValidationError

from ollm_lsp.core.messages import Image, Message, Reasoning, Role, Text
from ollm_lsp.core.request import ChatRequest
from ollm_lsp.core.tool import OneTool, ToolCall, ToolChoice, ToolResult, ToolSpec
from ollm_lsp.providers.wire.ollama_chat import encode
from tests.core.values import patient
from tests.providers.sendable import requests, shown_after
from tests.providers.values import tool_specs

if TYPE_CHECKING:
    from ollm_lsp.core.messages import Part

HI = (Message.user("Hi"),)
TOOLS = (ToolSpec("read", "Read a file", {"type": "object"}), ToolSpec("now", "", {"type": "object"}))
UNKNOWN = {"truncate", "shift"}
"""What the server takes and the client does not know. It knows no ids of tool calls either."""


def on_the_wire(body: dict[str, Any]) -> dict[str, Any]:
    return json.loads(json.dumps(body))


def without_ids(message: dict[str, Any]) -> dict[str, Any]:
    kept = {key: value for key, value in message.items() if key != "tool_call_id"}
    if "tool_calls" in message:
        kept["tool_calls"] = [{"function": call["function"]} for call in message["tool_calls"]]
    return kept


def as_ollama_reads(message: dict[str, Any]) -> dict[str, Any]:
    """A message as the official types keep it: without any field that they do not know."""
    images = [{"value": image} for image in message["images"]] if "images" in message else None
    return OfficialMessage.model_validate(message | {"images": images}).model_dump(exclude_none=True)


def assert_official(body: dict[str, Any]) -> None:
    """The client would send the same, but for what only the server knows."""
    official = OfficialRequest.model_validate(body)
    dumped = official.model_dump(exclude_none=True)
    assert {*body} - {*dumped} == UNKNOWN
    assert all(dumped[key] == value for key, value in body.items() if key not in {"messages", "tools", *UNKNOWN})
    assert [as_ollama_reads(message) for message in body["messages"]] == [*map(without_ids, body["messages"])]
    options = body.get("options", {})
    assert OfficialOptions.model_validate(options).model_dump(exclude_none=True) == options
    for tool, sent in zip(official.tools or [], body.get("tools", []), strict=True):
        assert tool.function
        assert tool.function.parameters
        assert (tool.function.name, tool.function.description) == (
            sent["function"]["name"],
            sent["function"]["description"],
        )
        assert {*(tool.function.parameters.properties or {})} == {*sent["function"]["parameters"].get("properties", {})}


def test_the_judge_judges() -> None:
    body = on_the_wire(encode(ChatRequest("m", HI, TOOLS)))
    assert_official(body)
    for wrong in ({"messages": [{"content": ""}]}, {"stream": "?"}, {"tools": [{"function": 1}]}, {"think": [1]}):
        with pytest.raises(ValidationError):
            assert_official(body | wrong)
    with pytest.raises(AssertionError):
        assert_official(body | {"keep_alife": "5m"})


# What a server reads


def carried(message: Message) -> list[Message]:
    """What this wire can tell of a message: each result alone, no marks, the parts of a kind together."""
    if message.role is Role.TOOL:
        results = [part for part in message.parts if isinstance(part, ToolResult)]
        alone = [Message(Role.TOOL, (replace(part, is_error=False, images=()),)) for part in results]
        return [*alone, *(it for shown in shown_after(results) for it in carried(shown))]
    thoughts = "".join(part.text for part in message.parts if isinstance(part, Reasoning))
    # The bytes of an image tell what it is.
    images = [Image("image/*", part.data) for part in message.parts if isinstance(part, Image)]
    calls = [replace(part, signature=None) for part in message.parts if isinstance(part, ToolCall)]
    return [Message(message.role, (Text(message.text), *([Reasoning(thoughts)] if thoughts else []), *images, *calls))]


def read(messages: list[dict[str, Any]]) -> list[Message]:
    """The messages that a server reads out of a request."""
    found: list[Message] = []
    for item in messages:
        if item["role"] == "tool":
            result = ToolResult(item["tool_call_id"], item["tool_name"], item["content"])
            found.append(Message(Role.TOOL, (result,)))
            continue
        parts: list[Part] = [Text(item["content"])]
        parts += [Reasoning(item["thinking"])] if "thinking" in item else []
        parts += [Image("image/*", base64.b64decode(data)) for data in item.get("images", [])]
        for call in item.get("tool_calls", []):
            parts.append(ToolCall(call["id"], call["function"]["name"], call["function"]["arguments"]))
        found.append(Message(Role(item["role"]), tuple(parts)))
    return found


def offered(request: ChatRequest) -> list[ToolSpec]:
    match request.tool_choice:
        case OneTool(name):
            return [tool for tool in request.tools if tool.name == name]
        case ToolChoice.NONE:
            return []
        case _:
            return [*request.tools]


@pytest.mark.prop("core-12")
@pytest.mark.prop("core-13")
@pytest.mark.prop("core-14")
@patient
@given(requests, st.sampled_from([None, True, False, "low", "high"]))
def test_any_request_is_accepted_by_the_official_types_and_reads_the_same(
    request: ChatRequest, think: bool | str | None
) -> None:
    body = on_the_wire(encode(request, num_ctx=8192, keep_alive="5m", think=think))
    assert_official(body)
    assert read(body["messages"]) == [it for message in request.messages for it in carried(message)]
    assert [ToolSpec(**tool["function"]) for tool in body.get("tools", [])] == offered(request)
    limits = {"num_predict": request.max_tokens, "temperature": request.temperature}
    limits = {name: limit for name, limit in limits.items() if limit is not None}
    assert body["options"] == {"num_ctx": 8192, **limits}


@pytest.mark.prop("core-13")
@patient
@given(st.lists(tool_specs, min_size=1, max_size=4, unique_by=lambda tool: tool.name))
def test_any_tool_survives_the_way_to_the_server(tools: list[ToolSpec]) -> None:
    wire = on_the_wire(encode(ChatRequest("m", HI, tools=tuple(tools))))["tools"]
    assert [tool["type"] for tool in wire] == ["function"] * len(tools)
    assert [ToolSpec(**tool["function"]) for tool in wire] == tools


# Message by message

IMAGE = Image("image/png", b"\x89PNG\r\n\x1a\n\x00")
CALL = ToolCall("c1", "read", {"path": "é.py", "n": [1, None, 2.5]})
WIRE_CALL = {"id": "c1", "function": {"name": "read", "arguments": {"path": "é.py", "n": [1, None, 2.5]}}}

ENCODED: dict[str, tuple[Message, list[dict[str, Any]]]] = {
    "system": (Message.system("Be brief."), [{"role": "system", "content": "Be brief."}]),
    "user": (Message.user("Hi"), [{"role": "user", "content": "Hi"}]),
    "user in parts": (Message.user("a", "b\n"), [{"role": "user", "content": "ab\n"}]),
    "image between texts": (
        Message.user("See", IMAGE, "that"),
        [{"role": "user", "content": "Seethat", "images": [base64.b64encode(IMAGE.data).decode()]}],
    ),
    "assistant": (Message(Role.ASSISTANT, (Text("Yes"),)), [{"role": "assistant", "content": "Yes"}]),
    "thoughts": (
        Message(Role.ASSISTANT, (Reasoning("Hm"), Text("Yes"))),
        [{"role": "assistant", "content": "Yes", "thinking": "Hm"}],
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
            {"role": "tool", "content": "x = 1", "tool_name": "read", "tool_call_id": "c1"},
            {"role": "tool", "content": "no", "tool_name": "read", "tool_call_id": "c2"},
        ],
    ),
    "images of a tool, after all results": (
        Message(Role.TOOL, (ToolResult("c1", "read", "a.png", images=(IMAGE,)), ToolResult("c2", "now", "12:00"))),
        [
            {"role": "tool", "content": "a.png", "tool_name": "read", "tool_call_id": "c1"},
            {"role": "tool", "content": "12:00", "tool_name": "now", "tool_call_id": "c2"},
            {"role": "user", "content": "[From read]", "images": [base64.b64encode(IMAGE.data).decode()]},
        ],
    ),
}


@pytest.mark.prop("core-12")
@pytest.mark.parametrize(("message", "wire"), ENCODED.values(), ids=ENCODED)
def test_each_kind_of_part_has_its_place_in_the_request(message: Message, wire: list[dict[str, Any]]) -> None:
    assert encode(ChatRequest("m", (message,)))["messages"] == wire


@pytest.mark.threat("F15")
@pytest.mark.prop("core-14")
def test_a_request_has_the_required_fields_and_forbids_to_cut_the_prompt() -> None:
    assert encode(ChatRequest("m", HI)) == {
        "model": "m",
        "messages": [{"role": "user", "content": "Hi"}],
        "stream": True,
        "truncate": False,
        "shift": False,
    }


@pytest.mark.prop("core-14")
def test_limits_are_options_and_are_sent_only_when_they_are_set() -> None:
    request = ChatRequest("m", HI, max_tokens=7, temperature=0.0)
    body = encode(request, num_ctx=8192, keep_alive="5m")
    assert body["options"] == {"num_ctx": 8192, "num_predict": 7, "temperature": 0.0}
    assert body["keep_alive"] == "5m"


@pytest.mark.parametrize("think", [True, False, "low", "medium", "high", "max"])
def test_whether_to_think_is_sent_when_it_was_said(think: bool | str) -> None:
    assert encode(ChatRequest("m", HI), think=think)["think"] == think
    assert "think" not in encode(ChatRequest("m", HI))


CHOICES: dict[str, tuple[ToolChoice | OneTool, list[str]]] = {
    "auto": (ToolChoice.AUTO, ["read", "now"]),
    "none": (ToolChoice.NONE, []),
    "required": (ToolChoice.REQUIRED, ["read", "now"]),
    "one": (OneTool("now"), ["now"]),
}


@pytest.mark.prop("core-14")
@pytest.mark.parametrize(("choice", "names"), CHOICES.values(), ids=CHOICES)
def test_only_the_tools_that_may_be_called_are_sent(choice: ToolChoice | OneTool, names: list[str]) -> None:
    body = encode(ChatRequest("m", HI, TOOLS, tool_choice=choice))
    assert [tool["function"]["name"] for tool in body.get("tools", [])] == names
    assert ("tools" in body) == bool(names)
    assert "tool_choice" not in body
