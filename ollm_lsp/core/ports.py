"""What the core needs from the outer layers, as protocols that they implement."""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol, runtime_checkable

if TYPE_CHECKING:
    from collections.abc import AsyncGenerator, Sequence

    from ollm_lsp.core.events import ChatEvent, ProviderEvent
    from ollm_lsp.core.model import Capabilities, ModelInfo
    from ollm_lsp.core.request import ChatRequest
    from ollm_lsp.core.usage import Cost, Usage


class Provider(Protocol):
    """An endpoint that answers with a model. One instance serves many requests at once."""

    @property
    def name(self) -> str: ...

    def stream(self, request: ChatRequest) -> AsyncGenerator[ProviderEvent]:
        """Answer event by event, ending with `Finished`; failures are raised as `ProviderError`.

        Closing the generator closes the connection.
        """
        ...

    async def capabilities(self, model: str) -> Capabilities: ...

    def cost(self, model: str, usage: Usage) -> Cost: ...

    async def close(self) -> None:
        """End every request that is still running and release all resources."""
        ...


@runtime_checkable
class ListsModels(Protocol):
    """A provider that can tell which models it has."""

    async def models(self) -> Sequence[ModelInfo]: ...


class Sink(Protocol):
    """Where a chat's events go."""

    def emit(self, event: ChatEvent) -> None: ...

    async def drain(self) -> None:
        """Let others run, and wait while the reader is behind."""
        ...
