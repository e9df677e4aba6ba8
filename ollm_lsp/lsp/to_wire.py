"""Our values into JSON for the client. Every text that somebody else may have written is cleaned here."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any, assert_never

from pygls.exceptions import JsonRpcException

from ollm_lsp.core.control_sequences import powerless
from ollm_lsp.core.events import (
    Activity,
    ChatEvent,
    Ended,
    Escalated,
    Failed,
    ReasoningDelta,
    Started,
    TextDelta,
    ToolChanged,
    TurnStarted,
    UsageChanged,
    Warned,
)
from ollm_lsp.core.messages import Image, Reasoning, Text
from ollm_lsp.core.tool import ToolCall, ToolResult
from ollm_lsp.lsp.rpc import REQUEST_FAILED
from ollm_lsp.settings.redactor import redactor

if TYPE_CHECKING:
    from collections.abc import Iterable

    from ollm_lsp.core.conversation import Response
    from ollm_lsp.core.errors import OllmError
    from ollm_lsp.core.finding import Finding
    from ollm_lsp.core.kraken import KrakenProvider, KrakenStatus
    from ollm_lsp.core.ledger import LedgerLine
    from ollm_lsp.core.messages import Part
    from ollm_lsp.core.model import ModelDetails, ModelId, ModelInfo
    from ollm_lsp.core.record import ConversationRecord, ResponseRecord, Summary
    from ollm_lsp.core.tool import Location
    from ollm_lsp.core.usage import Cost, Usage
    from ollm_lsp.lsp.buffer import Range
    from ollm_lsp.lsp.context.parts import ContextPart
    from ollm_lsp.lsp.context.preview import Preview


def clean(text: str) -> str:
    """Words of others as they leave: without keys, also those that a control character cuts, and without such."""
    return redactor.redact(powerless(text))


def chat_event(event: ChatEvent) -> dict[str, Any] | None:  # noqa: C901 (a case per event)
    """A chat event as the value of a progress notification; nothing for what is shown as work-done progress."""
    match event:
        case TextDelta(text):
            return {"type": "text", "text": clean(text)}
        case ReasoningDelta(text):
            return {"type": "reasoning", "text": clean(text)}
        case Started(conversation_id, response_id, model):
            ids = {"conversationId": conversation_id, "responseId": response_id}
            return {"type": "started", **ids, "provider": model.provider, "model": str(model)}
        case TurnStarted(number):
            return {"type": "turn", "number": number}
        case ToolChanged():
            return tool_call(event)
        case UsageChanged(usage_, cost_, tokens, limit):
            return {"type": "usage", **usage(usage_), **cost(cost_), "contextTokens": tokens, "contextLimit": limit}
        case Warned():
            return {"type": "warning", **_warning(event)}
        case Escalated(reason, provider, name):
            return {"type": "escalation", "reason": clean(reason), "provider": provider, "model": name}
        case Failed(error):
            return {"type": "error", **failure(error)}
        case Ended(reason):
            return {"type": "finished", "reason": reason.value}
        case Activity():
            return None
        case _:
            assert_never(event)


def _warning(warned: Warned) -> dict[str, str]:
    warning = {"code": warned.code, "message": clean(warned.message)}
    return warning if warned.remedy is None else {**warning, "remedy": clean(warned.remedy)}


def tool_call(change: ToolChanged) -> dict[str, Any]:
    """How far a tool call has come."""
    value: dict[str, Any] = {
        "type": "toolCall",
        "id": change.id,
        "name": clean(change.call.name),
        "title": clean(change.title),
        "kind": change.kind.value,
        "arguments": redactor.redact_json(change.call.arguments),
        "locations": [location(place) for place in change.locations],
        "status": change.status.value,
    }
    return value if change.result is None else value | {"result": clean(change.result.text)}


def location(place: Location) -> dict[str, Any]:
    """A place in a document."""
    return {"uri": place.uri} if place.line is None else {"uri": place.uri, "line": place.line}


def failure(error: OllmError) -> dict[str, str]:
    """An error for the user."""
    return {
        "code": error.code,
        "message": clean(error.message),
        "remedy": clean(error.remedy),
    }


def rpc_error(error: OllmError) -> JsonRpcException:
    """An error as the answer to a request."""
    shown = failure(error)
    return JsonRpcException(shown.pop("message"), REQUEST_FAILED, shown)


def usage(value: Usage) -> dict[str, Any]:
    """Token counts."""
    return {"inputTokens": value.input_tokens, "outputTokens": value.output_tokens}


def cost(value: Cost) -> dict[str, Any]:
    """Money, in whole units of its currency."""
    return {"cost": {"amount": value.micros / 1_000_000, "currency": value.currency, "known": value.known}}


def chat_result(conversation_id: str, response: Response, duration: float) -> dict[str, Any]:
    """The answer to `ollm/chat/send`."""
    return {
        "conversationId": conversation_id,
        "responseId": response.id,
        "model": str(response.model),
        "text": clean(response.text),
        "finishReason": response.finish_reason.value,
        "usage": usage(response.usage),
        **cost(response.cost),
        "durationMs": round(duration * 1000),
    }


def preview(value: Preview, warnings: Iterable[Warned]) -> dict[str, Any]:
    """The answer to `ollm/context/preview`."""
    return {
        "model": str(value.model),
        "parts": [_context_part(part) for part in value.parts],
        "totalTokens": value.total_tokens,
        "limit": value.limit,
        "isEstimate": value.is_estimate,
        "warnings": [_warning(warning) for warning in warnings],
    }


def _context_part(part: ContextPart) -> dict[str, Any]:
    return {
        "source": part.source.value,
        "uri": part.uri,
        "range": part.range and range_(part.range),
        "tokens": part.tokens,
        "reason": clean(part.reason),
        "text": redactor.redact(part.text),
    }


def range_(value: Range) -> dict[str, Any]:
    """A range of a document."""
    start, end = ({"line": place.line, "character": place.character} for place in (value.start, value.end))
    return {"start": start, "end": end}


def change_result(chat: dict[str, Any], *, applied: bool, reason: str) -> dict[str, Any]:
    """The answer to a command that proposes a change, after that to its chat."""
    return {**chat, "applied": applied, **({"reason": clean(reason)} if reason else {})}


def summary(value: Summary) -> dict[str, Any]:
    """One line of `ollm/chat/list`."""
    return {
        "id": value.id,
        "title": clean(value.title),
        "created": time(value.created),
        "updated": time(value.updated),
        "model": str(value.model),
        **cost(value.cost),
        "responses": value.responses,
    }


def conversation(record: ConversationRecord) -> dict[str, Any]:
    """The answer to `ollm/chat/get`."""
    return {
        "id": record.id,
        "title": clean(record.title),
        "created": time(record.created),
        "updated": time(record.updated),
        **({"model": str(record.model)} if record.model else {}),
        "responses": [_response(kept) for kept in record.responses],
    }


def _response(record: ResponseRecord) -> dict[str, Any]:
    response = record.response
    items = (_item(part) for message in response.output for part in message.parts)
    shown = {
        "id": response.id,
        "parentId": response.parent_id,
        "model": str(response.model),
        "text": clean("".join(message.text for message in response.input)),
        "items": [item for item in items if item is not None],
        "finishReason": response.finish_reason.value,
        "usage": usage(response.usage),
        **cost(response.cost),
        "began": time(record.began),
    }
    if record.ended is not None:
        shown["ended"] = time(record.ended)
    return {**shown, "isRecap": True} if response.is_recap else shown


def _item(part: Part) -> dict[str, Any] | None:
    """A part of a kept answer, as the client shows it; nothing for what only the provider can read."""
    match part:
        case Text(text):
            return {"type": "text", "text": clean(text)}
        case Reasoning(text):
            return {"type": "reasoning", "text": clean(text)} if text else None
        case ToolCall(call_id, name, arguments):
            made = {"name": clean(name), "arguments": redactor.redact_json(arguments)}
            return {"type": "toolCall", "id": call_id, **made}
        case ToolResult(call_id, name, text, is_error):
            return {"type": "toolResult", "id": call_id, "name": clean(name), "text": clean(text), "isError": is_error}
        case Image():
            return None
        case _:
            assert_never(part)


def time(seconds: float) -> str:
    """A time as ISO 8601 in UTC."""
    return datetime.fromtimestamp(seconds, UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z")


def model(info: ModelInfo, default: ModelId) -> dict[str, Any]:
    """One line of `ollm/models/list`."""
    capabilities = info.capabilities
    name = clean(info.id.name)
    line = {
        "id": f"{info.id.provider}:{name}",
        "provider": info.id.provider,
        "name": name,
        "capabilities": {
            "streaming": capabilities.streaming,
            "tools": capabilities.tools,
            "vision": capabilities.vision,
            "audio": capabilities.audio,
            "reasoning": capabilities.reasoning,
        },
        "default": info.id == default,
    }
    optional = {"sizeBytes": info.size_bytes, "contextWindow": capabilities.context_window}
    return line | {key: value for key, value in optional.items() if value is not None}


def kraken_status(status: KrakenStatus) -> dict[str, Any]:
    """The answer to `ollm/kraken/status`."""
    budget = status.budget
    amounts = {
        "limit": budget.limit,
        "spent": budget.spent,
        "reserved": budget.reserved,
        "remaining": budget.remaining,
    }
    return {
        "state": status.state.value,
        "providers": [_kraken_provider(provider) for provider in status.providers],
        "budget": {
            **{name: None if micros is None else micros / 1_000_000 for name, micros in amounts.items()},
            "currency": budget.currency,
        },
    }


def _kraken_provider(provider: KrakenProvider) -> dict[str, Any]:
    told = {
        "version": provider.version and clean(provider.version),
        "authRequired": provider.needs_login or None,
        "error": provider.problem and clean(provider.problem),
        "remedy": provider.remedy and clean(provider.remedy),
    }
    return {
        "name": provider.name,
        "type": provider.kind.value,
        "available": provider.is_available,
        "model": clean(provider.model),
        **{key: value for key, value in told.items() if value is not None},
    }


def ledger_line(line: LedgerLine) -> dict[str, Any]:
    """One line of `ollm/kraken/history`."""
    told: dict[str, Any] = {
        "timestamp": time(line.timestamp),
        "provider": line.call.provider,
        "model": clean(line.call.model),
        "kind": line.call.kind.value,
        "usage": usage(line.usage),
        **cost(line.cost),
        "success": line.success,
        "settled": line.is_settled,
        "conversationId": line.call.conversation_id,
    }
    return told if line.error is None else {**told, "error": line.error}


def finding(value: Finding) -> dict[str, Any]:
    """One finding of a check-up."""
    remedy = None if value.remedy is None else clean(value.remedy)
    return {
        "subject": value.subject,
        "level": value.level.value,
        "message": clean(value.message),
        "remedy": remedy,
    }


def model_details(details: ModelDetails, default: ModelId) -> dict[str, Any]:
    """The answer to `ollm/models/show`."""
    return {**model(details.info, default), "facts": dict(details.facts)}
