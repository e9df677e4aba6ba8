"""What a CLI agent does by its own tools, told as changes of tool calls."""

from __future__ import annotations

import json
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from ollm_lsp.core.control_sequences import plain
from ollm_lsp.core.events import ToolChanged
from ollm_lsp.core.foreign_edit import ForeignEdit
from ollm_lsp.core.foreign_json import count_in, list_in, object_in, text_in
from ollm_lsp.core.tool import Location, ToolCall, ToolKind, ToolResult, ToolStatus
from ollm_lsp.providers.wire.faults import MAX_CALLS, excerpt, malformed

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from ollm_lsp.core.events import ProviderEvent

MAX_OUTPUT = 10_000
"""Characters of a tool's output that are told."""
MAX_OPEN = MAX_CALLS
"""How many tools may run at once."""
_TARGETS = ("file_path", "absolute_path", "path", "dir_path", "notebook_path", "pattern", "command", "query", "url")
"""The arguments that say what a call is about, in the words of all agents; the first five are paths."""
_PATHS = _TARGETS[:5]


class Acts:
    """The calls of an agent's tools by their ids."""

    def __init__(self, kinds: Mapping[str, ToolKind], locate: Callable[[str], str]) -> None:
        self.size = 0
        self._kinds = kinds
        self._locate = locate
        self._open: dict[str, ToolChanged] = {}

    def begin(
        self, call_id: str, name: str, arguments: dict[str, Any], edits: tuple[ForeignEdit, ...] = ()
    ) -> ToolChanged:
        """A tool runs, as far as the agent tells. Its `edits` are read from the arguments where they are not given."""
        if len(self._open) == MAX_OPEN:
            raise malformed(name, f"more than {MAX_OPEN} tools at once")
        self.size += 1
        arguments = _well_formed(arguments)
        call = ToolCall(call_id or f"act_{self.size}", name or "tool", arguments)
        kind = self._kinds.get(name, ToolKind.OTHER)
        change = ToolChanged(
            call.id,
            call,
            kind,
            _title(call.name, arguments),
            tuple(self._locations(arguments)),
            ToolStatus.RUNNING,
            edits=edits or _edits_in(kind, arguments),
        )
        self._open[call.id] = change
        return change

    def end(self, call_id: str, output: str, status: ToolStatus) -> list[ProviderEvent]:
        """A tool has ended. Of one that was never told, nothing is told."""
        change = self._open.pop(call_id, None)
        if change is None:
            return []
        self.size += 1
        text = plain(output[: 2 * MAX_OUTPUT])[:MAX_OUTPUT]
        result = ToolResult(change.call.id, change.call.name, text, is_error=status is not ToolStatus.COMPLETED)
        return [replace(change, status=status, result=result)]

    def _locations(self, arguments: dict[str, Any]) -> list[Location]:
        paths = [path for key in _PATHS if (path := text_in(arguments.get(key)))]
        paths += [
            path for change in list_in(arguments.get("changes")) if (path := text_in(object_in(change).get("path")))
        ]
        line = count_in(arguments.get("offset"))
        return [Location(self._locate(path), line - 1 if line else None) for path in paths if "\0" not in path]


def _edits_in(kind: ToolKind, arguments: dict[str, Any]) -> tuple[ForeignEdit, ...]:
    """The edits that the arguments of a call stand for."""
    path = next((path for key in _PATHS if (path := text_in(arguments.get(key)))), "")
    if kind is not ToolKind.EDIT or not path:
        return ()
    before, after = arguments.get("old_string"), arguments.get("new_string", arguments.get("content"))
    pieces = map(object_in, list_in(arguments.get("edits")) or [{"old_string": before, "new_string": after}])
    return tuple(
        ForeignEdit(path, kind, _text(piece.get("old_string")), _text(piece.get("new_string"))) for piece in pieces
    )


def _well_formed(arguments: dict[str, Any]) -> dict[str, Any]:
    """The arguments as UTF-8 can hold them: half characters are replaced."""
    text = json.dumps(arguments, ensure_ascii=False)
    whole = text.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "replace")
    return arguments if whole == text else json.loads(whole)


def _text(value: object) -> str | None:
    return value if isinstance(value, str) else None


def _title(name: str, arguments: dict[str, Any]) -> str:
    target = next((text for key in _TARGETS if (text := text_in(arguments.get(key)))), "")
    return excerpt(f"{name} {target}" if target else name)
