"""ReAct in words: tools, calls and results as text, for a model that knows no tools."""

from __future__ import annotations

import json
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from ollm_lsp.core.foreign_json import list_in, object_in, text_in
from ollm_lsp.core.messages import Image, Message, Reasoning, Role, Text
from ollm_lsp.core.tool import OneTool, ToolCall, ToolChoice, ToolResult

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from ollm_lsp.core.foreign_json import JsonObject, JsonValue
    from ollm_lsp.core.messages import Part
    from ollm_lsp.core.request import ChatRequest
    from ollm_lsp.core.tool import ToolSpec

_RULES = """\
You can use tools. To use one, write these lines and then stop:

Thought: why you need the tool
Action: the name of one tool
Action Input: its arguments as one JSON object

You will be given an Observation with the result. Never write an Observation yourself. Use tools again as often as you \
need. When you can answer, or when no tool is needed, write:

Thought: how you know
Final Answer: the answer for the user"""
_SAMPLES: dict[str, JsonValue] = {"integer": 1, "number": 1, "boolean": True, "array": [], "object": {}, "null": None}


def as_text(request: ChatRequest) -> ChatRequest:
    """The same request for a model without tools: they are described, calls and results are written out."""
    messages = _joined(_written(request.messages))
    if request.tools and request.tool_choice is not ToolChoice.NONE:
        first, rest = (messages[0], messages[1:]) if messages[0].role is Role.SYSTEM else (None, messages)
        described = _describe(request.tools, request.tool_choice)
        messages = (Message.system(f"{first.text}\n\n{described}" if first else described), *rest)
    return replace(request, messages=messages, tools=(), tool_choice=ToolChoice.AUTO)


def corrected(request: ChatRequest, written: str, problem: str) -> ChatRequest:
    """The request once more, with what the model wrote and what was wrong with it."""
    answer = Message(Role.ASSISTANT, (Text(written.strip() or "Thought:"),))
    hint = Message.user(
        f"Observation: Error: {problem} Nothing was run. Write the lines again, correctly: "
        "Thought, Action and Action Input; or Thought and Final Answer."
    )
    return replace(request, messages=(*request.messages, answer, hint))


def _describe(tools: Sequence[ToolSpec], choice: ToolChoice | OneTool) -> str:
    lines = [_RULES, "", "The tools:"]
    for tool in tools:
        lines += _describe_tool(tool)
    first = tools[0]
    if isinstance(choice, OneTool):
        first = next(tool for tool in tools if tool.name == choice.name)
        lines += ["", f"Now you have to use the tool {choice.name}."]
    elif choice is ToolChoice.REQUIRED:
        lines += ["", "Now you have to use a tool."]
    example = _action(first.name, _sample(first.parameters))
    return "\n".join([*lines, "", "An example of the form:", "", f"Thought: I need {first.name}.", example])


def _describe_tool(tool: ToolSpec) -> list[str]:
    required = list_in(tool.parameters.get("required"))
    lines = [f"- {tool.name}: {' '.join(tool.description.split())}"]
    for name, schema in object_in(tool.parameters.get("properties")).items():
        about = " ".join(text_in(object_in(schema).get("description")).split())
        kind = _kind(object_in(schema)) + ("" if name in required else ", optional")
        lines.append(f'  "{name}" ({kind})' + (f": {about}" if about else ""))
    return lines


def _kind(schema: dict[str, Any]) -> str:
    """The type of a value in few words; the schema itself where it takes more."""
    values = list_in(schema.get("enum"))
    if values:
        return " or ".join(_json(value) for value in values)
    kind = schema.get("type")
    items = object_in(schema.get("items")).get("type")
    if kind == "array" and isinstance(items, str) and items not in ("array", "object"):
        return f"array of {items}"
    if isinstance(kind, str) and kind not in ("array", "object"):
        return kind
    return _json({key: value for key, value in schema.items() if key != "description"}) if schema else "anything"


def _sample(schema: JsonObject) -> JsonObject:
    """Arguments as they may look: those required, else the first one that there is."""
    properties = object_in(schema.get("properties"))
    names = [name for name in properties if name in list_in(schema.get("required"))] or list(properties)[:1]
    return {name: _sample_value(object_in(properties[name])) for name in names}


def _sample_value(schema: dict[str, Any]) -> JsonValue:
    values = list_in(schema.get("enum"))
    return values[0] if values else _SAMPLES.get(text_in(schema.get("type")), "…")


def _written(messages: Iterable[Message]) -> Iterable[Message]:
    for message in messages:
        match message.role:
            case Role.SYSTEM | Role.USER:
                yield message
            case Role.TOOL:
                results = [part for part in message.parts if isinstance(part, ToolResult)]
                yield Message.user("\n".join(_observation(result, is_only=len(results) == 1) for result in results))
            case Role.ASSISTANT:
                if lines := _assistant(message.parts):
                    yield Message(Role.ASSISTANT, (Text("\n".join(lines)),))


def _assistant(parts: Sequence[Part]) -> list[str]:
    """What the assistant said, as it would have written it: what comes before a call is a thought, else the answer."""
    calls = [_action(part.name, part.arguments) for part in parts if isinstance(part, ToolCall)]
    text = "".join(part.text for part in parts if isinstance(part, Text)).strip()
    if not calls:
        return [f"Final Answer: {text}"] if text else []
    thoughts = "".join(part.text for part in parts if isinstance(part, Reasoning)).strip()
    return [*(f"Thought: {thought}" for thought in (thoughts, text) if thought), *calls]


def _action(name: str, arguments: JsonObject) -> str:
    return f"Action: {name}\nAction Input: {_json(arguments)}"


def _observation(result: ToolResult, *, is_only: bool) -> str:
    source = "" if is_only else f"({result.name}) "
    return f"Observation: {source}{'Error: ' if result.is_error else ''}{result.text}"


def _joined(messages: Iterable[Message]) -> tuple[Message, ...]:
    """Neighbours of one role become one message: many models accept only alternating roles."""
    joined: list[Message] = []
    for message in messages:
        last = joined[-1] if joined else None
        if last is None or last.role is not message.role or message.role is Role.SYSTEM:
            joined.append(message)
        elif message.role is Role.USER:
            joined[-1] = Message.user(*_user_parts(last), "\n\n", *_user_parts(message))
        else:
            joined[-1] = Message(message.role, (*last.parts, Text("\n\n"), *message.parts))
    return tuple(joined)


def _user_parts(message: Message) -> list[Text | Image]:
    return [part for part in message.parts if isinstance(part, Text | Image)]


def _json(value: object) -> str:
    return json.dumps(value, ensure_ascii=False)
