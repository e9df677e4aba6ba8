"""Requests in the format of Gemini: accepted by Google's own types, and without loss."""

from __future__ import annotations

import base64
import json
from dataclasses import replace
from typing import TYPE_CHECKING, Any, cast

import pytest
from google.genai import types
from hypothesis import given
from hypothesis import strategies as st

from ollm_lsp.core.messages import Image, Message, Reasoning, Role, Text
from ollm_lsp.core.request import ChatRequest
from ollm_lsp.core.tool import OneTool, ToolCall, ToolChoice, ToolResult, ToolSpec
from ollm_lsp.providers.wire.google_generate import UNNAMED, encode
from tests.core.values import patient
from tests.providers import sendable

if TYPE_CHECKING:
    from collections.abc import Iterable

    from ollm_lsp.core.messages import Part

IMAGE = Image("image/gif", b"GIF89a\x00")
READ = ToolCall("c1", "read", {"path": "é.py", "n": [1, None, 2.5]})
WIRE_READ = {"id": "c1", "name": "read", "args": {"path": "é.py", "n": [1, None, 2.5]}}
TOOL = ToolSpec("read", "Reads", {"type": "object", "properties": {"path": {"type": ["string", "null"]}}})


def body(*messages: Message, **more: Any) -> dict[str, Any]:
    return encode(ChatRequest("m", messages, **more))


def spoken(*parts: Part) -> Message:
    return Message(Role.ASSISTANT, parts)


ENCODED: dict[str, tuple[Message, list[dict[str, Any]]]] = {
    "user": (Message.user("Hi", "", " "), [{"text": "Hi"}, {"text": " "}]),
    "image": (
        Message.user("See", IMAGE),
        [
            {"text": "See"},
            {"inlineData": {"mimeType": "image/gif", "data": base64.b64encode(IMAGE.data).decode()}},
        ],
    ),
    "assistant": (spoken(Text("Yes")), [{"text": "Yes"}]),
    "thoughts without a signature stay here": (
        spoken(Reasoning("Hm"), Reasoning("", "d", is_redacted=True), Text("Yes")),
        [{"text": "Yes"}],
    ),
    "thoughts with a signature": (
        spoken(Reasoning("Hm", "cw=="), Text("Yes"), Reasoning("", "dA==")),
        [
            {"text": "Hm", "thought": True, "thoughtSignature": "cw=="},
            {"text": "Yes"},
            {"text": "", "thoughtSignature": "dA=="},
        ],
    ),
    "calls": (
        spoken(READ, ToolCall("c2", "read", {}, "cw=="), ToolCall(UNNAMED + "r-0", "read", {})),
        [
            {"functionCall": WIRE_READ},
            {"functionCall": {"id": "c2", "name": "read", "args": {}}, "thoughtSignature": "cw=="},
            {"functionCall": {"name": "read", "args": {}}},
        ],
    ),
    "results": (
        Message(
            Role.TOOL,
            (
                ToolResult("c1", "read", "x = 1"),
                ToolResult("c2", "read", "no", is_error=True),
                ToolResult(UNNAMED + "r-0", "read", ""),
            ),
        ),
        [
            {"functionResponse": {"id": "c1", "name": "read", "response": {"output": "x = 1"}}},
            {"functionResponse": {"id": "c2", "name": "read", "response": {"error": "no"}}},
            {"functionResponse": {"name": "read", "response": {"output": ""}}},
        ],
    ),
}


@pytest.mark.prop("core-12")
@pytest.mark.prop("krk-5")
@pytest.mark.parametrize(("message", "parts"), ENCODED.values(), ids=ENCODED)
def test_each_kind_of_part_has_its_place_in_the_request(message: Message, parts: list[dict[str, Any]]) -> None:
    role = "model" if message.role is Role.ASSISTANT else "user"
    assert body(message) == {"contents": [{"role": role, "parts": parts}]}


def test_a_message_of_nothing_that_can_be_sent_is_left_out() -> None:
    contents = body(Message.user("a"), spoken(Reasoning("only thoughts")), Message.user("b"))["contents"]
    assert [content["role"] for content in contents] == ["user", "user"]


@pytest.mark.prop("core-12")
def test_images_of_tools_are_shown_after_all_results() -> None:
    results = (ToolResult("c1", "read", "a.gif", images=(IMAGE,)), ToolResult("c2", "now", "12:00"))
    assert body(Message(Role.TOOL, results))["contents"] == [
        {
            "role": "user",
            "parts": [
                {"functionResponse": {"id": "c1", "name": "read", "response": {"output": "a.gif"}}},
                {"functionResponse": {"id": "c2", "name": "now", "response": {"output": "12:00"}}},
            ],
        },
        {
            "role": "user",
            "parts": [
                {"text": "[From read]"},
                {"inlineData": {"mimeType": "image/gif", "data": base64.b64encode(IMAGE.data).decode()}},
            ],
        },
    ]


