"""A recording: what one chat hands to the store while it runs, so that a crash loses no more than its last words."""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol

from ollm_lsp.core.errors import StoreFailed
from ollm_lsp.core.events import ReasoningDelta, TextDelta, UsageChanged, Warned
from ollm_lsp.core.record import Opening

if TYPE_CHECKING:
    from collections.abc import Callable, Coroutine

    from ollm_lsp.core.conversation import Response
    from ollm_lsp.core.events import ChatEvent
    from ollm_lsp.core.messages import Message
    from ollm_lsp.core.model import ModelId
    from ollm_lsp.core.ports import ResponseStore, Sink


class Recording(Protocol):
    """What a chat tells about its response. Nothing here ever fails a chat."""

    async def begin(
        self, response_id: str, parent_id: str | None, model: ModelId, messages: tuple[Message, ...]
    ) -> None:
        """The model is about to be asked; the messages are the input that is kept."""
        ...

    def add(self, message: Message) -> None:
        """A message of the output is complete."""
        ...

    async def finish(self, response: Response) -> None:
        """The response is complete, or cut short. When this returns, it is as safe as the store can make it."""
        ...


class NoRecording:
    """A chat that nobody writes down."""

    async def begin(
        self, response_id: str, parent_id: str | None, model: ModelId, messages: tuple[Message, ...]
    ) -> None:
        pass

    def add(self, message: Message) -> None:
        pass

    async def finish(self, response: Response) -> None:
        pass


class StoreRecording:
    """Writes a chat into a store. It is the chat's sink as well, so that it hears the text while it grows.

    A store that fails is a warning: the chat goes on without it. Only the end is tried again, since the cause may be
    gone by then and the end alone is enough.
    """

    def __init__(
        self, store: ResponseStore, conversation_id: str, sink: Sink, warn: Callable[[Warned], None] | None = None
    ) -> None:
        self._store = store
        self._conversation_id = conversation_id
        self._sink = sink
        self._warn = warn or sink.emit
        self._response_id = ""
        self._is_open = False
        self._has_warned = False

    def emit(self, event: ChatEvent) -> None:
        self._sink.emit(event)
        if self._is_open and isinstance(event, TextDelta | ReasoningDelta | UsageChanged):
            self._store.grow(self._response_id, event)

    async def drain(self) -> None:
        await self._sink.drain()

    async def begin(
        self, response_id: str, parent_id: str | None, model: ModelId, messages: tuple[Message, ...]
    ) -> None:
        self._response_id = response_id
        opening = Opening(response_id, parent_id, model, messages)
        self._is_open = await self._try(self._store.begin(self._conversation_id, opening))

    def add(self, message: Message) -> None:
        if self._is_open:
            self._store.add(self._response_id, message)

    async def finish(self, response: Response) -> None:
        self._is_open = False
        await self._try(self._store.finish(self._conversation_id, response))

    async def _try(self, writing: Coroutine[None, None, None]) -> bool:
        try:
            await writing
        except StoreFailed as error:
            if not self._has_warned:
                self._has_warned = True
                self._warn(Warned(error.code, f"This conversation is not being kept. {error.message}", error.remedy))
            return False
        return True
