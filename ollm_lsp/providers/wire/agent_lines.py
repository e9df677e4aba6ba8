"""The lines that a CLI agent prints: what the decoders of all agents share."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import TYPE_CHECKING, Any

from ollm_lsp.core.control_sequences import plain
from ollm_lsp.core.events import ReasoningDelta, TextDelta
from ollm_lsp.core.usage import Usage
from ollm_lsp.providers.wire.agent_acts import Acts
from ollm_lsp.providers.wire.faults import incomplete, object_of

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from ollm_lsp.core.agent_session import AgentSession
    from ollm_lsp.core.errors import ProviderError
    from ollm_lsp.core.events import ProviderEvent
    from ollm_lsp.core.tool import ToolKind


class AgentLines(ABC):
    """Decodes the lines of one run. A failure that the agent tells is raised by `close`.

    `trouble` is why it does not get on, as far as it tells: what it fails with, or tries again because of.
    """

    def __init__(
        self, kinds: Mapping[str, ToolKind], locate: Callable[[str], str], session: AgentSession | None
    ) -> None:
        self.trouble: ProviderError | None = None
        self._is_failed = False
        self._session = session
        self._counted = session.counted if session else Usage()
        self._acts = Acts(kinds, locate)
        self._written = 0
        self._is_break_due = False
        self._end = ""

    @property
    def size(self) -> int:
        return self._written + self._acts.size

    def feed(self, frame: str) -> list[ProviderEvent]:
        if not frame.lstrip().startswith("{"):
            return []  # remarks for people
        before = self.size
        events = self._line(object_of(frame))
        if self.size > before:
            self.trouble = None
        return events

    def close(self) -> list[ProviderEvent]:
        raise self.trouble if self._is_failed and self.trouble else incomplete()

    @abstractmethod
    def _line(self, line: dict[str, Any]) -> list[ProviderEvent]: ...

    def _fail(self, error: ProviderError) -> None:
        self._is_failed = True
        self.trouble = error

    def _say(self, text: str) -> list[ProviderEvent]:
        """More text; control sequences, which are not for an editor, are left out."""
        if not (text := plain(text)):
            return []
        gap = "\n\n" if self._is_break_due and self._end and self._end != "\n" else ""
        self._is_break_due = False
        self._end = text[-1]
        self._written += len(text)
        return [TextDelta(gap + text)]

    def _begin_message(self) -> None:
        """What is said now is another message than what was said before."""
        self._is_break_due = True

    def _think(self, text: str) -> list[ProviderEvent]:
        text = plain(text)
        self._written += len(text)
        return [ReasoningDelta(text)] if text else []
