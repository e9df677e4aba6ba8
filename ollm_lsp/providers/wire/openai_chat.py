"""The Chat Completions format of OpenAI, vLLM, llama.cpp, LM Studio and many more."""

from __future__ import annotations

import base64
import json
import re
from typing import TYPE_CHECKING, Any, assert_never

from ollm_lsp.core.events import (
    Finished,
    FinishReason,
    ReasoningDelta,
    TextDelta,
    ToolCalled,
    UsageReported,
)
from ollm_lsp.core.foreign_json import count_in, list_in, object_in, text_in
from ollm_lsp.core.messages import Image, Message, Reasoning, Text
from ollm_lsp.core.sight import apart
from ollm_lsp.core.tool import OneTool, ToolCall, ToolChoice, ToolResult
from ollm_lsp.core.usage import Usage
from ollm_lsp.providers.wire.faults import incomplete, object_of, reported
from ollm_lsp.providers.wire.growing_calls import GrowingCalls

if TYPE_CHECKING:
    from ollm_lsp.core.events import ProviderEvent
    from ollm_lsp.core.request import ChatRequest
    from ollm_lsp.core.tool import ToolSpec
    from ollm_lsp.providers.framing import SseEvent

# OpenAI's o-series, GPT-5 and what came after refuse `max_tokens`; many other servers know nothing else.
_REFUSES_MAX_TOKENS = re.compile(r"(?:ft:|.*/)?(?:o[1-9]\b|gpt-[5-9](?!\d))", re.IGNORECASE)

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


def encode(request: ChatRequest, *, thoughts: str | None = None) -> dict[str, Any]:
    """The body of a streaming request.

    `thoughts` is the name of the field in which the server wants the model's earlier thoughts back. OpenAI has none
    and refuses it; DeepSeek and Moonshot call it `reasoning_content` and refuse a tool call without it.
    """
    body: dict[str, Any] = {
        "model": request.model,
        "messages": [wire for message in apart(request.messages) for wire in _encode_message(message, thoughts)],
        "stream": True,
        "stream_options": {"include_usage": True},
    }
    if request.tools:
        body["tools"] = [_encode_tool(tool) for tool in request.tools]
        if request.tool_choice is not ToolChoice.AUTO:
            body["tool_choice"] = _encode_choice(request.tool_choice)
    if request.max_tokens is not None:
        name = "max_completion_tokens" if _REFUSES_MAX_TOKENS.match(request.model) else "max_tokens"
        body[name] = request.max_tokens
    if request.temperature is not None:
        body["temperature"] = request.temperature
    return body


def _encode_message(message: Message, thoughts: str | None) -> list[dict[str, Any]]:
    results = [part for part in message.parts if isinstance(part, ToolResult)]
    if results:
        return [{"role": "tool", "tool_call_id": part.call_id, "content": part.text} for part in results]
    content: list[dict[str, Any]] = []
    thought: list[str] = []
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
            case Reasoning(text):
                thought.append(text)
            case ToolResult():
                pass  # encoded above: a tool message holds nothing else
            case _:
                assert_never(part)
    wire: dict[str, Any] = {"role": message.role.value, "content": _content(content)}
    if thoughts is not None and (thought or calls):
        wire[thoughts] = "".join(thought)
    if calls:
        wire["tool_calls"] = calls
    return [wire]


def _content(parts: list[dict[str, Any]]) -> str | list[dict[str, Any]]:
    """Text where there is nothing else, because many servers accept a list of parts only from users who show images."""
    if all(part["type"] == "text" for part in parts):
        return "".join(part["text"] for part in parts)
    return [part for part in parts if part.get("text") != ""]  # servers refuse a part that says nothing


def _encode_tool(tool: ToolSpec) -> dict[str, Any]:
    function = {"name": tool.name, "description": tool.description, "parameters": tool.parameters}
    return {"type": "function", "function": function}


def _encode_choice(choice: ToolChoice | OneTool) -> str | dict[str, Any]:
    return {"type": "function", "function": {"name": choice.name}} if isinstance(choice, OneTool) else choice.value


