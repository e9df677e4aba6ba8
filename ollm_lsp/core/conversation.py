"""Conversations: trees of responses, each with the messages that led to it."""

from __future__ import annotations

from contextlib import contextmanager
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from ollm_lsp.core.errors import Busy, ConversationNotFound
from ollm_lsp.core.messages import Reasoning
from ollm_lsp.core.repair import repaired

if TYPE_CHECKING:
    from collections.abc import Callable, Generator, Iterator, Sequence

    from ollm_lsp.core.events import FinishReason
    from ollm_lsp.core.messages import Message
    from ollm_lsp.core.model import ModelId
    from ollm_lsp.core.ports import ResponseStore
    from ollm_lsp.core.record import ConversationRecord
    from ollm_lsp.core.usage import Cost, Usage


@dataclass(frozen=True, slots=True)
class Response:
    """What one chat added to a conversation. `finish_reason` tells whether it was cut short."""

    id: str
    parent_id: str | None
    model: ModelId
    input: tuple[Message, ...]
    output: tuple[Message, ...]
    usage: Usage
    cost: Cost
    finish_reason: FinishReason
    is_recap: bool = False
    """Whether its input stands for everything before it, as after a compaction."""

    @property
    def text(self) -> str:
        return "".join(message.text for message in self.output)

    @property
    def answers(self) -> bool:
        """Whether there is more than thoughts, which no wire sends alone."""
        return any(not isinstance(part, Reasoning) for message in self.output for part in message.parts)


class Conversation:
    """A tree of responses; the newest one is its head."""

    def __init__(self, conversation_id: str) -> None:
        self.id = conversation_id
        self.head: str | None = None
        self.model: ModelId | None = None
        """The model that the user chose for it, where they did."""
        self._responses: dict[str, Response] = {}
        self._asides: dict[str, str | None] = {}
        self._busy = False

    def restore(self, record: ConversationRecord) -> None:
        """Add what a store has kept of this conversation and is not here yet.

        A response whose parent is not among those before it begins a tree of its own.
        """
        self.model = self.model or record.model
        for step in record.responses:
            response = step.response
            if response.id not in self._responses:
                orphaned = response.parent_id not in self._responses
                self.append(replace(response, parent_id=None) if orphaned else response)

    def append(self, response: Response) -> None:
        self._responses[response.id] = response
        self.head = response.id

    def __iter__(self) -> Iterator[Response]:
        """All responses, in the order in which they came."""
        return iter(tuple(self._responses.values()))

    def get(self, response_id: str) -> Response | None:
        return self._responses.get(response_id)

    def responses(self) -> Sequence[Response]:
        """All of them, on whatever branch."""
        return tuple(self._responses.values())

    def set_aside(self, response_id: str, parent_id: str | None) -> None:
        """Something was answered that no model shall read. Who goes on from it goes on from what it follows."""
        self._asides[response_id] = parent_id

    def going_on_from(self, response_id: str | None) -> str | None:
        """The response that a message follows: the head, unless another one is named; none for an empty name."""
        return self.head if response_id is None else self._asides.get(response_id, response_id) or None

    def history(self, response_id: str | None, model: ModelId) -> tuple[Message, ...]:
        """The messages on the path from the root to a response, which is included, for that model to read.

        Signatures are left out of what other models said: nobody but their provider can read them.
        A response that answers nothing is left out together with its input: a question that nobody answered would
        stand before the next question, and many models accept only alternating roles.
        What is before a recap is left out, too; whoever branches from there still finds it.
        """
        path: list[Response] = []
        while response_id is not None:
            response = self._responses.get(response_id)
            if response is None:
                raise ConversationNotFound(
                    f"Conversation {self.id} has no response {response_id}.",
                    remedy="Branch from a response of this conversation, or leave parentId out.",
                )
            path.append(response)
            response_id = None if response.is_recap else response.parent_id
        messages = (
            message if step.model == model else message.unsigned()
            for step in reversed(path)
            if step.answers or step.is_recap
            for message in (*step.input, *step.output)
        )
        # A crash may have come between a tool call and its result.
        return repaired([message for message in messages if message is not None])

    @contextmanager
    def answering(self) -> Generator[None]:
        """Hold the conversation for one chat; a second one is refused."""
        if self._busy:
            raise Busy(
                "This conversation is already answering.",
                remedy="Wait for the answer, cancel it, or start another conversation.",
            )
        self._busy = True
        try:
            yield
        finally:
            self._busy = False


class Conversations:
    """All conversations of this run, by id."""

    def __init__(self, new_id: Callable[[], str]) -> None:
        self._new_id = new_id
        self._conversations: dict[str, Conversation] = {}

    def new(self) -> Conversation:
        conversation = Conversation(self._new_id())
        return self._conversations.setdefault(conversation.id, conversation)

    def get(self, conversation_id: str) -> Conversation | None:
        return self._conversations.get(conversation_id)

    async def open(
        self, conversation_id: str | None, store: ResponseStore, parent_id: str | None = None
    ) -> Conversation:
        """The conversation with that id, from the store if it is not in memory, or a new one when no id is given.

        Another server may have added the response to go on from, so the store is asked for that one too.
        """
        if conversation_id is None:
            return self.new()
        conversation = self._conversations.get(conversation_id)
        if conversation is None or (parent_id is not None and conversation.get(parent_id) is None):
            record = await store.load(conversation_id)
            # Whoever asked for it at the same time may have been faster.
            conversation = self._conversations.get(conversation_id)
            if conversation is None:
                if record is None:
                    raise not_found(conversation_id)
                conversation = self._conversations[conversation_id] = Conversation(conversation_id)
            if record is not None:
                conversation.restore(record)
        return conversation

    def forget(self, conversation_id: str) -> bool:
        """Let go of a conversation; false when it is not in memory."""
        return self._conversations.pop(conversation_id, None) is not None


def not_found(conversation_id: str) -> ConversationNotFound:
    """Nobody knows a conversation of that id."""
    return ConversationNotFound(
        f"There is no conversation {conversation_id}.",
        remedy="Leave conversationId out to start a new conversation.",
    )
