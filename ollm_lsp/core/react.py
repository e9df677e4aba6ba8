"""ReAct: tools for models without native tool calls."""

from __future__ import annotations

from contextlib import aclosing
from dataclasses import replace
from typing import TYPE_CHECKING

from ollm_lsp.core.call_repair import repaired
from ollm_lsp.core.completion import collect
from ollm_lsp.core.fit import any_object
from ollm_lsp.core.ports import CountsTokens
from ollm_lsp.core.react_attempt import Attempt
from ollm_lsp.core.react_prompt import as_text, corrected, uses_tools

if TYPE_CHECKING:
    from collections.abc import AsyncGenerator

    from ollm_lsp.core.completion import Completion
    from ollm_lsp.core.events import ProviderEvent
    from ollm_lsp.core.model import Capabilities
    from ollm_lsp.core.ports import Fits, Provider
    from ollm_lsp.core.request import ChatRequest
    from ollm_lsp.core.usage import Cost, Usage

CORRECTIONS = 2
"""How often the model is told in one turn what was wrong with its call."""


def suited(provider: Provider, capabilities: Capabilities, *, tools_wanted: bool, fits: Fits = any_object) -> Provider:
    """The provider as a chat can use it with tools: itself where the model can call them, else with ReAct around it.

    Tools are wanted also where the history has calls, which a model without tools could not read.
    """
    return ReactProvider(provider, fits) if tools_wanted and not capabilities.tools else provider


class ReactProvider:
    """A provider whose model reads about its tools, and whose answers are read for calls."""

    def __init__(self, inner: Provider, fits: Fits = any_object, *, corrections: int = CORRECTIONS) -> None:
        self._inner = inner
        self._fits = fits
        self._corrections = corrections

    @property
    def name(self) -> str:
        return self._inner.name

    async def stream(self, request: ChatRequest) -> AsyncGenerator[ProviderEvent]:
        answer = self._attempts(request) if uses_tools(request) else self._inner.stream(as_text(request))
        async with aclosing(answer) as events:
            async for event in events:
                yield event

    async def _attempts(self, request: ChatRequest) -> AsyncGenerator[ProviderEvent]:
        asked = as_text(request)
        attempt: Attempt | None = None
        for left in reversed(range(self._corrections + 1)):
            attempt = Attempt(request, self._fits, attempt)
            stream = repaired(self._inner.stream(asked), request.tools, self._fits, taken=attempt.taken)
            async with aclosing(stream) as events:
                async for event in events:
                    for said in attempt.take(event):
                        yield said
                    if attempt.is_over:
                        break
            for said in attempt.close(asked):
                yield said
            if (problem := attempt.problem) is None:
                break
            if left:
                asked = corrected(asked, attempt.written, problem)
            else:
                for said in attempt.give_up(problem):
                    yield said

    async def complete(self, request: ChatRequest) -> Completion:
        return await collect(self.stream(request))

    async def count(self, request: ChatRequest) -> int | None:
        """The tokens of what is really sent, where the provider can count them."""
        return await self._inner.count(as_text(request)) if isinstance(self._inner, CountsTokens) else None

    async def capabilities(self, model: str) -> Capabilities:
        return replace(await self._inner.capabilities(model), tools=True)

    def cost(self, model: str, usage: Usage) -> Cost:
        return self._inner.cost(model, usage)

    async def close(self) -> None:
        await self._inner.close()
