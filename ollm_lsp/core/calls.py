"""The tool calls of one turn, from the first word of them to their results."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from ollm_lsp.core.messages import Message, Role
from ollm_lsp.core.repair import no_result
from ollm_lsp.core.tool import ToolStatus

if TYPE_CHECKING:
    from collections.abc import Callable

    from ollm_lsp.core.events import ToolChanged
    from ollm_lsp.core.tool import ToolCall, ToolResult
    from ollm_lsp.core.toolbox import Toolbox


class Calls:
    """Queues the calls while the model speaks and runs them together. Each change is kept, then told."""

    def __init__(self, toolbox: Toolbox, turn_id: str, tell: Callable[[ToolChanged], None]) -> None:
        self._toolbox = toolbox
        self.turn_id = turn_id
        self._tell = tell
        self._changes: dict[str, ToolChanged] = {}

    def __len__(self) -> int:
        return len(self._changes)

    def queue(self, call: ToolCall) -> None:
        self._change(self._toolbox.announced(f"{self.turn_id}.{len(self) + 1}", call))

    async def run(self, max_chars: int) -> None:
        await self._toolbox.run_all(tuple(self._changes.values()), self._change, max_chars=max_chars)

    def settle(self, why: str) -> list[ToolChanged]:
        """Give an error result to every call that has none yet; what changed by that is still to be told."""
        settled = [
            replace(change, status=ToolStatus.FAILED, result=no_result(change.call, why))
            for change in self._changes.values()
            if change.result is None
        ]
        self._changes.update((change.id, change) for change in settled)
        return settled

    def advise(self, words: str) -> None:
        """Add something to all results that only the model is to read."""
        for key, change in self._changes.items():
            if result := change.result:
                self._changes[key] = replace(change, result=replace(result, text=f"{result.text}\n[{words}]"))

    @property
    def outcomes(self) -> list[tuple[ToolCall, ToolResult]]:
        """The settled calls with their results, in the order of the calls."""
        return [(change.call, change.result) for change in self._changes.values() if change.result]

    @property
    def message(self) -> Message:
        """All results, in the order of the calls."""
        return Message(Role.TOOL, tuple(result for _, result in self.outcomes))

    def _change(self, change: ToolChanged) -> None:
        self._changes[change.id] = change
        self._tell(change)
