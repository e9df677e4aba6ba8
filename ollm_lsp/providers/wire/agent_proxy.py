"""The events of a proxy that runs a CLI agent on another machine, told in docs/kraken-proxy.md."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ollm_lsp.core.errors import ModelNotFound, ProviderError, ServerFailed
from ollm_lsp.core.events import Finished, FinishReason, ToolChanged, UsageReported, Warned
from ollm_lsp.core.foreign_json import count_in, list_in, object_in, text_in
from ollm_lsp.core.tool import Location, ToolCall, ToolKind, ToolResult, ToolStatus
from ollm_lsp.core.usage import Cost, Usage
from ollm_lsp.providers.framing import NdjsonFramer
from ollm_lsp.providers.wire.agent_acts import MAX_OUTPUT
from ollm_lsp.providers.wire.agent_lines import AgentLines
from ollm_lsp.providers.wire.faults import excerpt

if TYPE_CHECKING:
    from ollm_lsp.core.events import ProviderEvent

_ERRORS: dict[str, type[ProviderError]] = {kind.code: kind for kind in ProviderError.__subclasses__()}


def encode(tool: str, model: str, prompt: str) -> dict[str, Any]:
    """The body of a request. The agent may read, and change nothing."""
    return {"tool": tool, "model": model, "prompt": prompt, "readOnly": True}


class EventLines(NdjsonFramer):
    """Lines of JSON, or server-sent events of one data line each: both are the same lines in the end."""

    def feed(self, chunk: bytes) -> list[str]:
        return [line.removeprefix("data:").lstrip() for line in super().feed(chunk)]

    def close(self) -> list[str]:
        return [line.removeprefix("data:").lstrip() for line in super().close()]


class Decoder(AgentLines):
    """Decodes the events; the terminal signal is `finished`."""

    def __init__(self) -> None:
        super().__init__({}, str, None)

    def _line(self, line: dict[str, Any]) -> list[ProviderEvent]:
        match line.get("type"):
            case "text":
                return self._say(text_in(line.get("text")))
            case "reasoning":
                return self._think(text_in(line.get("text")))
            case "toolCall":
                return self._change(line)
            case "usage":
                return [UsageReported(_usage(line), _cost(object_in(line.get("cost"))))]
            case "warning":
                remedy = excerpt(text_in(line.get("remedy"))) or None
                code = excerpt(text_in(line.get("code"))) or "agent_warning"
                return [Warned(code, excerpt(text_in(line.get("message"))), remedy)]
            case "error":
                raise _error(line)
            case "finished":
                return [Finished(_reason(text_in(line.get("reason"))))]
            case _:
                return []

    def _change(self, line: dict[str, Any]) -> list[ProviderEvent]:
        name, call_id = text_in(line.get("name")), text_in(line.get("id"))
        if not name or not call_id:
            return []
        self._written += 1
        status = _member(ToolStatus, line.get("status"), ToolStatus.RUNNING)
        places = (object_in(place) for place in list_in(line.get("locations")))
        output = line.get("result")
        is_error = status is not ToolStatus.COMPLETED
        return [
            ToolChanged(
                call_id,
                ToolCall(call_id, name, object_in(line.get("arguments"))),
                _member(ToolKind, line.get("kind"), ToolKind.OTHER),
                excerpt(text_in(line.get("title")) or name),
                tuple(Location(uri) for place in places if (uri := text_in(place.get("uri")))),
                status,
                ToolResult(call_id, name, output[:MAX_OUTPUT], is_error) if isinstance(output, str) else None,
            )
        ]


def _member(kind: Any, value: object, default: Any) -> Any:
    return kind(value) if value in list(kind) else default


def _reason(value: str) -> FinishReason:
    """Why it ended; an agent that was cancelled or failed has not answered, whatever else it says."""
    reason: FinishReason = _member(FinishReason, value, FinishReason.STOP)
    if reason in (FinishReason.CANCELLED, FinishReason.ERROR):
        raise ServerFailed(f"The proxy ended the agent ({reason.value}).", remedy="Send the message again.")
    return reason


def _error(line: dict[str, Any]) -> ProviderError:
    kind = _ERRORS.get(text_in(line.get("code")), ServerFailed)
    message = f"The proxy says: {excerpt(text_in(line.get('message')))}"
    remedy = excerpt(text_in(line.get("remedy"))) or "Look at the proxy's log."
    return ModelNotFound(message, remedy=remedy) if kind is ModelNotFound else kind(message, remedy=remedy)


def _usage(line: dict[str, Any]) -> Usage:
    names = ("inputTokens", "outputTokens", "cacheReadTokens", "cacheWriteTokens")
    return Usage(*(count_in(line.get(name)) for name in names))


def _cost(cost: dict[str, Any]) -> Cost | None:
    amount = cost.get("amount")
    if cost.get("known") is not True or not isinstance(amount, int | float) or not 0 <= amount < 10**6:
        return None
    return Cost(-int(-amount * 1_000_000 // 1), excerpt(text_in(cost.get("currency"))) or "USD")
