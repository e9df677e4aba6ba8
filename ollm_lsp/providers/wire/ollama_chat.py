"""The native chat format of Ollama: one JSON object per line."""

from __future__ import annotations

import base64
import json
from typing import TYPE_CHECKING, Any, assert_never

from ollm_lsp.core.errors import InvalidMessage
from ollm_lsp.core.events import (
    Finished,
    FinishReason,
    ReasoningDelta,
    TextDelta,
    ToolCalled,
    UsageReported,
)
from ollm_lsp.core.foreign_json import (
    JsonError,
    count_in,
    decode_arguments,
    list_in,
    object_in,
    text_in,
)
from ollm_lsp.core.messages import Image, Message, Reasoning, Text
from ollm_lsp.core.sight import apart
from ollm_lsp.core.tool import OneTool, ToolCall, ToolChoice, ToolResult
from ollm_lsp.core.usage import Usage
from ollm_lsp.providers.wire.faults import MAX_CALLS, incomplete, malformed, object_of, reported

if TYPE_CHECKING:
    from ollm_lsp.core.events import ProviderEvent
    from ollm_lsp.core.request import ChatRequest
    from ollm_lsp.core.tool import ToolSpec


def encode(
    request: ChatRequest,
    *,
    num_ctx: int | None = None,
    keep_alive: str | None = None,
    think: bool | str | None = None,
) -> dict[str, Any]:
    """The body of a streaming request.

    `think` says whether a model thinks before it answers, or how much, which is all that models such as gpt-oss know.

    Without `num_ctx` and `truncate` Ollama cuts long prompts in silence, and without `shift` it forgets the beginning
    of the conversation while it answers.

    Ollama cannot be told to call a tool. When none is to be called, none is sent; of a tool that has to be called, only
    that one is sent; that any tool has to be called is a wish that the model does not hear.

    The images of a tool follow its result as the user's: Ollama takes them in it, but many models' prompts leave them
    out there.
    """
    body: dict[str, Any] = {
        "model": request.model,
        "messages": [wire for message in apart(request.messages) for wire in _encode_message(message)],
        "stream": True,
        "truncate": False,
        "shift": False,
    }
    if tools := [_encode_tool(tool) for tool in request.tools if _is_offered(tool, request.tool_choice)]:
        body["tools"] = tools
    if think is not None:
        body["think"] = think
    options = {
        "num_ctx": num_ctx,
        "num_predict": request.max_tokens,
        "temperature": request.temperature,
    }
    if options := {key: value for key, value in options.items() if value is not None}:
        body["options"] = options
    if keep_alive is not None:
        body["keep_alive"] = keep_alive
    return body


def _is_offered(tool: ToolSpec, choice: ToolChoice | OneTool) -> bool:
    return choice.name == tool.name if isinstance(choice, OneTool) else choice is not ToolChoice.NONE


def _encode_tool(tool: ToolSpec) -> dict[str, Any]:
    function = {"name": tool.name, "description": tool.description, "parameters": tool.parameters}
    return {"type": "function", "function": function}


def _encode_message(message: Message) -> list[dict[str, Any]]:
    results = [part for part in message.parts if isinstance(part, ToolResult)]
    if results:
        return [
            {"role": "tool", "content": part.text, "tool_name": part.name, "tool_call_id": part.call_id}
            for part in results
        ]
    texts: list[str] = []
    thoughts: list[str] = []
    images: list[str] = []
    calls: list[dict[str, Any]] = []
    for part in message.parts:
        match part:
            case Text(text):
                texts.append(text)
            case Reasoning(text):
                thoughts.append(text)
            case Image(data=data):
                images.append(base64.b64encode(data).decode())
            case ToolCall(call_id, name, arguments):
                calls.append({"id": call_id, "function": {"name": name, "arguments": arguments}})
            case ToolResult():
                pass  # encoded above: a tool message holds nothing else
            case _:
                assert_never(part)
    wire: dict[str, Any] = {"role": message.role.value, "content": "".join(texts)}
    optional = {"thinking": "".join(thoughts), "images": images, "tool_calls": calls}
    return [wire | {key: value for key, value in optional.items() if value}]


class Decoder:
    """Decodes the lines of an answer. The terminal signal is `done: true`, which also brings the usage.

    Tool calls wait for it: an answer that breaks off, or runs into the token limit, calls nothing.
    """

    def __init__(self) -> None:
        self.size = 0
        self._calls: list[ToolCall] = []

    def feed(self, frame: str) -> list[ProviderEvent]:
        line = object_of(frame)
        if (error := line.get("error")) is not None:
            raise reported(error)
        message = object_in(line.get("message"))
        events: list[ProviderEvent] = []
        if thinking := text_in(message.get("thinking")):
            events.append(ReasoningDelta(thinking))
        if text := text_in(message.get("content")):
            events.append(TextDelta(text))
        self.size += len(thinking) + len(text)
        for call in list_in(message.get("tool_calls")):
            self._call(object_in(call), frame)
        if line.get("done") is True:
            events += self._finish(line)
        return events

    def close(self) -> list[ProviderEvent]:
        raise incomplete()

    def _call(self, call: dict[str, Any], frame: str) -> None:
        if len(self._calls) == MAX_CALLS:
            raise malformed(frame, f"more than {MAX_CALLS} tool calls")
        function = object_in(call.get("function"))
        arguments: Any = function.get("arguments")
        # Ollama sends an object; some servers in its place send the text of one, or nothing when there is none.
        if not isinstance(arguments, str):
            arguments = json.dumps({} if arguments is None else arguments)
        try:
            call_id = text_in(call.get("id")) or f"call_{len(self._calls)}"
            self._calls.append(ToolCall(call_id, text_in(function.get("name")), decode_arguments(arguments)))
        except (JsonError, InvalidMessage) as error:
            raise malformed(frame, str(error)) from None
        self.size += len(arguments)

    def _finish(self, line: dict[str, Any]) -> list[ProviderEvent]:
        done_reason = line.get("done_reason")
        if done_reason in ("load", "unload") and not self.size:
            raise reported(f"the model was {done_reason}ed and said nothing")
        usage = Usage(count_in(line.get("prompt_eval_count")), count_in(line.get("eval_count")))
        if done_reason == "length":
            return [UsageReported(usage), Finished(FinishReason.LENGTH)]
        reason = FinishReason.TOOL_USE if self._calls else FinishReason.STOP
        return [*map(ToolCalled, self._calls), UsageReported(usage), Finished(reason)]
