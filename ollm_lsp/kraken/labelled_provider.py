"""A provider whose answer says whose it is: the provider and the model at its head, what it took at its foot."""

from __future__ import annotations

import time
from contextlib import aclosing
from typing import TYPE_CHECKING

from ollm_lsp.core.events import Finished, FinishReason, TextDelta, ToolCalled, UsageReported
from ollm_lsp.core.money import in_dollars
from ollm_lsp.core.provider_around import ProviderAround
from ollm_lsp.core.usage import Spending

if TYPE_CHECKING:
    from collections.abc import AsyncGenerator, Callable

    from ollm_lsp.core.events import ProviderEvent
    from ollm_lsp.core.model import ModelId
    from ollm_lsp.core.ports import Provider
    from ollm_lsp.core.request import ChatRequest
    from ollm_lsp.core.usage import Cost, Usage


class LabelledProvider(ProviderAround):
    """For one release: its turns count together, and the foot comes when the model calls no more tools."""

    def __init__(
        self, inner: Provider, model: ModelId, *, is_plan: bool, clock: Callable[[], float] = time.monotonic
    ) -> None:
        super().__init__(inner)
        self._model = model
        self._is_plan = is_plan
        self._clock = clock
        self._began = clock()
        self._spending = Spending()
        self._has_head = False

    async def stream(self, request: ChatRequest) -> AsyncGenerator[ProviderEvent]:
        usage, has_calls, cost = None, False, None
        async with aclosing(self._inner.stream(request)) as events:
            async for event in events:
                has_calls = has_calls or isinstance(event, ToolCalled)
                if isinstance(event, UsageReported):
                    usage, cost = event.usage, event.cost
                elif isinstance(event, TextDelta) and not self._has_head:
                    self._has_head = True
                    yield TextDelta(head(self._model))
                elif isinstance(event, Finished):
                    if usage is not None:
                        self._spending.add(usage, cost or self.cost(request.model, usage))
                    if self._has_head and not has_calls and event.reason is not FinishReason.TOOL_USE:
                        yield TextDelta(self._foot())
                yield event

    def _foot(self) -> str:
        spending = self._spending
        return foot(spending.usage, spending.cost, self._clock() - self._began, is_plan=self._is_plan)


def head(model: ModelId) -> str:
    """Who answers."""
    return f"**{model.provider}** · {model.name}\n\n"


def foot(usage: Usage, cost: Cost, seconds: float, *, is_plan: bool) -> str:
    """What an answer took."""
    if is_plan:
        money = "covered by your plan"
    else:
        money = in_dollars(cost.micros) if cost.known else f"price unknown, counted as {in_dollars(cost.micros)}"
    tokens = f"{usage.input_tokens:,} tokens read, {usage.output_tokens:,} written"
    return f"\n\n---\n*{tokens} · {money} · {seconds:.1f} s*"
