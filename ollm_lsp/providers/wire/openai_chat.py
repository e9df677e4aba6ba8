"""The Chat Completions format of OpenAI, vLLM, llama.cpp, LM Studio and many more."""

from __future__ import annotations

import base64
import json
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, assert_never

from ollm_lsp.core.errors import InvalidMessage, MalformedAnswer
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
    decode,
    decode_arguments,
    list_in,
    object_in,
    text_in,
)
from ollm_lsp.core.messages import Image, Message, Reasoning, Text
from ollm_lsp.core.tool import ToolCall, ToolResult
from ollm_lsp.core.usage import Usage
from ollm_lsp.providers.wire.faults import MAX_CALLS, excerpt, incomplete, malformed, reported

if TYPE_CHECKING:
    from ollm_lsp.core.events import ProviderEvent
    from ollm_lsp.core.request import ChatRequest
    from ollm_lsp.core.tool import ToolSpec
    from ollm_lsp.providers.framing import SseEvent

_REASONS = {
    "stop": FinishReason.STOP,
    "length": FinishReason.LENGTH,
    "max_tokens": FinishReason.LENGTH,
    "model_length": FinishReason.LENGTH,  # Mistral
    "tool_calls": FinishReason.TOOL_USE,
    "function_call": FinishReason.TOOL_USE,
    "content_filter": FinishReason.CONTENT_FILTER,
    "sensitive": FinishReason.CONTENT_FILTER,  # Zhipu
}
# OpenRouter and Mistral; vLLM; Zhipu; DeepSeek
_FAILURES = {"error", "abort", "network_error", "insufficient_system_resource"}


def encode(request: ChatRequest) -> dict[str, Any]:
    """The body of a streaming request."""
    body: dict[str, Any] = {
        "model": request.model,
        "messages": [wire for message in request.messages for wire in _encode_message(message)],
        "stream": True,
        "stream_options": {"include_usage": True},
    }
    if request.tools:
        body["tools"] = [_encode_tool(tool) for tool in request.tools]
    if request.max_tokens is not None:
        body["max_tokens"] = request.max_tokens
    if request.temperature is not None:
        body["temperature"] = request.temperature
    return body


def _encode_message(message: Message) -> list[dict[str, Any]]:
    results = [part for part in message.parts if isinstance(part, ToolResult)]
    if results:
        return [{"role": "tool", "tool_call_id": part.call_id, "content": part.text} for part in results]
    content: list[dict[str, Any]] = []
    calls: list[dict[str, Any]] = []
    for part in message.parts:
        match part:
            case Text(text):
                content.append({"type": "text", "text": text})
            case Image(mime_type, data):
                url = f"data:{mime_type};base64,{base64.b64encode(data).decode()}"
                content.append({"type": "image_url", "image_url": {"url": url}})
            case ToolCall(call_id, name, arguments):
                function = {"name": name, "arguments": json.dumps(arguments, ensure_ascii=False)}
                calls.append({"id": call_id, "type": "function", "function": function})
            case Reasoning():
                pass  # the format has no place for the thoughts of an earlier turn
            case ToolResult():
                pass  # encoded above: a tool message holds nothing else
            case _:
                assert_never(part)
    wire: dict[str, Any] = {"role": message.role.value}
    # Many servers accept a list of parts only from users, and only where there is more than text.
    only_text = all(item["type"] == "text" for item in content)
    wire["content"] = "".join(item["text"] for item in content) if only_text else content
    if calls:
        wire["tool_calls"] = calls
    return [wire]


def _encode_tool(tool: ToolSpec) -> dict[str, Any]:
    function = {"name": tool.name, "description": tool.description, "parameters": tool.parameters}
    return {"type": "function", "function": function}


@dataclass(slots=True)
class _GrowingCall:
    index: int
    id: str = ""
    name: str = ""
    arguments: list[str] = field(default_factory=list[str])

    def goes_on_with(self, call_id: str, name: str) -> bool:
        """Whether a piece belongs to this call. Some servers give every call the same index, or none.

        Then another id tells that it does not, or the end of the arguments; but only a piece with a name can begin a
        call, because others give every piece a new id.
        """
        if not name or (call_id and call_id == self.id):
            return True
        is_closed = bool(self.arguments) and self.arguments[-1].rstrip().endswith("}")
        return not is_closed and not (call_id and self.id)


