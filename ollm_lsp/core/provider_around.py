"""A provider around another one."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ollm_lsp.core.completion import collect
from ollm_lsp.core.ports import CountsTokens

if TYPE_CHECKING:
    from collections.abc import AsyncGenerator

    from ollm_lsp.core.completion import Completion
    from ollm_lsp.core.events import ProviderEvent
    from ollm_lsp.core.model import Capabilities
    from ollm_lsp.core.ports import Provider
    from ollm_lsp.core.request import ChatRequest
    from ollm_lsp.core.usage import Cost, Usage


class ProviderAround:
    """In everything the provider inside, but for what a subclass does in another way."""

    def __init__(self, inner: Provider) -> None:
        self._inner = inner

    @property
    def name(self) -> str:
        return self._inner.name

    def stream(self, request: ChatRequest) -> AsyncGenerator[ProviderEvent]:
        return self._inner.stream(request)

    async def complete(self, request: ChatRequest) -> Completion:
        return await collect(self.stream(request))

    async def count(self, request: ChatRequest) -> int | None:
        return await self._inner.count(request) if isinstance(self._inner, CountsTokens) else None

    def as_sent(self, request: ChatRequest) -> ChatRequest:
        """The request as the provider inside gets it."""
        return request

    async def capabilities(self, model: str) -> Capabilities:
        return await self._inner.capabilities(model)

    def cost(self, model: str, usage: Usage) -> Cost:
        return self._inner.cost(model, usage)

    async def close(self) -> None:
        await self._inner.close()
