"""The Messages format of Anthropic, which llama.cpp, vLLM and LiteLLM speak as well."""

from __future__ import annotations

import base64
import json
import re
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, assert_never

from ollm_lsp.core.errors import InvalidMessage
from ollm_lsp.core.events import (
    Finished,
    FinishReason,
    ReasoningDelta,
    ReasoningSigned,
    TextDelta,
    ToolCalled,
    UsageReported,
    Warned,
)
from ollm_lsp.core.foreign_json import JsonError, count_in, decode_arguments, object_in, text_in
from ollm_lsp.core.messages import Image, Reasoning, Role, Text
from ollm_lsp.core.tool import OneTool, ToolCall, ToolChoice, ToolResult
from ollm_lsp.core.usage import Usage
from ollm_lsp.providers.wire.faults import (
    MAX_CALLS,
    excerpt,
    incomplete,
    malformed,
    object_of,
    reported,
    unreadable_call,
)

if TYPE_CHECKING:
    from ollm_lsp.core.events import ProviderEvent
    from ollm_lsp.core.foreign_json import JsonObject
    from ollm_lsp.core.messages import Message, Part
    from ollm_lsp.core.request import ChatRequest
    from ollm_lsp.providers.framing import SseEvent

WORTH_CACHING = 4 * 1024
"""Characters of tools and system prompt below which no model keeps them."""
MIN_THOUGHTS = 1024
"""The smallest budget for thoughts that Anthropic accepts."""

_REASONS = {
    "end_turn": FinishReason.STOP,
    "stop_sequence": FinishReason.STOP,
    "tool_use": FinishReason.TOOL_USE,
    "max_tokens": FinishReason.LENGTH,
    "model_context_window_exceeded": FinishReason.LENGTH,
    "pause_turn": FinishReason.LENGTH,  # the server wants to be asked to go on
    "refusal": FinishReason.CONTENT_FILTER,
}
_THOUGHTS = ("thinking", "redacted_thinking")


def encode(request: ChatRequest, *, max_tokens: int, thinking: JsonObject | None = None) -> dict[str, Any]:
    """The body of a streaming request; `max_tokens` holds where the request has no limit of its own.

    `thinking` is as Anthropic words it. It is left out where Anthropic would refuse it, and a temperature always,
    because newer models refuse any.
    """
    messages = _encode_messages(request.messages)
    limit = max_tokens if request.max_tokens is None else request.max_tokens
    body: dict[str, Any] = {"model": request.model, "max_tokens": limit, "messages": messages, "stream": True}
    if request.tools:
        body["tools"] = [
            {"name": tool.name, "description": tool.description, "input_schema": tool.parameters}
            for tool in request.tools
        ]
    if system := "\n\n".join(message.text for message in request.messages if message.role is Role.SYSTEM).strip():
        block: dict[str, Any] = {"type": "text", "text": system}
        # The tools come before the system prompt in what is kept.
        if len(system) + sum(len(json.dumps(tool)) for tool in body.get("tools", ())) >= WORTH_CACHING:
            block["cache_control"] = {"type": "ephemeral"}
        body["system"] = [block]
    if choice := _encode_choice(request.tool_choice):
        body["tool_choice"] = choice
    if thinking := _fitting(thinking, limit, request.tool_choice, messages):
        body["thinking"] = thinking
    return body


def _encode_messages(messages: tuple[Message, ...]) -> list[dict[str, Any]]:
    """Turns of user and assistant by turns: what one of them says in several messages is one."""
    ids = _Ids()
    turns: list[dict[str, Any]] = []
    for message in messages:
        if message.role is Role.SYSTEM:
            continue
        content = [block for part in message.parts if (block := _encode_part(part, ids))]
        # Thoughts at the end belong to an answer that was cut short; they are refused there.
        while content and content[-1]["type"] in _THOUGHTS:
            content.pop()
        role = "assistant" if message.role is Role.ASSISTANT else "user"
        if turns and turns[-1]["role"] == role:
            turns[-1]["content"] += content
        elif content:
            turns.append({"role": role, "content": content})
    return turns


