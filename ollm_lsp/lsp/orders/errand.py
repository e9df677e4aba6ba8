"""An errand: an order that the server carries out itself. No model is asked, and none ever reads what came of it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from ollm_lsp.core.conversation import Response
from ollm_lsp.core.events import FinishReason, Started, TextDelta
from ollm_lsp.core.messages import Message, Role, Text
from ollm_lsp.core.model import ModelId
from ollm_lsp.core.usage import FREE, Usage

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable

    from ollm_lsp.core.conversation import Conversation
    from ollm_lsp.core.ports import ResponseStore, Sink
    from ollm_lsp.lsp.protocol import ChatSendParams
    from ollm_lsp.lsp.session import Session


@dataclass(frozen=True, slots=True)
class Errand:
    """The words behind an order, and the conversation in which it was given."""

    session: Session
    params: ChatSendParams
    words: str
    conversation: Conversation
    store: ResponseStore
    sink: Sink

    async def model(self) -> ModelId:
        """The model that the next message of this conversation goes to."""
        if self.params.model:
            return ModelId.parse(self.params.model)
        return self.conversation.model or (await self.session.settings()).settings.model


async def carry_out(errand: Errand, order: Callable[[Errand], Awaitable[str]], response_id: str) -> Response:
    """Tell what an order gives, as a chat tells its answer."""
    parent_id = errand.conversation.going_on_from(errand.params.parent_id)
    errand.sink.emit(Started(errand.conversation.id, response_id, await errand.model()))
    text = await order(errand)
    errand.sink.emit(TextDelta(text))
    errand.conversation.set_aside(response_id, parent_id)
    output = (Message(Role.ASSISTANT, (Text(text),)),)
    return Response(response_id, parent_id, await errand.model(), (), output, Usage(), FREE, FinishReason.STOP)
