"""ReAct in words: tools, calls and results as text, for a model that knows no tools."""

from __future__ import annotations

import json
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from ollm_lsp.core.foreign_json import list_in, object_in, text_in
from ollm_lsp.core.messages import Image, Message, Reasoning, Role, Text
from ollm_lsp.core.tool import OneTool, ToolCall, ToolChoice, ToolResult

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

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


def uses_tools(request: ChatRequest) -> bool:
    """Whether the model may call a tool."""
    return bool(request.tools) and request.tool_choice is not ToolChoice.NONE


def as_text(request: ChatRequest) -> ChatRequest:
    """The same request for a model without tools: they are described, calls and results are written out.

    Where no tool can be used, earlier calls are told as a story, so that the model does not go on with the protocol.
    """
    messages = request.messages
    if uses_tools(request):
        messages = _joined(_written(messages, _assistant, _observations))
        system = next((message for message in messages[:1] if message.role is Role.SYSTEM), None)
        described = _describe(request.tools, request.tool_choice)
        prompt = Message.system(f"{system.text}\n\n{described}" if system else described)
        messages = (prompt, *messages[1 if system else 0 :])
    elif any(isinstance(part, ToolCall | ToolResult) for message in messages for part in message.parts):
        messages = _joined(_written(messages, _told, _results))
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


def _written(
    messages: Iterable[Message],
    say: Callable[[Sequence[Part]], list[str]],
    show: Callable[[Sequence[ToolResult]], list[str]],
) -> Iterable[Message]:
    """The messages without tool parts, in the words of `say` for the assistant's and of `show` for results."""
    for message in messages:
        match message.role:
            case Role.SYSTEM | Role.USER:
                yield message
            case Role.TOOL:
                results = [part for part in message.parts if isinstance(part, ToolResult)]
                yield Message.user("\n".join(show(results)), *(image for result in results for image in result.images))
            case Role.ASSISTANT:
                if lines := say(message.parts):
                    yield Message(Role.ASSISTANT, (Text("\n".join(lines)),))


def _assistant(parts: Sequence[Part]) -> list[str]:
    """What the assistant said, as it would have written it: what comes before a call is a thought, else the answer."""
    calls = [_action(part.name, part.arguments) for part in parts if isinstance(part, ToolCall)]
    text = _text(parts)
    if not calls:
        return [f"Final Answer: {text}"] if text else []
    thoughts = "".join(part.text for part in parts if isinstance(part, Reasoning)).strip()
    return [*(f"Thought: {thought}" for thought in (thoughts, text) if thought), *calls]


def _action(name: str, arguments: JsonObject) -> str:
    return f"Action: {name}\nAction Input: {_json(arguments)}"


def _observations(results: Sequence[ToolResult]) -> list[str]:
    lines: list[str] = []
    for result in results:
        source = "" if len(results) == 1 else f"({result.name}) "
        lines.append(f"Observation: {source}{'Error: ' if result.is_error else ''}{result.text}")
    return lines


def _told(parts: Sequence[Part]) -> list[str]:
    calls = [part for part in parts if isinstance(part, ToolCall)]
    used = [f"I used {call.name} with {_json(call.arguments)}." for call in calls]
    return [text, *used] if (text := _text(parts)) else used


def _results(results: Sequence[ToolResult]) -> list[str]:
    return [f"{result.name} {'failed' if result.is_error else 'gave'}: {result.text}" for result in results]


def _text(parts: Sequence[Part]) -> str:
    return "".join(part.text for part in parts if isinstance(part, Text)).strip()


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
