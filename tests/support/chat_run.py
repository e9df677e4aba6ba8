"""A chat with a scripted provider, run as a handler runs one."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import pytest

from ollm_lsp.core.chat import MAX_TURNS, Chat, ending
from ollm_lsp.core.conversation import Conversation
from ollm_lsp.core.events import ToolChanged
from ollm_lsp.core.messages import Message
from ollm_lsp.core.model import Capabilities, ModelId
from ollm_lsp.core.question import Question
from ollm_lsp.core.tokens import CHARS_PER_TOKEN, estimate
from ollm_lsp.core.toolbox import Toolbox
from tests.support.scripted_provider import RecordingSink

if TYPE_CHECKING:
    from ollm_lsp.core.compaction import Compactor
    from ollm_lsp.core.conversation import Response
    from ollm_lsp.core.tool import ToolStatus
    from tests.support.scripted_provider import ScriptedProvider

MODEL = ModelId("scripted", "model:7b")
ASKED = Message.user("why?")
ALONE = estimate((ASKED, ASKED)) - 1
"""The tokens of the question and of an empty message before it."""


def question(tokens: int | None = None, limit: int = 1_000, *sent: Message) -> Question:
    """A question for a model with that limit; with so many tokens, if that matters."""
    system = Message.system("be brief" if tokens is None else "." * CHARS_PER_TOKEN * (tokens - ALONE))
    return Question(sent or (system, ASKED), (ASKED,), Capabilities(tools=True, context_window=limit))


@dataclass
class Run:
    """One or several chats in one conversation."""

    provider: ScriptedProvider
    sink: RecordingSink = field(default_factory=RecordingSink)
    conversation: Conversation = field(default_factory=lambda: Conversation("c"))
    toolbox: Toolbox = field(default_factory=Toolbox)
    max_turns: int = MAX_TURNS
    compactor: Compactor | None = None

    async def chat(self, asked: Question | None = None, response_id: str = "r") -> Response:
        async with ending(self.sink) as end:
            chat = Chat(
                self.provider,
                MODEL,
                self.sink,
                toolbox=self.toolbox,
                max_turns=self.max_turns,
                compactor=self.compactor,
            )
            parent_id = self.conversation.head
            response = await chat.run(
                asked or question(), self.conversation, parent_id=parent_id, response_id=response_id
            )
            end.reason = response.finish_reason
        return response

    async def cancelled(self, when: asyncio.Event, asked: Question | None = None) -> None:
        """Run the chat and cancel it as soon as `when` happens; every stream is closed by the time it is cancelled."""
        chat, happens = asyncio.create_task(self.chat(asked)), asyncio.create_task(when.wait())
        await asyncio.wait({chat, happens}, return_when=asyncio.FIRST_COMPLETED)
        happens.cancel()
        assert chat.cancel(), "the chat had ended before"
        try:
            await chat
        except asyncio.CancelledError:
            assert self.provider.closed == self.provider.opened >= 1
        else:
            pytest.fail("nothing was cancelled")

    @property
    def kept(self) -> Response:
        response = self.conversation.get("r")
        assert response is not None
        return response

    def changes(self, event_id: str) -> list[ToolChanged]:
        """Everything that was told of a call."""
        return [event for event in self.sink.events if isinstance(event, ToolChanged) and event.id == event_id]

    def statuses(self, event_id: str) -> list[ToolStatus]:
        return [change.status for change in self.changes(event_id)]
