"""The format of Google's `streamGenerateContent`, as an event stream."""

from __future__ import annotations

import base64
import json
from typing import TYPE_CHECKING, Any, assert_never

from ollm_lsp.core.errors import ContentFiltered, InvalidMessage
from ollm_lsp.core.events import (
    Finished,
    FinishReason,
    ReasoningDelta,
    ReasoningSigned,
    TextDelta,
    ToolCalled,
    UsageReported,
)
from ollm_lsp.core.foreign_json import JsonError, count_in, decode_arguments, list_in, object_in, text_in
from ollm_lsp.core.messages import Image, Reasoning, Role, Text
from ollm_lsp.core.sight import apart
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

UNNAMED = "unnamed-"
"""How the ids begin that are made up here, for the calls that come without one. They are not sent."""

_REASONS = {
    "STOP": FinishReason.STOP,
    "MAX_TOKENS": FinishReason.LENGTH,
    "CONTINUATION": FinishReason.LENGTH,
    "SAFETY": FinishReason.CONTENT_FILTER,
    "RECITATION": FinishReason.CONTENT_FILTER,
    "LANGUAGE": FinishReason.CONTENT_FILTER,
    "BLOCKLIST": FinishReason.CONTENT_FILTER,
    "PROHIBITED_CONTENT": FinishReason.CONTENT_FILTER,
    "SPII": FinishReason.CONTENT_FILTER,
    "IMAGE_SAFETY": FinishReason.CONTENT_FILTER,
    "IMAGE_PROHIBITED_CONTENT": FinishReason.CONTENT_FILTER,
    "IMAGE_RECITATION": FinishReason.CONTENT_FILTER,
}
_FAILURES = {"OTHER", "MISSING_THOUGHT_SIGNATURE", "NO_IMAGE", "IMAGE_OTHER"}
_BAD_CALLS = {"MALFORMED_FUNCTION_CALL", "UNEXPECTED_TOOL_CALL", "TOO_MANY_TOOL_CALLS", "MALFORMED_RESPONSE"}


def encode(request: ChatRequest, *, thinking: JsonObject | None = None) -> dict[str, Any]:
    """The body of a streaming request; the address names the model. `thinking` is a `thinkingConfig`.

    The images of a tool follow its result as the user's: within the result only Gemini 3 takes them, and beside it they
    count as results of their own, of which there are then too many.
    """
    contents = [content for message in apart(request.messages) if (content := _encode_message(message))]
    body: dict[str, Any] = {"contents": contents}
    if system := "\n\n".join(message.text for message in request.messages if message.role is Role.SYSTEM):
        body["systemInstruction"] = {"parts": [{"text": system}]}
    if request.tools:
        declarations = [
            {"name": tool.name, "description": tool.description, "parametersJsonSchema": tool.parameters}
            for tool in request.tools
        ]
        body["tools"] = [{"functionDeclarations": declarations}]
    if choice := _encode_choice(request.tool_choice):
        body["toolConfig"] = {"functionCallingConfig": choice}
    config = {
        "maxOutputTokens": request.max_tokens,
        "temperature": request.temperature,
        "thinkingConfig": thinking,
    }
    if config := {key: value for key, value in config.items() if value is not None}:
        body["generationConfig"] = config
    return body


def _encode_message(message: Message) -> dict[str, Any] | None:
    if message.role is Role.SYSTEM:
        return None
    parts = [wire for part in message.parts if (wire := _encode_part(part))]
    role = "model" if message.role is Role.ASSISTANT else "user"
    return {"role": role, "parts": parts} if parts else None


def _encode_part(part: Part) -> dict[str, Any] | None:
    match part:
        case Text(text):
            return {"text": text} if text else None
        case Image(mime_type, data):
            return {"inlineData": {"mimeType": mime_type, "data": base64.b64encode(data).decode()}}
        case Reasoning(signature=None) | Reasoning(is_redacted=True):
            return None  # thoughts count only with a signature, and Google redacts none
        case Reasoning("", signature):
            return {"text": "", "thoughtSignature": signature}
        case Reasoning(text, signature):
            return {"text": text, "thought": True, "thoughtSignature": signature}
        case ToolCall(call_id, name, arguments, signature):
            wire: dict[str, Any] = {"functionCall": {**_id(call_id), "name": name, "args": arguments}}
            return wire | ({"thoughtSignature": signature} if signature else {})
        case ToolResult(call_id, name, text, is_error):
            response = {"error" if is_error else "output": text}
            return {"functionResponse": {**_id(call_id), "name": name, "response": response}}
        case _:
            assert_never(part)


def _id(call_id: str) -> dict[str, str]:
    return {} if call_id.startswith(UNNAMED) else {"id": call_id}


