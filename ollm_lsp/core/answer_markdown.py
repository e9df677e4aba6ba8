"""An answer as Markdown that grows with a chat's events, to be read again by `chat_file`."""

from __future__ import annotations

from enum import Enum, auto
from typing import TYPE_CHECKING, assert_never

from ollm_lsp.core.chat_file import NOTE, escaped, may_become_special
from ollm_lsp.core.events import (
    Activity,
    Ended,
    Escalated,
    Failed,
    FinishReason,
    ReasoningDelta,
    Started,
    TextDelta,
    ToolChanged,
    TurnStarted,
    UsageChanged,
    Warned,
)
from ollm_lsp.core.fence import Fence
from ollm_lsp.core.messages import Image, Reasoning, Text
from ollm_lsp.core.tool import ToolCall, ToolResult

if TYPE_CHECKING:
    from ollm_lsp.core.events import ChatEvent
    from ollm_lsp.core.messages import Part

_CUT = {
    FinishReason.CANCELLED: "stopped",
    FinishReason.LENGTH: "cut off: the answer became too long",
    FinishReason.CONTENT_FILTER: "cut off by the provider's content filter",
    FinishReason.MAX_TURNS: "stopped after too many turns (chat.maxTurns)",
}


class _Block(Enum):
    NONE = auto()
    WORDS = auto()
    THOUGHTS = auto()


class AnswerMarkdown:
    """Each event gives the text to append. All of it joined is what stands below the heading of the answer.

    It never ends with line endings: they wait for what follows them.
    """

    def __init__(self) -> None:
        self._block = _Block.NONE
        self._is_new = True
        """Whether nothing of the block is written yet."""
        self._waiting = ""
        """The line endings that come before whatever is written next."""
        self._has_written = False
        self._fence = Fence()
        self._line = ""
        self._shown = 0
        """How much of the line is written: nothing, while it may become a heading or a note."""

    def add(self, event: ChatEvent) -> str:
        match event:
            case TextDelta(text):
                return self._said(text)
            case ReasoningDelta(text):
                return self._thought(text)
            case ToolChanged(title=title, status=status):
                return self._note(f"{title}: {status.value}") if status.is_settled else ""
            case Warned(code, message, remedy):
                return self._note(f"warning {code}: {message} {remedy or ''}")
            case Escalated(reason, provider, model):
                return self._note(f"escalation to {provider} {model}: {reason}")
            case Failed(error):
                return self._note(f"error {error.code}: {error}")
            case Ended(reason):
                return self.end(reason)
            case Started() | TurnStarted() | UsageChanged() | Activity():
                return ""
            case _:
                assert_never(event)

    def part(self, part: Part) -> str:
        """A part of an answer that was kept."""
        match part:
            case Text(text):
                return self._said(text)
            case Reasoning(text):
                return self._thought(text)
            case ToolResult(name=name, is_error=is_error):
                return self._note(f"{name}: {'failed' if is_error else 'completed'}")
            case ToolCall() | Image():
                return ""
            case _:
                assert_never(part)

    def end(self, reason: FinishReason) -> str:
        return self._note(_CUT[reason]) if reason in _CUT else self._end()

    def _said(self, text: str) -> str:
        first, *others = text.replace("\r", "").split("\n")
        written = self._enter(_Block.WORDS) + self._grow(first)
        return written + "".join(self._end_line() + self._grow(words) for words in others)

    def _grow(self, words: str) -> str:
        self._line += words
        if not words or (not self._shown and self._waits()):
            return ""
        fresh, self._shown = self._line[self._shown :], len(self._line)
        return self._put(fresh)

    def _waits(self) -> bool:
        is_indent = self._is_new and not self._line.strip()
        return not self._fence.is_open and (may_become_special(self._line) or is_indent)

    def _end_line(self) -> str:
        written = self._rest_of_line()
        if not self._is_new:
            self._waiting += "\n"
        return written

    def _rest_of_line(self) -> str:
        held = self._line if not self._shown and self._line.strip() else ""
        written = self._put(held if self._fence.is_open else escaped(held)) if held else ""
        self._fence.feed(self._line)
        self._line, self._shown = "", 0
        return written

    def _thought(self, text: str) -> str:
        written = self._enter(_Block.THOUGHTS)
        if self._is_new:
            text = text.lstrip()
            if not text:
                return written
            written += self._put(f"{NOTE} thinking\n> ")
        first, *others = text.replace("\r", "").split("\n")
        written += self._put(first) if first else ""
        for words in others:
            self._waiting += "\n> "
            written += self._put(words) if words else ""
        return written

    def _note(self, text: str) -> str:
        written = self._enter(_Block.NONE) + self._put(f"{NOTE} {' '.join(text.split())}")
        self._waiting = "\n\n"
        return written

    def _enter(self, block: _Block) -> str:
        if block is self._block and block is not _Block.NONE:
            return ""
        written = self._end()
        self._block = block
        return written

    def _end(self) -> str:
        """End the block, so that another one can begin."""
        written = self._rest_of_line() if self._line else ""
        if self._fence.is_open:
            written += f"\n{self._fence.closing}"
        self._block, self._is_new, self._fence = _Block.NONE, True, Fence()
        self._waiting = "\n\n" if self._has_written else ""
        return written

    def _put(self, text: str) -> str:
        written, self._waiting = self._waiting + text, ""
        self._is_new, self._has_written = False, True
        return written
