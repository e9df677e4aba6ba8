"""The tools that a provider runs by itself in one turn: told to the user, and never left as if they were running."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from ollm_lsp.core.tool import ToolStatus

if TYPE_CHECKING:
    from collections.abc import Callable

    from ollm_lsp.core.events import ToolChanged


class ForeignCalls:
    """Passes the changes on, under ids that no other call has."""

    def __init__(self, turn_id: str, tell: Callable[[ToolChanged], None]) -> None:
        self._turn_id = turn_id
        self._tell = tell
        self._open: dict[str, ToolChanged] = {}

    def change(self, change: ToolChanged) -> None:
        told = replace(change, id=f"{self._turn_id}.{change.id}")
        if told.status.is_settled:
            self._open.pop(told.id, None)
        else:
            self._open[told.id] = told
        self._tell(told)

    def settle(self) -> None:
        """The provider has ended, and with it whatever it was doing."""
        for change in self._open.values():
            self._tell(replace(change, status=ToolStatus.FAILED))
        self._open.clear()