def _encode_choice(choice: ToolChoice | OneTool) -> dict[str, Any] | None:
    match choice:
        case ToolChoice.AUTO:
            return None
        case ToolChoice.NONE:
            return {"mode": "NONE"}
        case ToolChoice.REQUIRED:
            return {"mode": "ANY"}
        case OneTool(name):
            return {"mode": "ANY", "allowedFunctionNames": [name]}
        case _:
            assert_never(choice)


class Decoder:
    """Decodes server-sent events. The terminal signal is a `finishReason`.

    Some models give one with every event, so that `Finished` waits for the end of the stream. Tool calls wait for it
    too, and with them what the model says after the first: its order has to stay as it was.
    """

    def __init__(self) -> None:
        self.size = 0
        self._reason: FinishReason | None = None
        self._calls = 0
        self._held: list[ProviderEvent] = []  # begins with a call

    def feed(self, frame: SseEvent) -> list[ProviderEvent]:
        chunk = object_of(frame.data)
        if error := chunk.get("error"):
            raise reported(error)
        if reason := text_in((feedback := object_in(chunk.get("promptFeedback"))).get("blockReason")):
            raise _blocked(reason, text_in(feedback.get("blockReasonMessage")))
        events: list[ProviderEvent] = []
        for candidate in map(object_in, list_in(chunk.get("candidates"))[:1]):
            for part in list_in(object_in(candidate.get("content")).get("parts")):
                events += self._say(self._part(object_in(part), text_in(chunk.get("responseId"))))
            self._end(text_in(candidate.get("finishReason")), text_in(candidate.get("finishMessage")))
        if usage := object_in(chunk.get("usageMetadata")):
            events.append(_usage(usage))
        return events

    def close(self) -> list[ProviderEvent]:
        if self._reason is None:
            raise incomplete()
        reason = self._reason
        if self._held and reason is FinishReason.STOP:
            reason = FinishReason.TOOL_USE
        # Of an answer that ran into the token limit, nobody knows whether a call is all that was meant.
        runs = reason is FinishReason.TOOL_USE
        events = [event for event in self._held if runs or not isinstance(event, ToolCalled)]
        return [*events, Finished(reason)]

    def _say(self, events: list[ProviderEvent]) -> list[ProviderEvent]:
        if not self._held and not any(isinstance(event, ToolCalled) for event in events):
            return events
        self._held += events
        return []

    def _part(self, part: dict[str, Any], response_id: str) -> list[ProviderEvent]:
        signature = text_in(part.get("thoughtSignature"))
        if "functionCall" in part:
            return [ToolCalled(self._call(object_in(part.get("functionCall")), signature, response_id))]
        events: list[ProviderEvent] = []
        if text := text_in(part.get("text")):
            self.size += len(text)
            events.append(ReasoningDelta(text) if part.get("thought") is True else TextDelta(text))
        if signature:
            events.append(ReasoningSigned(signature))
        return events

    def _call(self, call: dict[str, Any], signature: str, response_id: str) -> ToolCall:
        name, arguments = text_in(call.get("name")), call.get("args")
        if self._calls == MAX_CALLS:
            raise malformed(name, f"more than {MAX_CALLS} tool calls")
        call_id = text_in(call.get("id")) or f"{UNNAMED}{response_id}-{self._calls}"
        self._calls += 1
        text = json.dumps({} if arguments is None else arguments)
        self.size += len(name) + len(text)
        try:
            return ToolCall(call_id, name, decode_arguments(text), signature or None)
        except (JsonError, InvalidMessage) as error:
            raise unreadable_call(name, text, str(error)) from None

    def _end(self, reason: str, message: str) -> None:
        if not reason or reason == "FINISH_REASON_UNSPECIFIED":
            return
        if reason in _FAILURES:
            raise reported(f"the answer ended with '{reason}' {message}")
        if reason in _BAD_CALLS:
            raise unreadable_call("", message, reason)
        self._reason = _REASONS.get(reason, FinishReason.STOP)


def _usage(usage: dict[str, Any]) -> UsageReported:
    def count(*keys: str) -> int:
        return sum(count_in(usage.get(key)) for key in keys)

    given = count("promptTokenCount", "toolUsePromptTokenCount")
    taken = count("candidatesTokenCount", "thoughtsTokenCount")
    return UsageReported(Usage(given, taken, count("cachedContentTokenCount")))


def _blocked(reason: str, message: str) -> ContentFiltered:
    said = f"{excerpt(reason)}: {excerpt(message)}" if message else excerpt(reason)
    return ContentFiltered(
        f"Google does not answer this message ({said}).",
        remedy="Word the message differently, or choose another model.",
    )