class Decoder:
    """Decodes server-sent events.

    Terminal signals: a `finish_reason`, or `[DONE]` after some choice was seen. The usage comes after the
    finish reason, in an event without choices, so that `Finished` waits for `[DONE]` or the end of the stream.
    """

    def __init__(self) -> None:
        self.size = 0
        self._reason: FinishReason | None = None
        self._calls: list[_GrowingCall] = []
        self._spoke = False

    def feed(self, frame: SseEvent) -> list[ProviderEvent]:
        data = frame.data
        if data.strip() == "[DONE]":
            if self._reason is None and self._spoke:
                self._reason = FinishReason.STOP
            return self.close()
        try:
            chunk = decode(data)
        except JsonError as error:
            raise malformed(data, str(error)) from None
        if not isinstance(chunk, dict):
            raise malformed(data)
        chunk = object_in(chunk)
        if error := chunk.get("error") or (chunk if "error" in (frame.event, chunk.get("object")) else None):
            raise reported(error)
        events: list[ProviderEvent] = []
        for choice in list_in(chunk.get("choices"))[:1]:
            self._spoke = True
            self._choice(object_in(choice), events)
        if usage := object_in(chunk.get("usage")):
            counts = Usage(count_in(usage.get("prompt_tokens")), count_in(usage.get("completion_tokens")))
            events.append(UsageReported(counts))
        return events

    def close(self) -> list[ProviderEvent]:
        if self._reason is None:
            raise incomplete()
        reason = self._reason
        if self._calls and reason is FinishReason.STOP:
            reason = FinishReason.TOOL_USE
        # A call that was cut by the token limit is not complete, whatever its text looks like.
        calls = sorted(self._calls, key=lambda call: call.index) if reason is FinishReason.TOOL_USE else ()
        return [*(ToolCalled(_complete(number, call)) for number, call in enumerate(calls)), Finished(reason)]

    def _choice(self, choice: dict[str, Any], events: list[ProviderEvent]) -> None:
        delta = object_in(choice.get("delta"))
        # vLLM and DeepSeek say `reasoning_content`, OpenRouter and newer vLLM say `reasoning`.
        if reasoning := text_in(delta.get("reasoning_content")) or text_in(delta.get("reasoning")):
            events.append(ReasoningDelta(reasoning))
        if text := text_in(delta.get("content")) or text_in(delta.get("refusal")):
            events.append(TextDelta(text))
        self.size += len(reasoning) + len(text)
        for piece in list_in(delta.get("tool_calls")):
            self._grow(object_in(piece))
        if reason := text_in(choice.get("finish_reason")):
            if reason in _FAILURES:
                raise reported(f"the answer ended with '{reason}'")
            self._reason = _REASONS.get(reason, FinishReason.STOP)

    def _grow(self, piece: dict[str, Any]) -> None:
        function = object_in(piece.get("function"))
        call_id, name, arguments = text_in(piece.get("id")), text_in(function.get("name")), function.get("arguments")
        if isinstance(arguments, dict):
            arguments = json.dumps(arguments)
        arguments = text_in(arguments)
        call = self._call_of(piece.get("index"), call_id, name)
        call.id = call.id or call_id
        call.name += name
        if arguments:
            call.arguments.append(arguments)
        self.size += len(name) + len(arguments)

    def _call_of(self, index: Any, call_id: str, name: str) -> _GrowingCall:
        """The call that a piece belongs to: by its index, and by its id where several have that index."""
        known = [call for call in self._calls if type(index) is not int or call.index == index]
        known = [call for call in known if call_id and call.id == call_id] or known[-1:]
        if known and known[-1].goes_on_with(call_id, name):
            return known[-1]
        if len(self._calls) == MAX_CALLS:
            raise malformed(name, f"more than {MAX_CALLS} tool calls")
        self._calls.append(_GrowingCall(index if type(index) is int else len(self._calls)))
        return self._calls[-1]


def _complete(number: int, call: _GrowingCall) -> ToolCall:
    text = "".join(call.arguments) or "{}"
    try:
        return ToolCall(call.id or f"call_{number}", call.name, decode_arguments(text))
    except (JsonError, InvalidMessage) as error:
        raise MalformedAnswer(
            f"The model called the tool '{excerpt(call.name)}' in a way that cannot be read ({error}): {excerpt(text)}",
            remedy="Ask again, or choose a model that is better with tools.",
        ) from None
