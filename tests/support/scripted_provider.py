"""A provider that says what a test wrote down for it, and a sink that remembers what a chat said."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass
from typing import TYPE_CHECKING, TypeAlias, assert_never

from ollm_lsp.core.completion import Completion, collect
from ollm_lsp.core.events import (
    Activity,
    Finished,
    ProviderEvent,
    ReasoningDelta,
    ReasoningSigned,
    SessionReported,
    TextDelta,
    ToolCalled,
    ToolChanged,
    UsageReported,
    Warned,
)
from ollm_lsp.core.model import Capabilities
from ollm_lsp.core.usage import FREE, Cost, Usage

if TYPE_CHECKING:
    from collections.abc import AsyncGenerator, Sequence

    from ollm_lsp.core.events import ChatEvent
    from ollm_lsp.core.request import ChatRequest


@dataclass(frozen=True, slots=True)
class Pause:
    """The stream waits until the test opens the gate."""

    gate: asyncio.Event


@dataclass(frozen=True, slots=True)
class Hang:
    """The stream says nothing more, and does not end either."""


Step: TypeAlias = ProviderEvent | Pause | Hang | Exception


class ScriptedProvider:
    """Follows one script for each request: `script` for the first one, then those in `then`, the last one for ever.

    `waiting` is set while a stream stands at a `Pause` or a `Hang`. Closing a stream takes a turn of the event loop, as
    closing a connection does, and as long as `closing` holds it up: only who waits for the close sees it in `closed`.
    """

    def __init__(
        self,
        *script: Step,
        then: Sequence[Sequence[Step]] = (),
        name: str = "scripted",
        capabilities: Capabilities | None = None,
        cost: Cost | Exception = FREE,
    ) -> None:
        self.name = name
        self.requests: list[ChatRequest] = []
        self.costs_asked: list[tuple[str, Usage]] = []
        self.opened = 0
        self.closed = 0
        self.waiting = asyncio.Event()
        self.closing: Pause | None = None
        self.is_closed = False
        self._scripts = [script, *then]
        self._capabilities = capabilities or Capabilities()
        self._cost = cost

    async def stream(self, request: ChatRequest) -> AsyncGenerator[ProviderEvent]:
        script = self._scripts[min(len(self.requests), len(self._scripts) - 1)]
        self.requests.append(request)
        self.opened += 1
        try:
            for step in script:
                match step:
                    case Pause():
                        await self._stand(step)
                    case Hang():
                        await self._stand(Pause(asyncio.Event()))
                    case Exception():
                        raise step
                    case (
                        TextDelta()
                        | ReasoningDelta()
                        | ReasoningSigned()
                        | ToolCalled()
                        | ToolChanged()
                        | UsageReported()
                        | SessionReported()
                        | Activity()
                        | Warned()
                        | Finished()
                    ):
                        yield step
                    case _:
                        assert_never(step)
        finally:
            try:
                await (self._stand(self.closing) if self.closing else asyncio.sleep(0))
            finally:
                self.closed += 1

    async def complete(self, request: ChatRequest) -> Completion:
        return await collect(self.stream(request))

    async def _stand(self, pause: Pause) -> None:
        self.waiting.set()
        try:
            await pause.gate.wait()
        finally:
            self.waiting.clear()

    async def capabilities(self, model: str) -> Capabilities:  # noqa: ARG002 (part of the contract)
        return self._capabilities

    def cost(self, model: str, usage: Usage) -> Cost:
        self.costs_asked.append((model, usage))
        if isinstance(self._cost, Exception):
            raise self._cost
        return self._cost

    async def close(self) -> None:
        self.is_closed = True


class RecordingSink:
    """Keeps every event. With `hold_at` its reader falls behind for ever at that event, which sets `held`."""

    def __init__(self, *, hold_at: int | None = None) -> None:
        self.events: list[ChatEvent] = []
        self.held = asyncio.Event()
        self.drains = 0
        self._hold_at = hold_at

    def emit(self, event: ChatEvent) -> None:
        self.events.append(event)

    async def drain(self) -> None:
        self.drains += 1
        if self._hold_at is not None and self.drains > self._hold_at:
            self.held.set()
            await asyncio.Event().wait()
        await asyncio.sleep(0)
