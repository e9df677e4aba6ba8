"""How a chat goes on, told on a work-done progress a few times a second."""

from __future__ import annotations

from time import monotonic
from typing import TYPE_CHECKING

from ollm_lsp.core.events import Activity, Failed, ReasoningDelta, TextDelta, ToolChanged, TurnStarted, UsageChanged
from ollm_lsp.core.tokens import estimate_length
from ollm_lsp.core.tool import ToolStatus
from ollm_lsp.lsp.to_wire import clean

if TYPE_CHECKING:
    from ollm_lsp.core.events import ChatEvent
    from ollm_lsp.lsp.progress import WorkDone

REPORT_INTERVAL = 0.25


class ChatProgress:
    """Watches a chat's events."""

    def __init__(self, work: WorkDone) -> None:
        self._work = work
        self._is_asked = False
        self._has_failed = False
        self._told = 0
        self._text = 0
        self._first = 0.0
        self._reported = 0.0

    def observe(self, event: ChatEvent) -> None:
        if isinstance(event, TextDelta | ReasoningDelta):
            self._grow(len(event.text))
        elif isinstance(event, UsageChanged):
            self._told, self._text = event.usage.output_tokens, 0
        elif isinstance(event, TurnStarted):
            self._is_asked = True
            self._work.report("Waiting for the first token")
        elif isinstance(event, Activity):
            self._work.report(event.message, event.percentage)
        elif isinstance(event, ToolChanged) and event.status is ToolStatus.RUNNING:
            self._work.report(clean(event.title))
        elif isinstance(event, Failed):
            self._has_failed = True

    def _grow(self, length: int) -> None:
        now = monotonic()
        if not self._first:
            self._first = self._reported = now
        self._text += length
        if now - self._reported >= REPORT_INTERVAL:
            self._reported = now
            self._work.report(self.summary())

    def summary(self) -> str:
        """How many tokens have come: those that the provider has told of, and an estimate of those since."""
        if self._has_failed:
            return "Failed"
        if not self._is_asked:
            return "Done"
        tokens = self._told + estimate_length(self._text)
        elapsed = monotonic() - self._first
        rate = f" at {tokens / elapsed:.0f} tokens/s" if self._first and elapsed > REPORT_INTERVAL else ""
        return f"{tokens} token{'' if tokens == 1 else 's'}{rate}"
