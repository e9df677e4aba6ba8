"""An answer as it grows: chat events become text, notes and a status on the screen."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ollm_lsp.core.events import FinishReason
from ollm_lsp.terminal.payload import Payload

if TYPE_CHECKING:
    from ollm_lsp.terminal.screen import Screen

_SETTLED = {"completed", "failed", "denied"}
_CUT_SHORT = {
    FinishReason.LENGTH: "The answer was cut off: the model wrote as much as it may.",
    FinishReason.CONTENT_FILTER: "The provider's content filter ended the answer.",
    FinishReason.MAX_TURNS: "The model used all its turns; say `continue` to let it go on.",
}


class Answer:
    """One answer, from `started` to its result or failure."""

    def __init__(self, screen: Screen) -> None:
        self._screen = screen
        self._has_text = False
        self._tool_calls: dict[str | int, Payload] = {}
        self._error: Payload | None = None
        self.conversation_id: str | None = None

    def receive(self, value: Any) -> None:
        """Take one chat event; those of a newer server are skipped."""
        event = Payload(value)
        match event.text("type"):
            case "started":
                self.conversation_id = event.text("conversationId") or None
            case "text":
                self._has_text = True
                self._screen.text(event.text("text"))
            case "reasoning":
                self._screen.reasoning(event.text("text"))
            case "toolCall":
                self._tool_call(event)
            case "warning":
                self._screen.warning(event.text("message"), event.text("remedy"))
            case "escalation":
                target = " ".join(filter(None, [event.text("provider"), event.text("model")]))
                self._screen.note(f"asking {target}: {event.text('reason')}")
            case "error":
                self._error = event
            case _:
                pass

    def succeed(self, result: Any) -> bool:
        """The result has come; false when it only says that there is no answer."""
        outcome = Payload(result)
        self.conversation_id = outcome.text("conversationId") or self.conversation_id
        if not self._has_text:
            self._screen.text(outcome.text("text"))
        self._end()
        reason = outcome.text("finishReason")
        if self._error or reason == FinishReason.ERROR:
            self.fail("The chat failed.", "")
            return False
        if reason in _CUT_SHORT:
            self._screen.warning(_CUT_SHORT[FinishReason(reason)])
        self._screen.note(foot(outcome))
        return True

    def fail(self, message: str, remedy: str) -> None:
        """There is no result. An `error` event is the same failure and says it at least as well."""
        self._end()
        error = self._error or Payload({"message": message, "remedy": remedy})
        self._screen.error(error.text("message"), error.text("remedy"))

    def cancel(self) -> None:
        self._end()
        self._screen.note("cancelled")

    def _end(self) -> None:
        for call in self._tool_calls.values():
            self._note_tool_call(call)
        self._tool_calls.clear()
        self._screen.end_answer()

    def _tool_call(self, call: Payload) -> None:
        """One line for each call, when it is over; until then it is what the user waits for."""
        key = call.token("id")
        if call.text("status") in _SETTLED:
            self._tool_calls.pop(key, None)
            self._note_tool_call(call)
        else:
            self._tool_calls[key] = call
            self._screen.progress(_title(call))

    def _note_tool_call(self, call: Payload) -> None:
        status = call.text("status")
        self._screen.note(f"• {_title(call)}" if status == "completed" else f"• {_title(call)} ({status})")


def foot(outcome: Payload) -> str:
    """The line under an answer: model, tokens, cost where there is one, time."""
    usage, cost = outcome.payload("usage"), outcome.payload("cost")
    parts = [outcome.text("model")]
    if usage.number("inputTokens") is not None or usage.number("outputTokens") is not None:
        read, written = usage.number("inputTokens") or 0, usage.number("outputTokens") or 0
        parts.append(f"{read:,} input, {written:,} output tokens")
    amount = cost.number("amount") or 0
    if cost.get("known") is not False and amount > 0:
        parts.append(f"{max(amount, 0.0001):.4f} {cost.text('currency')}".strip())
    if (milliseconds := outcome.number("durationMs")) is not None:
        parts.append(f"{milliseconds / 1000:.1f} s")
    return " · ".join(filter(None, parts))


def _title(call: Payload) -> str:
    return " ".join((call.text("title") or call.text("name")).split())