class Decoder:
    """Decodes server-sent events.

    Terminal signals: a `finish_reason`, or `[DONE]` after some choice was seen. The usage comes after the
    finish reason, in an event without choices, so that `Finished` waits for `[DONE]` or the end of the stream.

    The words of a refusal are shown as text. Servers end it with the reason `stop`; here it is a content filter's end.
    """

    def __init__(self) -> None:
        self.size = 0
        self._reason: FinishReason | None = None
        self._calls = GrowingCalls()
        self._spoke = False
        self._refused = False

    def feed(self, frame: SseEvent) -> list[ProviderEvent]:
        data = frame.data
        if data.strip() == "[DONE]":
            if self._reason is None and self._spoke:
                self._reason = FinishReason.STOP
            return self.close()
        chunk = object_of(data)
        if error := chunk.get("error") or (chunk if "error" in (frame.event, chunk.get("object")) else None):
            raise reported(error)
        events: list[ProviderEvent] = []
        if choices := list_in(chunk.get("choices")):
            self._spoke = True
            self._choice(object_in(choices[0]), events)
        if usage := object_in(chunk.get("usage")):
            events.append(UsageReported(_usage(usage)))
        return events

    def close(self) -> list[ProviderEvent]:
        reason = self._reason
        if reason is None:
            raise incomplete()
        if reason is FinishReason.STOP and self._refused:
            reason = FinishReason.CONTENT_FILTER
        elif reason is FinishReason.STOP and self._calls:
            reason = FinishReason.TOOL_USE
        # A call that was cut by the token limit is not complete, whatever its text looks like.
        calls = self._calls.complete() if reason is FinishReason.TOOL_USE else ()
        return [*map(ToolCalled, calls), Finished(reason)]

    def _choice(self, choice: dict[str, Any], events: list[ProviderEvent]) -> None:
        delta = object_in(choice.get("delta"))
        content = delta.get("content")
        thought, text = _parted(list_in(content)) if isinstance(content, list) else (_thought(delta), text_in(content))
        if refusal := delta.get("refusal"):
            self._refused = True
            text += text_in(refusal)
        if thought:
            events.append(ReasoningDelta(thought))
        if text:
            events.append(TextDelta(text))
        self.size += len(thought) + len(text)
        for piece in list_in(delta.get("tool_calls")):
            self.size += self._calls.grow(object_in(piece))
        if reason := text_in(choice.get("finish_reason")):
            if reason in _FAILURES:
                raise reported(f"the answer ended with '{reason}'")
            self._reason = _REASONS.get(reason, FinishReason.STOP)


def _thought(delta: dict[str, Any]) -> str:
    """The thoughts in a delta: older vLLM and DeepSeek say `reasoning_content`, newer vLLM and OpenRouter `reasoning`.

    OpenRouter's details repeat them, and come alone where there is only a summary, or only a mark.
    """
    if told := delta.get("reasoning_content") or delta.get("reasoning"):
        return text_in(told)
    if details := delta.get("reasoning_details"):
        parts = map(object_in, list_in(details))
        return "".join(text_in(part.get("text")) or text_in(part.get("summary")) for part in parts)
    return ""


def _parted(content: list[Any]) -> tuple[str, str]:
    """The thoughts and the text in a list of parts, which is how Mistral streams them."""
    parts = [object_in(part) for part in content]
    thoughts = [object_in(thought) for part in parts for thought in list_in(part.get("thinking"))]
    thought, text = ("".join(text_in(part.get("text")) for part in found) for found in (thoughts, parts))
    return thought, text


def _usage(counts: dict[str, Any]) -> Usage:
    """The counts; of the tokens from the cache never more than there are."""
    details = object_in(counts.get("prompt_tokens_details"))
    given = count_in(counts.get("prompt_tokens"))
    read = count_in(details.get("cached_tokens")) or count_in(counts.get("prompt_cache_hit_tokens"))  # DeepSeek
    read = min(read, given)
    written = min(count_in(details.get("cache_write_tokens")), given - read)
    return Usage(given, count_in(counts.get("completion_tokens")), read, written)
