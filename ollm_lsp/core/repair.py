"""A history that every wire accepts: each tool call is followed by its result, each result follows its call."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from ollm_lsp.core.messages import Message, Role
from ollm_lsp.core.tool import ToolCall, ToolResult

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

NO_RESULT = "There is no result: the chat ended before the tool did."


def repaired(messages: Sequence[Message]) -> tuple[Message, ...]:
    """The messages with an error result for every call that has none, and without results that nobody asked for.

    A history that is in order already comes back as it is.
    """
    history: list[Message] = []
    at = 0
    while at < len(messages):
        message = messages[at]
        at += 1
        if message.role is Role.TOOL:
            continue  # those that belong to a call were taken together with it
        history.append(message)
        if calls := calls_of(message):
            results: list[ToolResult] = []
            while at < len(messages) and messages[at].role is Role.TOOL:
                results += (part for part in messages[at].parts if isinstance(part, ToolResult))
                at += 1
            history.append(_answers(calls, results))
    return tuple(history)


def calls_of(message: Message) -> tuple[ToolCall, ...]:
    """The calls that a message makes."""
    return tuple(part for part in message.parts if isinstance(part, ToolCall))


def no_result(call: ToolCall, why: str = NO_RESULT) -> ToolResult:
    """What the model reads in place of a result."""
    return ToolResult(call.id, call.name, why, is_error=True)


def _answers(calls: Iterable[ToolCall], results: list[ToolResult]) -> Message:
    """One message with a result for each call, in the order of the calls. Ids may be used twice, results not."""
    answers: list[ToolResult] = []
    for call in calls:
        found = next((result for result in results if result.call_id == call.id), None)
        if found is not None:
            results.remove(found)
        answers.append(replace(found, name=call.name) if found else no_result(call))
    return Message(Role.TOOL, tuple(answers))
