"""Noticing a model that goes in circles."""

from __future__ import annotations

import json
from dataclasses import replace
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable

    from ollm_lsp.core.tool import ToolCall, ToolResult

PATIENCE = 2
"""Turns without progress after which the model is told. With the next one the chat ends."""
ADVICE = "You made this call before, with the same result. Do something else, or answer with what you know."


class Repetition:
    """Remembers every call of a chat with its result.

    A turn in which each call came before, with the same arguments and the same result, is a turn without progress.
    A call that is new, or that gives something new, is progress: to run the tests after each edit is no circle.
    """

    def __init__(self) -> None:
        self._seen: set[tuple[str, str, ToolResult]] = set()
        self._idle_turns = 0

    def add(self, outcomes: Iterable[tuple[ToolCall, ToolResult]]) -> None:
        """Take note of a turn's calls."""
        turn = {
            (call.name, json.dumps(call.arguments, sort_keys=True), replace(result, call_id="any", name="any"))
            for call, result in outcomes
        }
        self._idle_turns = self._idle_turns + 1 if turn <= self._seen else 0
        self._seen |= turn

    @property
    def is_worth_a_word(self) -> bool:
        """Whether the model should be told that it goes in circles."""
        return self._idle_turns >= PATIENCE

    @property
    def is_hopeless(self) -> bool:
        """Whether it has been told, and goes on."""
        return self._idle_turns > PATIENCE
