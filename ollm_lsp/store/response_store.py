"""Conversations in SQLite, written by one thread beside the event loop."""

from __future__ import annotations

import asyncio
import time
from functools import partial
from typing import TYPE_CHECKING

from ollm_lsp.store import rows
from ollm_lsp.store.database import BUSY_TIMEOUT, Database
from ollm_lsp.store.drafts import Drafts
from ollm_lsp.store.worker import Worker

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from pathlib import Path

    from ollm_lsp.core.conversation import Response
    from ollm_lsp.core.events import ReasoningDelta, TextDelta, UsageChanged
    from ollm_lsp.core.messages import Message
    from ollm_lsp.core.model import ModelId
    from ollm_lsp.core.record import ConversationRecord, Opening, Summary

DRAFT_INTERVAL = 0.2
"""Seconds from a delta to its writing: so much of a text may be lost when the process is killed."""


class SqliteStore:
    """A `ResponseStore` in one file. Nothing is opened before it is used, and each use opens what an error closed."""

    def __init__(self, path: Path, clock: Callable[[], float] = time.time, busy_timeout: float = BUSY_TIMEOUT) -> None:
        self._worker = Worker(Database(path, busy_timeout), "store")
        self._clock = clock
        self._drafts = Drafts()
        self._timer: asyncio.TimerHandle | None = None

    async def begin(self, conversation_id: str, opening: Opening) -> None:
        work = partial(rows.begin, conversation_id=conversation_id, opening=opening, now=self._clock())
        await self._worker.write(work, is_durable=False)

    def grow(self, response_id: str, event: TextDelta | ReasoningDelta | UsageChanged) -> None:
        self._drafts.add(response_id, event)
        if self._timer is None:
            self._timer = asyncio.get_running_loop().call_later(DRAFT_INTERVAL, self.flush)

    def add(self, response_id: str, message: Message) -> None:
        self._drafts.drop_text(response_id)
        self._worker.hand_over(partial(rows.add, response_id=response_id, message=message))

    async def finish(self, conversation_id: str, response: Response) -> None:
        self._drafts.drop(response.id)
        work = partial(rows.finish, conversation_id=conversation_id, response=response, now=self._clock())
        await self._worker.write(work)

    async def load(self, conversation_id: str) -> ConversationRecord | None:
        work = partial(rows.load, conversation_id=conversation_id)
        return await self._worker.read(work)

    async def list(self) -> Sequence[Summary]:
        return await self._worker.read(rows.listing)

    async def choose(self, conversation_id: str, model: ModelId) -> None:
        work = partial(rows.choose, conversation_id=conversation_id, model=model, now=self._clock())
        await self._worker.write(work)

    async def retitle(self, conversation_id: str, title: str) -> bool:
        work = partial(rows.retitle, conversation_id=conversation_id, title=title)
        return await self._worker.write(work)

    async def delete(self, conversation_id: str) -> bool:
        work = partial(rows.delete, conversation_id=conversation_id)
        is_kept = await self._worker.write(work)
        await self._worker.tidy()
        return is_kept

    async def close(self) -> None:
        """Finish what was begun, then let go of the file."""
        if self._timer is not None:
            self._timer.cancel()
        await self._worker.close()

    def flush(self) -> None:
        """Hand over what responses have grown by; it is done soon anyway."""
        self._timer = None
        if news := self._drafts.take():
            self._worker.hand_over(partial(rows.grow, news=news))
