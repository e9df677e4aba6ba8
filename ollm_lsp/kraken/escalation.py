"""Escalation: when the local model was not enough, and why. Pure.

It only ever suggests a release; the user is asked as always.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from ollm_lsp.core.errors import ContextOverflow, ProviderError, Unsupported
from ollm_lsp.core.events import FinishReason
from ollm_lsp.core.tool import ToolResult
from ollm_lsp.settings.kraken_settings import Trigger

if TYPE_CHECKING:
    from ollm_lsp.core.conversation import Response
    from ollm_lsp.core.errors import OllmError
    from ollm_lsp.settings.kraken_settings import KrakenSettings

MOST_FAILURES: Final = 3
"""Tool calls that may fail one after the other."""
_SHORTEST_LOOP: Final = 120
_TIMES: Final = 4
_LONGEST_PERIOD: Final = 200
_ASKED_FOR: Final = re.compile(
    r"\b(release the kraken|escalate (this|it)|ask (a|an|the) (external|bigger) model)\b", re.IGNORECASE
)


@dataclass(frozen=True, slots=True)
class Escalation:
    """A reason for a release."""

    trigger: Trigger
    reason: str


def is_wanted(settings: KrakenSettings, escalation: Escalation | None) -> bool:
    """Whether the user wants releases to be suggested for that reason. It is off unless they say so."""
    wanted = settings.enabled and settings.escalation.enabled
    return wanted and escalation is not None and escalation.trigger in settings.escalation.triggers


def of_request(text: str) -> Escalation | None:
    """The user asks for it in their own words."""
    if _ASKED_FOR.search(text):
        return Escalation(Trigger.USER_REQUEST, "You asked for it.")
    return None


def of_error(error: OllmError) -> Escalation | None:
    """The model could not answer; what is wrong with the settings or the request is no reason."""
    if isinstance(error, ContextOverflow):
        return Escalation(Trigger.CONTEXT_OVERFLOW, f"The local model cannot read that much: {error.message}")
    if isinstance(error, ProviderError) and not isinstance(error, Unsupported):
        return Escalation(Trigger.MODEL_FAILURE, f"The local model failed: {error.message}")
    return None


def of_response(response: Response) -> Escalation | None:
    """An answer that is none: empty, going round in circles, or with nothing but failed tool calls."""
    if response.finish_reason in (FinishReason.CANCELLED, FinishReason.CONTENT_FILTER):
        return None
    results = [part for message in response.output for part in message.parts if isinstance(part, ToolResult)]
    last = results[-MOST_FAILURES:]
    if response.finish_reason is FinishReason.TOOL_USE:
        return Escalation(Trigger.MODEL_FAILURE, "The local model made the same tool calls again and again.")
    if len(last) == MOST_FAILURES and all(result.is_error for result in last):
        return Escalation(Trigger.MODEL_FAILURE, "The tool calls of the local model failed again and again.")
    if not response.text.strip():
        return Escalation(Trigger.MODEL_FAILURE, "The local model said nothing.")
    if is_looping(response.text):
        return Escalation(Trigger.MODEL_FAILURE, "The local model repeated itself without an end.")
    return None


def is_looping(text: str) -> bool:
    """Whether a text ends with the same words over and over."""
    text = text.rstrip()
    for period in range(1, min(_LONGEST_PERIOD, len(text) // _TIMES) + 1):
        times = max(_TIMES, -(-_SHORTEST_LOOP // period))
        end = text[-period * times :]
        if len(end) == period * times and end == end[:period] * times and any(map(str.isalnum, end[:period])):
            return True
    return False
