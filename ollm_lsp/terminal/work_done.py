"""Work-done progress of LSP, shown on the screen."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ollm_lsp.terminal.payload import Payload

if TYPE_CHECKING:
    from ollm_lsp.terminal.screen import Screen


class WorkDone:
    """The begin, the reports and the end on one token. A report without a message keeps the last one."""

    def __init__(self, screen: Screen) -> None:
        self._screen = screen
        self._message = ""

    def receive(self, value: Any) -> None:
        progress = Payload(value)
        if progress.get("kind") == "end":
            self._screen.end_progress()
            return
        self._message = progress.text("message") or progress.text("title") or self._message
        percentage = progress.number("percentage")
        self._screen.progress(self._message, None if percentage is None else int(percentage))