def _encode_part(part: Part, ids: _Ids) -> dict[str, Any] | None:
    match part:
        case Text(text):
            return {"type": "text", "text": text} if text.strip() else None
        case Image():
            return _encode_image(part)
        case Reasoning(signature=None):
            return None  # only thoughts with a signature are accepted
        case Reasoning(signature=signature, is_redacted=True):
            return {"type": "redacted_thinking", "data": signature}
        case Reasoning(text, signature):
            return {"type": "thinking", "thinking": text, "signature": signature}
        case ToolCall(call_id, name, arguments):
            return {"type": "tool_use", "id": ids.begin(call_id), "name": name, "input": arguments}
        case ToolResult():
            return _encode_result(part, ids)
        case _:
            assert_never(part)


def _encode_image(image: Image) -> dict[str, Any]:
    source = {"type": "base64", "media_type": image.mime_type, "data": base64.b64encode(image.data).decode()}
    return {"type": "image", "source": source}


def _encode_result(result: ToolResult, ids: _Ids) -> dict[str, Any]:
    block: dict[str, Any] = {"type": "tool_result", "tool_use_id": ids.answer(result.call_id)}
    if result.text.strip():
        block["content"] = result.text
    if result.images:
        words = [{"type": "text", "text": result.text}] if result.text.strip() else []
        block["content"] = [*words, *map(_encode_image, result.images)]
    if result.is_error:
        block["is_error"] = True
        block.setdefault("content", "The tool failed and said nothing.")  # an error without content is refused
    return block


class _Ids:
    """Ids of calls as Anthropic accepts them: of a few characters, and never the same twice in a conversation.

    Those of other providers may be neither, when a conversation has moved here from them.
    """

    def __init__(self) -> None:
        self._open: dict[str, list[str]] = {}
        self._taken: set[str] = set()

    def begin(self, call_id: str) -> str:
        sent, number = call_id, 0
        while sent in self._taken or not re.fullmatch("[a-zA-Z0-9_-]+", sent):
            number += 1
            sent = f"call_{len(self._taken)}_{number}"
        self._taken.add(sent)
        self._open.setdefault(call_id, []).append(sent)
        return sent

    def answer(self, call_id: str) -> str:
        """The first call of that id that has no result yet: results come in the order of their calls."""
        waiting = self._open.get(call_id)
        return waiting.pop(0) if waiting else call_id


def _encode_choice(choice: ToolChoice | OneTool) -> dict[str, Any] | None:
    match choice:
        case ToolChoice.AUTO:
            return None
        case ToolChoice.NONE:
            return {"type": "none"}
        case ToolChoice.REQUIRED:
            return {"type": "any"}
        case OneTool(name):
            return {"type": "tool", "name": name}
        case _:
            assert_never(choice)


def _fitting(
    thinking: JsonObject | None, limit: int, choice: ToolChoice | OneTool, messages: list[dict[str, Any]]
) -> JsonObject | None:
    """The wish for thoughts as far as Anthropic accepts it beside the rest of the request."""
    if thinking is None or choice not in {ToolChoice.AUTO, ToolChoice.NONE}:
        return None
    if thinking.get("type") != "enabled":
        return thinking
    answers = [turn["content"] for turn in messages if turn["role"] == "assistant"]
    is_in_loop = bool(messages) and any(block["type"] == "tool_result" for block in messages[-1]["content"])
    if limit <= MIN_THOUGHTS or (is_in_loop and answers and answers[-1][0]["type"] not in _THOUGHTS):
        return None
    budget = count_in(thinking.get("budget_tokens"))
    return {**thinking, "budget_tokens": max(MIN_THOUGHTS, min(budget, limit - 1))}


@dataclass(slots=True)
class _GrowingCall:
    id: str
    name: str
    given: dict[str, Any]
    pieces: list[str] = field(default_factory=list[str])

    def complete(self) -> ToolCall:
        text = "".join(self.pieces) or json.dumps(self.given)
        try:
            return ToolCall(self.id, self.name, decode_arguments(text))
        except (JsonError, InvalidMessage) as error:
            raise unreadable_call(self.name, text, str(error)) from None


