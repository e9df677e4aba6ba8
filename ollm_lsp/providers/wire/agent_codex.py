"""The lines of `codex exec --json`."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

from ollm_lsp.core.agent_session import AgentSession
from ollm_lsp.core.errors import ConnectionFailed
from ollm_lsp.core.events import Finished, FinishReason, SessionReported, UsageReported, Warned
from ollm_lsp.core.foreign_edit import ForeignEdit
from ollm_lsp.core.foreign_json import count_in, list_in, object_in, text_in
from ollm_lsp.core.tool import ToolKind, ToolStatus
from ollm_lsp.core.usage import Usage
from ollm_lsp.providers.wire.agent_lines import AgentLines
from ollm_lsp.providers.wire.faults import excerpt
from ollm_lsp.providers.wire.refusal import Complaint, complaint_in, refusal

if TYPE_CHECKING:
    from collections.abc import Callable

    from ollm_lsp.core.errors import ProviderError
    from ollm_lsp.core.events import ProviderEvent

KINDS = {
    "command_execution": ToolKind.EXECUTE,
    "file_change": ToolKind.EDIT,
    "web_search": ToolKind.SEARCH,
    "mcp_tool_call": ToolKind.OTHER,
}
_CHANGES = {"add": ToolKind.CREATE, "delete": ToolKind.DELETE, "update": ToolKind.EDIT}
_STATUSES = {"completed": ToolStatus.COMPLETED, "declined": ToolStatus.DENIED}
_STATUS = re.compile(r"unexpected status ([0-9]{3})\b[^:]*:? ?(.*?)(?:, url: .*)?$", re.DOTALL)
_RETRIES = "Reconnecting..."


class Decoder(AgentLines):
    """Decodes the lines; the verdict is `turn.completed` or `turn.failed`, errors before it are remarks.

    There are no deltas: a message comes as a whole. Its counts are those of the whole thread.
    """

    def __init__(self, locate: Callable[[str], str], session: AgentSession | None = None) -> None:
        super().__init__(KINDS, locate, session)
        self._thread_id = session.id if session else ""
        self._has_warned = False
        self._begun: set[str] = set()

    def _line(self, line: dict[str, Any]) -> list[ProviderEvent]:
        item = object_in(line.get("item"))
        match line.get("type"):
            case "thread.started":
                self._thread_id = text_in(line.get("thread_id"))
                return [SessionReported(AgentSession(self._thread_id, self._counted))]
            case "item.started":
                return self._begin(item)
            case "item.completed":
                return self._item(item)
            case "error":
                return self._remark(text_in(line.get("message")))
            case "turn.completed":
                return [*self._count(object_in(line.get("usage"))), Finished(FinishReason.STOP)]
            case "turn.failed":
                self._fail(_failure(text_in(object_in(line.get("error")).get("message"))))
                return []
            case _:
                return []

    def _item(self, item: dict[str, Any]) -> list[ProviderEvent]:
        match item.get("type"):
            case "agent_message":
                self._begin_message()
                return self._say(text_in(item.get("text")))
            case "reasoning":
                text = text_in(item.get("text"))
                return self._think(f"{text}\n") if text else []
            case "error":
                return [Warned("agent_warning", f"Codex says: {excerpt(text_in(item.get('message')))}")]
            case _:
                begun = [] if text_in(item.get("id")) in self._begun else self._begin(item)
                status = _STATUSES.get(text_in(item.get("status")) or "completed", ToolStatus.FAILED)
                return [*begun, *self._acts.end(text_in(item.get("id")), _output(item), status)]

    def _begin(self, item: dict[str, Any]) -> list[ProviderEvent]:
        kind = text_in(item.get("type"))
        if kind not in KINDS:
            return []
        self._begun.add(text_in(item.get("id")))
        arguments = {key: item[key] for key in ("command", "query", "server", "tool", "arguments") if key in item}
        changes = [object_in(change) for change in list_in(item.get("changes"))]
        if changes:
            arguments["changes"] = changes
        edits = tuple(
            ForeignEdit(path, _CHANGES.get(text_in(change.get("kind")), ToolKind.EDIT))
            for change in changes
            if (path := text_in(change.get("path")))
        )
        return [self._acts.begin(text_in(item.get("id")), kind, arguments, edits=edits)]

    def _remark(self, message: str) -> list[ProviderEvent]:
        """It tries again; or it says in advance with what the turn will fail."""
        self.trouble = _failure(message.removeprefix(_RETRIES).strip())
        if self._has_warned or not message.startswith(_RETRIES):
            return []
        self._has_warned = True
        return [Warned("retry", f"Codex says: {excerpt(message)}")]

    def _count(self, counts: dict[str, Any]) -> list[ProviderEvent]:
        total = Usage(
            count_in(counts.get("input_tokens")),
            count_in(counts.get("output_tokens")),
            count_in(counts.get("cached_input_tokens")),
            count_in(counts.get("cache_write_input_tokens")),
        )
        if total == Usage():
            return []
        return [UsageReported(total.since(self._counted)), SessionReported(AgentSession(self._thread_id, total))]


def _failure(message: str) -> ProviderError:
    shown = f"Codex says: {excerpt(message)}"
    if "onnection failed" in message or "failed to lookup address" in message:
        return ConnectionFailed(shown, remedy="Check the network.", is_passing=True)
    if found := _STATUS.search(message):
        return refusal(shown, complaint_in(found[2]), status=int(found[1]))
    return refusal(shown, Complaint(message))


def _output(item: dict[str, Any]) -> str:
    return text_in(item.get("aggregated_output")) or text_in(object_in(item.get("error")).get("message"))
