"""A store that forgets with the process, for users who want nothing kept."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from ollm_lsp.core.record import ConversationRecord, ResponseRecord, Summary, total
from ollm_lsp.core.title import one_line, title_of

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from ollm_lsp.core.conversation import Response
    from ollm_lsp.core.events import ReasoningDelta, TextDelta, UsageChanged
    from ollm_lsp.core.messages import Message
    from ollm_lsp.core.model import ModelId
    from ollm_lsp.core.record import Opening


@dataclass(slots=True)
class _Kept:
    title: str
    created: float
    updated: float
    responses: dict[str, ResponseRecord] = field(default_factory=dict[str, ResponseRecord])
    model: ModelId | None = None


class MemoryStore:
    """Keeps finished responses until the process ends; those that a crash cuts short are gone with it."""

    def __init__(self, clock: Callable[[], float]) -> None:
        self._clock = clock
        self._began: dict[str, float] = {}
        self._conversations: dict[str, _Kept] = {}

    async def begin(self, conversation_id: str, opening: Opening) -> None:  # noqa: ARG002 (part of the contract)
        self._began[opening.id] = self._clock()

    def add(self, response_id: str, message: Message) -> None:
        pass

    def grow(self, response_id: str, event: TextDelta | ReasoningDelta | UsageChanged) -> None:
        pass

    async def finish(self, conversation_id: str, response: Response) -> None:
        now = self._clock()
        began = self._began.pop(response.id, now)
        kept = self._conversations.setdefault(conversation_id, _Kept("", began, now))
        kept.title = kept.title or title_of(response.input)
        kept.updated = now
        kept.responses[response.id] = ResponseRecord(response, began, now)

    async def load(self, conversation_id: str) -> ConversationRecord | None:
        kept = self._conversations.get(conversation_id)
        if kept is None:
            return None
        responses = tuple(sorted(kept.responses.values(), key=lambda record: record.began))
        return ConversationRecord(conversation_id, kept.title, kept.created, kept.updated, responses, kept.model)

    async def list(self) -> Sequence[Summary]:
        newest_first = sorted(self._conversations.items(), key=lambda item: item[1].updated, reverse=True)
        return [
            Summary(
                conversation_id,
                kept.title,
                kept.created,
                kept.updated,
                max(kept.responses.values(), key=lambda record: record.began).response.model,
                total(record.response.cost for record in kept.responses.values()),
                len(kept.responses),
            )
            for conversation_id, kept in newest_first
            if kept.responses
        ]

    async def choose(self, conversation_id: str, model: ModelId) -> None:
        now = self._clock()
        self._conversations.setdefault(conversation_id, _Kept("", now, now)).model = model

    async def retitle(self, conversation_id: str, title: str) -> bool:
        kept = self._conversations.get(conversation_id)
        if kept is not None:
            kept.title = one_line(title)
        return kept is not None

    async def delete(self, conversation_id: str) -> bool:
        return self._conversations.pop(conversation_id, None) is not None

    async def close(self) -> None:
        pass
