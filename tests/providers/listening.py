"""Listens to a provider's stream to its end, good or bad."""

from __future__ import annotations

from contextlib import aclosing
from dataclasses import dataclass
from typing import TYPE_CHECKING

from ollm_lsp.core.errors import OllmError, ProviderError
from ollm_lsp.core.events import TextDelta

if TYPE_CHECKING:
    from collections.abc import AsyncGenerator

    from ollm_lsp.core.events import ProviderEvent


@dataclass(frozen=True)
class Heard:
    """What a stream gave, and how it failed when it did."""

    events: list[ProviderEvent]
    error: OllmError | None

    @property
    def failure(self) -> ProviderError:
        assert isinstance(self.error, ProviderError)
        return self.error

    @property
    def text(self) -> str:
        return "".join(event.text for event in self.events if isinstance(event, TextDelta))


async def hear(stream: AsyncGenerator[ProviderEvent]) -> Heard:
    events: list[ProviderEvent] = []
    try:
        async with aclosing(stream):
            async for event in stream:
                events.append(event)  # noqa: PERF401 (what comes before an error is kept)
    except OllmError as error:
        return Heard(events, error)
    return Heard(events, None)
