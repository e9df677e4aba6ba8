"""What the core needs from the outer layers, as protocols that they implement."""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol, runtime_checkable

if TYPE_CHECKING:
    from collections.abc import AsyncGenerator, Sequence

    from ollm_lsp.core.completion import Completion
    from ollm_lsp.core.events import Activity, ChatEvent, ProviderEvent
    from ollm_lsp.core.model import Capabilities, ModelDetails, ModelInfo
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

    async def complete(self, request: ChatRequest) -> Completion:
        """Answer in one piece: what `stream` says, collected."""
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


@runtime_checkable
class CountsTokens(Protocol):
    """A provider that counts as the model itself does."""

    async def count(self, request: ChatRequest) -> int | None:
        """The tokens of a request, or nothing when this model's cannot be counted."""
        ...


@runtime_checkable
class ManagesModels(Protocol):
    """A provider whose models can be fetched and removed."""

    def pull(self, model: str) -> AsyncGenerator[Activity]:
        """Fetch a model; the stream ends when it is there, and closing it stops the fetching."""
        ...

    async def show(self, model: str) -> ModelDetails: ...

    async def delete(self, model: str) -> None: ...


class Sink(Protocol):
    """Where a chat's events go."""

    def emit(self, event: ChatEvent) -> None: ...

    async def drain(self) -> None:
        """Let others run, and wait while the reader is behind."""
        ...