class Decoder:
    """Decodes server-sent events. The terminal signal is `message_stop`.

    Tool calls wait for it, and with them what the model says after the first: its order has to stay as it was.
    """

    def __init__(self) -> None:
        self.size = 0
        self._reason = FinishReason.STOP
        self._usage: dict[str, int] = {}
        self._signature = ""
        self._calls: dict[int, _GrowingCall] = {}
        self._held: list[ProviderEvent | _GrowingCall] = []  # begins with a call

    def feed(self, frame: SseEvent) -> list[ProviderEvent]:
        event = object_of(frame.data)
        match text_in(event.get("type")) or frame.event:
            case "message_start":
                return self._count(object_in(event.get("message")).get("usage"))
            case "content_block_start":
                events = self._say(self._signed())
                return events + self._say(self._begin(event.get("index"), object_in(event.get("content_block"))))
            case "content_block_delta":
                return self._say(self._grow(event.get("index"), object_in(event.get("delta"))))
            case "content_block_stop":
                return self._say(self._signed())
            case "message_delta":
                return self._delta(event)
            case "message_stop":
                return self._finish()
            case "error":
                raise reported(event.get("error") or event)
            case _:
                # An error of a server that speaks this format only half; all other events are news or pings.
                if error := event.get("error"):
                    raise reported(error)
                return []

    def close(self) -> list[ProviderEvent]:
        raise incomplete()

    def _say(self, events: list[ProviderEvent]) -> list[ProviderEvent]:
        if not self._held:
            return events
        self._held += events
        return []

    def _begin(self, index: Any, block: dict[str, Any]) -> list[ProviderEvent]:
        match block.get("type"):
            case "text":
                return self._text(text_in(block.get("text")))
            case "thinking":
                self._signature = text_in(block.get("signature"))
                return self._thought(text_in(block.get("thinking")))
            case "redacted_thinking":
                data = text_in(block.get("data"))
                return [ReasoningSigned(data, is_redacted=True)] if data else []
            case "tool_use":
                self._call(index, block)
                return []
            case _:
                return []

    def _grow(self, index: Any, delta: dict[str, Any]) -> list[ProviderEvent]:
        match delta.get("type"):
            case "text_delta":
                return self._text(text_in(delta.get("text")))
            case "thinking_delta":
                return self._thought(text_in(delta.get("thinking")))
            case "signature_delta":
                self._signature = text_in(delta.get("signature")) or self._signature
            case "input_json_delta":
                if type(index) is int and (call := self._calls.get(index)):
                    call.pieces.append(piece := text_in(delta.get("partial_json")))
                    self.size += len(piece)
            case _:
                pass
        return []

    def _text(self, text: str) -> list[ProviderEvent]:
        self.size += len(text)
        return [TextDelta(text)] if text else []

    def _thought(self, text: str) -> list[ProviderEvent]:
        self.size += len(text)
        return [ReasoningDelta(text)] if text else []

    def _signed(self) -> list[ProviderEvent]:
        signature, self._signature = self._signature, ""
        return [ReasoningSigned(signature)] if signature else []

    def _call(self, index: Any, block: dict[str, Any]) -> None:
        number = sum(isinstance(item, _GrowingCall) for item in self._held)
        name = text_in(block.get("name"))
        if number == MAX_CALLS:
            raise malformed(name, f"more than {MAX_CALLS} tool calls")
        call = _GrowingCall(text_in(block.get("id")) or f"call_{number}", name, object_in(block.get("input")))
        self._held.append(call)
        if type(index) is int:
            self._calls[index] = call
        self.size += len(name)

    def _delta(self, event: dict[str, Any]) -> list[ProviderEvent]:
        delta = object_in(event.get("delta"))
        events = self._say(self._signed())
        if reason := text_in(delta.get("stop_reason")):
            self._reason = _REASONS.get(reason, FinishReason.STOP)
        if explanation := text_in(object_in(delta.get("stop_details")).get("explanation")):
            events.append(Warned("content_filter", excerpt(explanation)))
        return events + self._count(event.get("usage"))

    def _count(self, usage: Any) -> list[ProviderEvent]:
        """What is counted at the start and, in sum, at the end; a later count of nothing is none at all."""
        usage = object_in(usage)
        counts = {key: count for key, value in usage.items() if (count := count_in(value))}
        self._usage |= counts
        read = self._usage.get("cache_read_input_tokens", 0)
        written = self._usage.get("cache_creation_input_tokens", 0)
        given = self._usage.get("input_tokens", 0) + read + written
        return [UsageReported(Usage(given, self._usage.get("output_tokens", 0), read, written))] if usage else []

    def _finish(self) -> list[ProviderEvent]:
        events = self._say(self._signed())
        reason = self._reason
        if self._held and reason is FinishReason.STOP:
            reason = FinishReason.TOOL_USE
        for item in self._held:
            if not isinstance(item, _GrowingCall):
                events.append(item)
            elif reason is FinishReason.TOOL_USE:
                # A call that was cut by the token limit is not complete, whatever its text looks like.
                events.append(ToolCalled(item.complete()))
        return [*events, Finished(reason)]