@pytest.mark.prop("core-14")
def test_a_request_has_what_was_asked_for_and_nothing_else() -> None:
    request = ChatRequest(
        "m", (Message.system("Be brief."), Message.user("Hi")), (TOOL,), max_tokens=7, temperature=0.0
    )
    assert encode(request, thinking={"includeThoughts": True}) == {
        "systemInstruction": {"parts": [{"text": "Be brief."}]},
        "contents": [{"role": "user", "parts": [{"text": "Hi"}]}],
        "tools": [
            {
                "functionDeclarations": [
                    {"name": "read", "description": "Reads", "parametersJsonSchema": TOOL.parameters}
                ]
            }
        ],
        "generationConfig": {
            "maxOutputTokens": 7,
            "temperature": 0.0,
            "thinkingConfig": {"includeThoughts": True},
        },
    }


@pytest.mark.parametrize(
    ("choice", "wire"),
    [
        (ToolChoice.AUTO, None),
        (ToolChoice.NONE, {"functionCallingConfig": {"mode": "NONE"}}),
        (ToolChoice.REQUIRED, {"functionCallingConfig": {"mode": "ANY"}}),
        (OneTool("read"), {"functionCallingConfig": {"mode": "ANY", "allowedFunctionNames": ["read"]}}),
    ],
)
def test_the_choice_of_a_tool_is_sent(choice: ToolChoice | OneTool, wire: Any) -> None:
    assert body(Message.user("Hi"), tools=(TOOL,), tool_choice=choice).get("toolConfig") == wire


def judged(wire: dict[str, Any]) -> dict[str, Any]:
    """The request after Google's own types have read it, which refuse what they do not know."""

    def dumped(model: Any, value: Any) -> Any:
        return json.loads(
            model.model_validate_json(json.dumps(value)).model_dump_json(by_alias=True, exclude_none=True)
        )

    kinds: dict[str, tuple[Any, bool]] = {
        "contents": (types.Content, True),
        "tools": (types.Tool, True),
        "systemInstruction": (types.Content, False),
        "toolConfig": (types.ToolConfig, False),
        "generationConfig": (types.GenerationConfig, False),
    }
    return {
        key: [dumped(kinds[key][0], item) for item in value] if kinds[key][1] else dumped(kinds[key][0], value)
        for key, value in wire.items()
    }


def urlsafe(value: Any) -> Any:
    """Google's types write bytes in the other alphabet of base64, which Google reads as well."""
    if isinstance(value, list):
        return [urlsafe(item) for item in cast("list[Any]", value)]
    if not isinstance(value, dict):
        return value
    return {
        key: inner.replace("+", "-").replace("/", "_")
        if key in {"data", "thoughtSignature"} and isinstance(inner, str)
        else urlsafe(inner)
        for key, inner in cast("dict[str, Any]", value).items()
    }


def read(part: dict[str, Any]) -> Any:
    """The part that a server reads."""
    match part:
        case {"functionCall": call}:
            return ToolCall(call["id"], call["name"], call["args"], part.get("thoughtSignature"))
        case {"functionResponse": result}:
            response = result["response"]
            text = response["error"] if "error" in response else response["output"]
            return ToolResult(result["id"], result["name"], text, "error" in response)
        case {"inlineData": data}:
            return Image(data["mimeType"], base64.b64decode(data["data"]))
        case {"thoughtSignature": signature}:
            return Reasoning(part["text"], signature)
        case _:
            return Text(part["text"])


def kept(part: Part) -> bool:
    """Whether this wire has a place for it."""
    match part:
        case Text(text):
            return text != ""
        case Reasoning(signature=signature, is_redacted=is_redacted):
            return signature is not None and not is_redacted
        case _:
            return True


def canonical(messages: Iterable[Message]) -> list[tuple[str, list[Part]]]:
    turns: list[tuple[str, list[Part]]] = []
    for message in messages:
        if message.role is Role.SYSTEM:
            continue
        results = [part for part in message.parts if isinstance(part, ToolResult)]
        parts = [replace(part, images=()) for part in results] or [part for part in message.parts if kept(part)]
        turns.append(("model" if message.role is Role.ASSISTANT else "user", [*parts]))
        turns += (("user", [*shown.parts]) for shown in sendable.shown_after(results))
    return [(role, parts) for role, parts in turns if parts]


@pytest.mark.prop("core-12")
@pytest.mark.prop("core-13")
@pytest.mark.prop("core-14")
@pytest.mark.prop("krk-5")
@patient
@given(sendable.requests, st.sampled_from([None, {"includeThoughts": True}, {"thinkingBudget": 0}]))
def test_any_request_is_one_that_google_accepts_and_says_what_was_meant(request: ChatRequest, thinking: Any) -> None:
    wire = json.loads(json.dumps(encode(request, thinking=thinking)))
    assert urlsafe(judged(wire)) == urlsafe(wire)
    assert [(it["role"], [read(part) for part in it["parts"]]) for it in wire["contents"]] == canonical(
        request.messages
    )
    system = "".join(message.text for message in request.messages if message.role is Role.SYSTEM)
    assert wire.get("systemInstruction", {"parts": [{"text": ""}]}) == {"parts": [{"text": system}]}
    declared: list[Any] = wire["tools"][0]["functionDeclarations"] if request.tools else []
    tools = [ToolSpec(it["name"], it["description"], it["parametersJsonSchema"]) for it in declared]
    assert tools == list(request.tools)
