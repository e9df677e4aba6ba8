"""The loop that makes a chat out of a provider."""

from __future__ import annotations

import asyncio
from contextlib import aclosing, asynccontextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING, assert_never

from ollm_lsp.core.conversation import Response
from ollm_lsp.core.errors import IncompleteAnswer, InternalError, OllmError
from ollm_lsp.core.events import (
    Activity,
    Ended,
    Failed,
    Finished,
    FinishReason,
    ReasoningDelta,
    ReasoningSigned,
    Started,
    TextDelta,
    ToolCalled,
    TurnStarted,
    UsageChanged,
    UsageReported,
    Warned,
)
from ollm_lsp.core.request import ChatRequest
from ollm_lsp.core.tokens import DEFAULT_LIMIT, check_fit
from ollm_lsp.core.turn import Turn

if TYPE_CHECKING:
    from collections.abc import AsyncGenerator

    from ollm_lsp.core.conversation import Conversation
    from ollm_lsp.core.messages import Message
    from ollm_lsp.core.model import Capabilities, ModelId
    from ollm_lsp.core.ports import Provider, Sink


@dataclass(frozen=True, slots=True)
class Question:
    """What a chat is asked: `messages` are sent to the model, `input` is kept in the conversation.

    They differ by what is true only now, such as the text of the open buffers.
    """

    messages: tuple[Message, ...]
    input: tuple[Message, ...]
    tokens: int
    capabilities: Capabilities

    @property
    def limit(self) -> int:
        return self.capabilities.context_window or DEFAULT_LIMIT


@asynccontextmanager
async def ending(sink: Sink) -> AsyncGenerator[Ending]:
    """Whatever happens inside, the sink hears of a failure, and of the end last and once."""
    ending = Ending()
    reason = FinishReason.ERROR
    try:
        yield ending
        reason = ending.reason
    except asyncio.CancelledError:
        reason = FinishReason.CANCELLED
        raise
    except OllmError as error:
        sink.emit(Failed(error))
        raise
    except Exception as error:
        name = type(error).__name__
        failure = InternalError(f"Unexpected {name} while answering.", remedy="Please report it, with the log.")
        sink.emit(Failed(failure))
        raise failure from error
    finally:
        sink.emit(Ended(reason))


@dataclass(slots=True)
class Ending:
    """How a chat will have ended, unless something happens first."""

    reason: FinishReason = FinishReason.ERROR


class Chat:
    """One run: from a question to a response in the conversation, with its events on the way."""

    def __init__(self, provider: Provider, model: ModelId, sink: Sink) -> None:
        self._provider = provider
        self._model = model
        self._sink = sink

    async def run(
        self, question: Question, conversation: Conversation, *, parent_id: str | None, response_id: str
    ) -> Response:
        """Answer the question. However it ends, what was received is kept in the conversation."""
        self._sink.emit(Started(conversation.id, response_id, self._model))
        turn = Turn()
        reason = FinishReason.ERROR
        try:
            await self._take(turn, question, number=1)
            reason = turn.finish or FinishReason.STOP
        except asyncio.CancelledError:
            reason = FinishReason.CANCELLED
            raise
        finally:
            message = turn.message
            response = Response(
                id=response_id,
                parent_id=parent_id,
                model=self._model,
                input=question.input,
                output=(message,) if message else (),
                usage=turn.usage,
                cost=self._provider.cost(self._model.name, turn.usage),
                finish_reason=reason,
            )
            conversation.append(response)
        return response

    async def _take(self, turn: Turn, question: Question, number: int) -> None:
        """One turn: ask the model once and pass on what it says."""
        request = ChatRequest(self._model.name, question.messages)
        request.check(question.capabilities)
        if warning := check_fit(question.tokens, question.limit):
            self._sink.emit(warning)
        self._sink.emit(TurnStarted(number))
        async with aclosing(self._provider.stream(request)) as events:
            async for event in events:
                turn.add(event)
                match event:
                    case TextDelta() | ReasoningDelta() | ToolCalled() | Activity() | Warned():
                        self._sink.emit(event)
                    case UsageReported(usage):
                        cost = self._provider.cost(self._model.name, usage)
                        filled = usage.input_tokens + usage.output_tokens
                        self._sink.emit(UsageChanged(usage, cost, filled, question.limit))
                    case ReasoningSigned():
                        pass  # for the history alone
                    case Finished():
                        return
                    case _:
                        assert_never(event)
                await self._sink.drain()
        raise IncompleteAnswer(
            f"{self._provider.name} stopped without finishing its answer.", remedy="Send the message again."
        )
