"""ReAct: tools for models without native tool calls."""

from __future__ import annotations

from contextlib import aclosing
from dataclasses import replace
from typing import TYPE_CHECKING

from ollm_lsp.core.call_repair import RepairingProvider, repaired
from ollm_lsp.core.fit import any_object
from ollm_lsp.core.provider_around import ProviderAround
from ollm_lsp.core.react_attempt import Attempt
from ollm_lsp.core.react_prompt import as_text, corrected, uses_tools
from ollm_lsp.core.tokens import estimate_tools

if TYPE_CHECKING:
    from collections.abc import AsyncGenerator, Sequence

    from ollm_lsp.core.events import ProviderEvent
    from ollm_lsp.core.model import Capabilities
    from ollm_lsp.core.ports import Fits, Provider
    from ollm_lsp.core.request import ChatRequest
    from ollm_lsp.core.tool import ToolSpec

CORRECTIONS = 2
"""How often the model is told in one turn what was wrong with its call."""
NATIVE_SHARE, REACT_SHARE = 4, 10
"""Tools fill at most this part of a model's window, where it can call them and where it reads about them."""


def suited(provider: Provider, capabilities: Capabilities, *, tools_wanted: bool, fits: Fits = any_object) -> Provider:
    """The provider as a chat can use it with tools: with repaired calls where the model can make them, else with ReAct.

    Tools are wanted also where the history has calls, which a model without tools could not read.
    """
    if not tools_wanted:
        return provider
    return RepairingProvider(provider, fits) if capabilities.tools else ReactProvider(provider, fits)


def can_afford(tools: Sequence[ToolSpec], capabilities: Capabilities, window: int) -> bool:
    """Whether a model has room for tools beside everything else.

    As text they take more than their words: each step is read again, and only models that are small need it.
    """
    share = NATIVE_SHARE if capabilities.tools else REACT_SHARE
    return estimate_tools(tools) * share <= window


class ReactProvider(ProviderAround):
    """A provider whose model reads about its tools, and whose answers are read for calls."""

    def __init__(self, inner: Provider, fits: Fits = any_object, *, corrections: int = CORRECTIONS) -> None:
        super().__init__(inner)
        self._fits = fits
        self._corrections = corrections

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

    async def count(self, request: ChatRequest) -> int | None:
        """The tokens of what is really sent, where the provider can count them."""
        return await super().count(as_text(request))

    def as_sent(self, request: ChatRequest) -> ChatRequest:
        return as_text(request)

    async def capabilities(self, model: str) -> Capabilities:
        return replace(await super().capabilities(model), tools=True)
