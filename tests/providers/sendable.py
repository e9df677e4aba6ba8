"""Whole requests as a chat sends them: valid conversations with everything that a message can hold.

Names, ids, images and schemas are those that every vendor accepts. Texts are anything at all.
"""

from __future__ import annotations

import base64
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from hypothesis import strategies as st

from ollm_lsp.core.messages import Image, Message, Reasoning, Role, Text
from ollm_lsp.core.request import ChatRequest
from ollm_lsp.core.tool import OneTool, ToolCall, ToolChoice, ToolResult, ToolSpec
from tests.providers.values import arguments, texts

if TYPE_CHECKING:
    from collections.abc import Sequence

    from hypothesis.strategies import SearchStrategy

    from ollm_lsp.core.messages import Part

tool_names = st.from_regex(r"[a-zA-Z_][a-zA-Z0-9_-]{0,11}", fullmatch=True)
"""Names that OpenAI, Anthropic and Google all take."""

words = texts.filter(lambda text: bool(text.strip()))
"""Texts that say something."""

images = st.builds(
    Image,
    st.sampled_from(["image/png", "image/jpeg", "image/gif", "image/webp"]),
    st.binary(min_size=1, max_size=9),
)

signatures = st.binary(min_size=1, max_size=12).map(lambda data: base64.b64encode(data).decode())
"""Base64, as all vendors' marks are."""

_leaves: SearchStrategy[dict[str, Any]] = st.sampled_from(
    [
        {"type": "string"},
        {"type": "string", "description": "Where é is", "minLength": 1},
        {"type": "string", "enum": ["a", "b c", ""]},
        {"type": "integer", "minimum": -3, "maximum": 2**31},
        {"type": "number", "exclusiveMinimum": 0.5},
        {"type": "boolean", "default": False},
        {"type": ["string", "null"]},
        {"anyOf": [{"type": "string"}, {"type": "array", "items": {"type": "integer"}}]},
    ]
)


def _objects(inner: SearchStrategy[dict[str, Any]]) -> SearchStrategy[dict[str, Any]]:
    def finish(properties: dict[str, Any], is_strict: bool) -> dict[str, Any]:
        schema: dict[str, Any] = {"type": "object", "properties": properties}
        if properties:
            schema["required"] = sorted(properties)[:1]
        return schema | ({"additionalProperties": False} if is_strict else {})

    return st.builds(finish, st.dictionaries(tool_names, inner, max_size=3), st.booleans())


def _array(items: dict[str, Any]) -> dict[str, Any]:
    return {"type": "array", "items": items}


schemas = _objects(st.one_of(_leaves, _objects(_leaves), st.builds(_array, _leaves)))
"""JSON Schemas of objects, as every vendor takes them for the parameters of a tool."""

tools = st.lists(st.builds(ToolSpec, tool_names, texts, schemas), min_size=1, max_size=3, unique_by=lambda it: it.name)


def _user(first: Text | Image, more: list[Text | Image]) -> Message:
    return Message.user(first, *more)


users = st.builds(
    _user,
    st.one_of(st.builds(Text, words), images),
    st.lists(st.one_of(st.builds(Text, texts), images), max_size=2),
)
"""A user's message says or shows something."""

thoughts = st.one_of(
    st.builds(Reasoning, words),
    st.builds(Reasoning, texts, signatures),
    st.builds(Reasoning, st.just(""), signatures, st.just(True)),
)

_spoken = st.lists(st.one_of(thoughts, st.builds(Text, words)), max_size=3)


@dataclass
class _Numbers:
    last: int = 0

    def next(self) -> int:
        self.last += 1
        return self.last


@st.composite
def _result(draw: st.DrawFn, call: ToolCall) -> ToolResult:
    shown = tuple(draw(st.lists(images, max_size=2)))
    return ToolResult(call.id, call.name, draw(texts), not shown and draw(st.booleans()), shown)


@st.composite
def _answers(draw: st.DrawFn, numbers: _Numbers, names: Sequence[str]) -> list[Message]:
    """An assistant's message, and the results when it calls tools."""
    spoken: list[Part] = list(draw(_spoken))
    # Some vendors sign the first call only.
    marks = draw(st.one_of(st.just([None]), st.lists(st.none() | signatures, min_size=1, max_size=3))) if names else []
    calls = [
        ToolCall(f"call_{numbers.next()}", draw(st.sampled_from(names)), draw(arguments), mark)
        for mark in (marks if draw(st.booleans()) or not spoken else [])
    ]
    if not spoken and not calls:
        spoken = [Text(draw(words))]
    messages = [Message(Role.ASSISTANT, (*spoken, *calls))]
    if calls:
        messages.append(Message(Role.TOOL, tuple(draw(_result(call)) for call in calls)))
    return messages


@st.composite
def conversations_of(draw: st.DrawFn, names: Sequence[str]) -> tuple[Message, ...]:
    """A conversation in which tools with these names are called; its last message waits for an answer."""
    numbers = _Numbers()
    messages: list[Message] = []
    if draw(st.booleans()):
        messages.append(Message.system(draw(words)))
    messages.append(draw(users))
    for _ in range(draw(st.integers(0, 3))):
        messages += draw(_answers(numbers, names))
        if messages[-1].role is Role.ASSISTANT or not draw(st.integers(0, 3)):
            messages.append(draw(users))
    return tuple(messages)


@st.composite
def requests_of(draw: st.DrawFn, *, model: str = "m") -> ChatRequest:
    """A whole request: a conversation with its tools, limits and choice of a tool."""
    offered = tuple(draw(tools)) if draw(st.integers(0, 3)) else ()
    names = [tool.name for tool in offered]
    choice: ToolChoice | OneTool = ToolChoice.AUTO
    if names:
        choice = draw(st.one_of(st.sampled_from(ToolChoice), st.builds(OneTool, st.sampled_from(names))))
    return ChatRequest(
        model,
        draw(conversations_of(names)),
        offered,
        max_tokens=draw(st.none() | st.integers(1, 100_000)),
        temperature=draw(st.none() | st.floats(0, 2)),
        tool_choice=choice,
    )


requests = requests_of()


def shown_after(results: Sequence[ToolResult]) -> list[Message]:
    """How a wire on which results are text shows their images: as the user's, after all results."""
    parts = [(Text(f"[From {result.name}]"), *result.images) for result in results if result.images]
    return [Message(Role.USER, tuple(part for shown in parts for part in shown))] if parts else []
