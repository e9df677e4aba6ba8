"""The lines of `claude -p --output-format stream-json`."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ollm_lsp.core.agent_session import AgentSession
from ollm_lsp.core.errors import ConnectionFailed
from ollm_lsp.core.events import Finished, FinishReason, SessionReported, UsageReported, Warned
from ollm_lsp.core.foreign_json import count_in, list_in, object_in, text_in
from ollm_lsp.core.tool import ToolKind, ToolStatus
from ollm_lsp.core.usage import Cost, Usage
from ollm_lsp.providers.wire.agent_lines import AgentLines
from ollm_lsp.providers.wire.faults import excerpt
from ollm_lsp.providers.wire.refusal import Complaint, refusal

if TYPE_CHECKING:
    from collections.abc import Callable

    from ollm_lsp.core.events import ProviderEvent

KINDS = {
    "Read": ToolKind.READ,
    "NotebookRead": ToolKind.READ,
    "LS": ToolKind.SEARCH,
    "Glob": ToolKind.SEARCH,
    "Grep": ToolKind.SEARCH,
    "WebSearch": ToolKind.SEARCH,
    "WebFetch": ToolKind.READ,
    "Edit": ToolKind.EDIT,
    "MultiEdit": ToolKind.EDIT,
    "NotebookEdit": ToolKind.EDIT,
    "Write": ToolKind.EDIT,
    "Bash": ToolKind.EXECUTE,
}
_REASONS = {"max_tokens": FinishReason.LENGTH, "refusal": FinishReason.CONTENT_FILTER}
_OWN_WORDS = "<synthetic>"
"""The model of messages that Claude Code wrote itself, about its errors."""


class Decoder(AgentLines):
    """Decodes the lines; the terminal signal is `result`, and `is_error` in it is the verdict.

    Its `usage` counts this run, its `total_cost_usd` the whole session: so a session that goes on has no cost here.
    """

    def __init__(self, locate: Callable[[str], str], session: AgentSession | None = None) -> None:
        super().__init__(KINDS, locate, session)
        self._has_warned = False
        self._is_paid = False
        self._streamed: set[str] = set()
        self._denied: set[str] = set()

    def _line(self, line: dict[str, Any]) -> list[ProviderEvent]:
        if text_in(line.get("parent_tool_use_id")):
            return []  # what an agent of the agent says
        match line.get("type"):
            case "system":
                return self._system(line)
            case "stream_event":
                return self._delta(object_in(line.get("event")))
            case "assistant":
                return self._message(object_in(line.get("message")))
            case "user":
                return self._results(object_in(line.get("message")))
            case "result":
                return self._result(line)
            case _:
                return []

    def _system(self, line: dict[str, Any]) -> list[ProviderEvent]:
        match line.get("subtype"):
            case "init":
                self._is_paid = text_in(line.get("apiKeySource")) not in ("", "none")
                return [SessionReported(AgentSession(text_in(line.get("session_id")), self._counted))]
            case "permission_denied":
                self._denied.add(text_in(line.get("tool_use_id")))
                return []
            case "api_retry":
                return self._retry(line)
            case _:
                return []

    def _retry(self, line: dict[str, Any]) -> list[ProviderEvent]:
        status, why = count_in(line.get("error_status")), text_in(line.get("error"))
        if status:
            self.trouble = refusal(f"Claude Code was answered {status}: {why}.", Complaint(why), status=status)
        else:
            self.trouble = ConnectionFailed(
                f"Claude Code cannot reach its server ({excerpt(why)}).", remedy="Check the network.", is_passing=True
            )
        if self._has_warned:
            return []
        self._has_warned = True
        return [Warned("retry", f"{self.trouble.message} It tries again.")]

    def _delta(self, event: dict[str, Any]) -> list[ProviderEvent]:
        delta = object_in(event.get("delta"))
        match text_in(event.get("type")), text_in(delta.get("type")):
            case "message_start", _:
                self._streamed.add(text_in(object_in(event.get("message")).get("id")))
                self._begin_message()
                return []
            case _, "text_delta":
                return self._say(text_in(delta.get("text")))
            case _, "thinking_delta":
                return self._think(text_in(delta.get("thinking")))
            case _:
                return []

    def _message(self, message: dict[str, Any]) -> list[ProviderEvent]:
        """A whole message. Its text has been said before, unless the deltas were left out."""
        if message.get("model") == _OWN_WORDS:
            return []
        is_new = text_in(message.get("id")) not in self._streamed
        if is_new:
            self._begin_message()
        events: list[ProviderEvent] = []
        for part in map(object_in, list_in(message.get("content"))):
            match part.get("type"):
                case "text" if is_new:
                    events += self._say(text_in(part.get("text")))
                case "thinking" if is_new:
                    events += self._think(text_in(part.get("thinking")))
                case "tool_use":
                    name, given = text_in(part.get("name")), object_in(part.get("input"))
                    events.append(self._acts.begin(text_in(part.get("id")), name, given))
                case _:
                    pass
        return events

    def _results(self, message: dict[str, Any]) -> list[ProviderEvent]:
        events: list[ProviderEvent] = []
        for part in map(object_in, list_in(message.get("content"))):
            call_id = text_in(part.get("tool_use_id"))
            content = part.get("content")
            inner = (text_in(object_in(one).get("text")) for one in list_in(content))
            status = ToolStatus.FAILED if part.get("is_error") is True else ToolStatus.COMPLETED
            status = ToolStatus.DENIED if call_id in self._denied else status
            events += self._acts.end(call_id, text_in(content) or "\n".join(inner), status)
        return events

    def _result(self, line: dict[str, Any]) -> list[ProviderEvent]:
        usage = _usage(object_in(line.get("usage")))
        events: list[ProviderEvent] = []
        if usage != Usage():
            events.append(UsageReported(usage, self._cost(line.get("total_cost_usd"))))
        if session_id := text_in(line.get("session_id")):
            events.append(SessionReported(AgentSession(session_id, self._counted + usage)))
        if line.get("is_error") is False:
            reason = _REASONS.get(text_in(line.get("stop_reason")), FinishReason.STOP)
            return [*events, Finished(reason)]
        said = text_in(line.get("result")) or "; ".join(map(str, list_in(line.get("errors"))))
        codes = tuple(filter(None, (text_in(line.get("api_error_type")), text_in(line.get("subtype")))))
        status = count_in(line.get("api_error_status")) or None
        self._fail(refusal(f"Claude Code says: {excerpt(said)}", Complaint(said, codes), status=status))
        return events

    def _cost(self, dollars: object) -> Cost | None:
        """What it takes by the tool's own list; nothing for a session that goes on, or that a plan pays for."""
        if self._session or not self._is_paid or not isinstance(dollars, int | float) or not 0 <= dollars < 10**6:
            return None
        return Cost(-int(-dollars * 1_000_000 // 1))


def _usage(usage: dict[str, Any]) -> Usage:
    read, written = count_in(usage.get("cache_read_input_tokens")), count_in(usage.get("cache_creation_input_tokens"))
    given = count_in(usage.get("input_tokens")) + read + written
    return Usage(given, count_in(usage.get("output_tokens")), read, written)
