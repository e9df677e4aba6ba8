"""A whole answer, for whoever does not watch it grow."""

from __future__ import annotations

from contextlib import aclosing
from dataclasses import dataclass
from typing import TYPE_CHECKING

from ollm_lsp.core.errors import IncompleteAnswer
from ollm_lsp.core.turn import Turn

if TYPE_CHECKING:
    from collections.abc import AsyncGenerator

    from ollm_lsp.core.events import FinishReason, ProviderEvent
    from ollm_lsp.core.messages import Message
    from ollm_lsp.core.usage import Usage


@dataclass(frozen=True, slots=True)
class Completion:
    """What a model said, and why it stopped."""

    message: Message | None
    usage: Usage
    finish_reason: FinishReason

    @property
    def text(self) -> str:
        return self.message.text if self.message else ""


async def collect(stream: AsyncGenerator[ProviderEvent]) -> Completion:
    """Read a stream to its end. A stream without an end is no answer."""
    turn = Turn()
    async with aclosing(stream) as events:
        async for event in events:
            turn.add(event)
    if turn.finish is None:
        raise IncompleteAnswer("The provider stopped without finishing its answer.", remedy="Send the message again.")
    return Completion(turn.message, turn.usage, turn.finish)
