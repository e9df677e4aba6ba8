"""The lines of `gemini -o stream-json`."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

from ollm_lsp.core.agent_session import AgentSession
from ollm_lsp.core.events import Finished, FinishReason, SessionReported, UsageReported, Warned
from ollm_lsp.core.foreign_json import count_in, object_in, text_in
from ollm_lsp.core.tool import ToolKind, ToolStatus
from ollm_lsp.core.usage import Usage
from ollm_lsp.providers.wire.agent_lines import AgentLines
from ollm_lsp.providers.wire.faults import excerpt
from ollm_lsp.providers.wire.refusal import complaint_in, refusal

if TYPE_CHECKING:
    from collections.abc import Callable

    from ollm_lsp.core.events import ProviderEvent

KINDS = {
    "read_file": ToolKind.READ,
    "read_many_files": ToolKind.READ,
    "web_fetch": ToolKind.READ,
    "list_directory": ToolKind.SEARCH,
    "glob": ToolKind.SEARCH,
    "grep_search": ToolKind.SEARCH,
    "search_file_content": ToolKind.SEARCH,
    "google_web_search": ToolKind.SEARCH,
    "write_file": ToolKind.EDIT,
    "replace": ToolKind.EDIT,
    "run_shell_command": ToolKind.EXECUTE,
}
_API_ERROR = re.compile(r"\[API Error: (.*)\]", re.DOTALL)


class Decoder(AgentLines):
    """Decodes the lines; the terminal signal is `result` with its `status`. All counts are of this run.

    The first message repeats the prompt. Thoughts are counted, but neither told nor among the output.
    """

    def __init__(self, locate: Callable[[str], str], session: AgentSession | None = None) -> None:
        super().__init__(KINDS, locate, session)
        self._session_id = session.id if session else ""

    def _line(self, line: dict[str, Any]) -> list[ProviderEvent]:
        match line.get("type"):
            case "init":
                self._session_id = text_in(line.get("session_id"))
                return [SessionReported(AgentSession(self._session_id, self._counted))]
            case "message" if line.get("role") == "assistant":
                return self._say(text_in(line.get("content")))
            case "tool_use":
                self._begin_message()
                name, given = text_in(line.get("tool_name")), object_in(line.get("parameters"))
                return [self._acts.begin(text_in(line.get("tool_id")), name, given)]
            case "tool_result":
                status = ToolStatus.COMPLETED if line.get("status") == "success" else ToolStatus.FAILED
                return self._acts.end(text_in(line.get("tool_id")), text_in(line.get("output")), status)
            case "error":
                return [Warned("agent_warning", f"Gemini CLI says: {excerpt(text_in(line.get('message')))}")]
            case "result":
                return self._result(line)
            case _:
                return []

    def _result(self, line: dict[str, Any]) -> list[ProviderEvent]:
        usage = _usage(object_in(line.get("stats")))
        events: list[ProviderEvent] = []
        if usage != Usage():
            events.append(UsageReported(usage))
        events.append(SessionReported(AgentSession(self._session_id, self._counted + usage)))
        if line.get("status") == "success":
            return [*events, Finished(FinishReason.STOP)]
        said = text_in(object_in(line.get("error")).get("message"))
        inner = _API_ERROR.search(said)
        complaint = complaint_in(inner[1] if inner else said)
        self._fail(refusal(f"Gemini CLI says: {excerpt(complaint.text)}", complaint))
        return events


def _usage(stats: dict[str, Any]) -> Usage:
    given, taken = count_in(stats.get("input_tokens")), count_in(stats.get("output_tokens"))
    thought = max(0, count_in(stats.get("total_tokens")) - given - taken)
    return Usage(given, taken + thought, count_in(stats.get("cached")))
