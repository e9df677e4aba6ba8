"""The window: what of a chat the model is shown, and how much more fits into it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ollm_lsp.core.compaction import Outcome, is_due
from ollm_lsp.core.counting import count
from ollm_lsp.core.events import Activity
from ollm_lsp.core.request import ChatRequest
from ollm_lsp.core.sight import shows_images, sighted
from ollm_lsp.core.tokens import chars_left, check_fit, estimate

if TYPE_CHECKING:
    from ollm_lsp.core.compaction import Compactor
    from ollm_lsp.core.messages import Message
    from ollm_lsp.core.ports import Provider, Sink
    from ollm_lsp.core.question import Question
    from ollm_lsp.core.tool import ToolSpec
    from ollm_lsp.core.usage import Spending

SUMMARISING = Activity("Summarising the conversation")


class Window:
    """A question, and what the model and its tools have said since. When that becomes too long, it is compacted."""

    def __init__(
        self,
        question: Question,
        provider: Provider,
        model: str,
        sink: Sink,
        spending: Spending,
        tools: tuple[ToolSpec, ...] = (),
        compactor: Compactor | None = None,
    ) -> None:
        self.limit = question.limit
        self._messages = question.messages
        self._capabilities = question.capabilities
        self._provider = provider
        self._model = model
        self._sink = sink
        self._spending = spending
        self._tools = tools if question.capabilities.tools else ()
        self._compactor = compactor
        self._compact_from = 0
        self._asked = 0
        self._since: list[Message] = []
        self._has_warned = False
        self._sees = question.capabilities.vision

    def add(self, message: Message) -> None:
        self._since.append(message)

    def room(self, shares: int) -> int:
        """How many characters each of some results may have."""
        return chars_left(self._asked + estimate(self._since), self.limit, shares)

    def hide_images(self) -> bool:
        """Show the model no images of tools any more; false when it was shown none, or has answered."""
        is_worth_it = not self._since and shows_images(self._messages)
        self._sees = False
        return is_worth_it

    async def request(self) -> ChatRequest:
        """What the model is asked next, if it can read that much."""
        self._messages = sighted((*self._messages, *self._since), sees=self._sees)
        self._since.clear()
        request = ChatRequest(self._model, self._messages, self._tools)
        request.check(self._capabilities)
        tokens = await count(self._provider, request, self.limit)
        if self._compactor is not None and is_due(tokens, self.limit) and tokens >= self._compact_from:
            if await self._compact(self._compactor, tokens):
                request = ChatRequest(self._model, self._messages, self._tools)
                tokens = await count(self._provider, request, self.limit)
            # Where little came of it, the next turn need not try again.
            self._compact_from = tokens + self.limit // 10
        warning = check_fit(tokens, self.limit)
        if warning and not self._has_warned:
            self._has_warned = True
            self._sink.emit(warning)
        self._asked = tokens
        return request

    async def _compact(self, compactor: Compactor, tokens: int) -> bool:
        self._sink.emit(SUMMARISING)
        # The compactor estimates; where the provider counts more than that, it is given less.
        estimated = estimate(self._messages)
        compacted = await compactor.compact(self._messages, window=self.limit * estimated // max(tokens, estimated))
        self._spending.add(compacted.usage, compactor.cost(compacted.usage))
        self._messages = compacted.messages
        if compacted.warning:
            self._sink.emit(compacted.warning)
        return compacted.outcome is not Outcome.UNCHANGED
