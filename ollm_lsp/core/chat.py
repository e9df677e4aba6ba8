"""The loop that makes a chat out of a provider."""

from __future__ import annotations

import asyncio
from contextlib import aclosing, asynccontextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING, assert_never

from ollm_lsp.core.calls import Calls
from ollm_lsp.core.conversation import Response
from ollm_lsp.core.errors import IncompleteAnswer, InternalError, OllmError, ProviderError, Unsupported
from ollm_lsp.core.events import (
    Activity,
    Ended,
    Failed,
    Finished,
    FinishReason,
    ReasoningDelta,
    ReasoningSigned,
    SessionReported,
    Started,
    TextDelta,
    ToolCalled,
    ToolChanged,
    TurnStarted,
    UsageChanged,
    UsageReported,
    Warned,
)
from ollm_lsp.core.foreign_calls import ForeignCalls
from ollm_lsp.core.recording import NoRecording
from ollm_lsp.core.repetition import ADVICE, Repetition
from ollm_lsp.core.toolbox import MAX_RESULT, Toolbox
from ollm_lsp.core.turn import Turn
from ollm_lsp.core.usage import Spending
from ollm_lsp.core.window import Window

if TYPE_CHECKING:
    from collections.abc import AsyncGenerator

    from ollm_lsp.core.compaction import Compactor
    from ollm_lsp.core.conversation import Conversation
    from ollm_lsp.core.messages import Message
    from ollm_lsp.core.model import ModelId
    from ollm_lsp.core.ports import Provider, Sink
    from ollm_lsp.core.question import Question
    from ollm_lsp.core.recording import Recording
    from ollm_lsp.core.request import ChatRequest
    from ollm_lsp.core.usage import Cost, Usage

MAX_TURNS = 10
_WANTS_TOOLS = (FinishReason.STOP, FinishReason.TOOL_USE)
"""How a model ends that means its calls. Some servers say `stop` also then."""
_REFUSED = (400, 413, 415, 422)
"""What servers say to a request that they cannot use."""
CUT_OFF = "The call was not run: the answer was cut off while it was made."
STOPPED = "There is no result: the chat was stopped before the tool had finished."


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

    def __init__(
        self,
        provider: Provider,
        model: ModelId,
        sink: Sink,
        *,
        toolbox: Toolbox | None = None,
        max_turns: int = MAX_TURNS,
        recording: Recording | None = None,
        compactor: Compactor | None = None,
    ) -> None:
        self._provider = provider
        self._model = model
        self._sink = sink
        self._toolbox = toolbox or Toolbox()
        self._max_turns = max_turns
        self._recording = recording or NoRecording()
        self._output: list[Message] = []
        self._spending = Spending()
        self._compactor = compactor
        self._repetition = Repetition()

    async def run(
        self, question: Question, conversation: Conversation, *, parent_id: str | None, response_id: str
    ) -> Response:
        """Answer the question. However it ends, what was received is kept in the conversation."""
        await self._recording.begin(response_id, parent_id, self._model, question.input)
        self._sink.emit(Started(conversation.id, response_id, self._model))
        reason = FinishReason.ERROR
        try:
            reason = await self._answer(question, response_id)
        except asyncio.CancelledError:
            reason = FinishReason.CANCELLED
            raise
        finally:
            response = Response(
                id=response_id,
                parent_id=parent_id,
                model=self._model,
                input=question.input,
                output=tuple(self._output),
                usage=self._spending.usage,
                cost=self._spending.cost,
                finish_reason=reason,
            )
            conversation.append(response)
            await self._recording.finish(response)
        return response

    def _keep(self, message: Message, window: Window) -> None:
        """A message is complete. Every one passes here, in its order."""
        self._output.append(message)
        self._recording.add(message)
        window.add(message)

    async def _answer(self, question: Question, response_id: str) -> FinishReason:
        """Turn by turn, until the model calls no more tools."""
        window = Window(
            question,
            self._provider,
            self._model.name,
            self._sink,
            self._spending,
            self._toolbox.specs,
            self._compactor,
        )
        for number in range(1, self._max_turns + 1):
            request = await window.request()
            self._sink.emit(TurnStarted(number))
            calls = Calls(self._toolbox, f"{response_id}.{number}", self._sink.emit)
            try:
                finish = await self._take(window, request, calls)
            except ProviderError as error:
                # Many servers do not tell that a model is blind. The image of a tool must not end the conversation.
                if not _refuses(error) or not window.hide_images():
                    raise
                self._sink.emit(Warned("images_hidden", f"The model was shown no images of tools: {error.message}"))
                finish = await self._take(window, await window.request(), calls)
            if not calls or finish not in _WANTS_TOOLS:
                return finish
            if self._repetition.is_hopeless:
                self._sink.emit(
                    Warned(
                        "repeated_calls",
                        "The model made the same tool calls again and again, and nothing came of it.",
                        "Say what it should do instead, or choose another model.",
                    )
                )
                return FinishReason.TOOL_USE
        return FinishReason.MAX_TURNS

    async def _take(self, window: Window, request: ChatRequest, calls: Calls) -> FinishReason:
        """One turn: ask the model once, then run what it called. However it ends, no call stays without a result."""
        no_result = STOPPED
        try:
            finish = await self._listen(window, request, calls)
            if calls and finish in _WANTS_TOOLS:
                await calls.run(min(window.room(len(calls)), MAX_RESULT))
                self._repetition.add(calls.outcomes)
                if self._repetition.is_worth_a_word:
                    calls.advise(ADVICE)
            else:
                no_result = CUT_OFF
        finally:
            if calls:
                # First all are kept: whatever happens to who is told, the history must be whole.
                settled = calls.settle(no_result)
                self._keep(calls.message, window)
                for change in settled:
                    self._sink.emit(change)
        await self._sink.drain()
        return finish

    async def _listen(self, window: Window, request: ChatRequest, calls: Calls) -> FinishReason:
        """Pass on what the model says, and keep it when it has ended, in whatever way."""
        turn = Turn()
        foreign = ForeignCalls(calls.turn_id, self._sink.emit)
        try:
            return await self._forward(window, request, turn, calls, foreign)
        finally:
            if message := turn.message:
                self._keep(message, window)
            self._spending.add(turn.usage, turn.cost or self._cost(turn.usage))
            foreign.settle()

    def _cost(self, usage: Usage) -> Cost:
        return self._provider.cost(self._model.name, usage)

    async def _forward(
        self, window: Window, request: ChatRequest, turn: Turn, calls: Calls, foreign: ForeignCalls
    ) -> FinishReason:
        async with aclosing(self._provider.stream(request)) as events:
            async for event in events:
                turn.add(event)
                match event:
                    case TextDelta() | ReasoningDelta() | Activity() | Warned():
                        self._sink.emit(event)
                    case ToolCalled(call):
                        calls.queue(call)
                    case ToolChanged():
                        foreign.change(event)
                    case UsageReported(usage, cost):
                        filled = usage.input_tokens + usage.output_tokens
                        spent = self._spending.usage + usage, self._spending.cost + (cost or self._cost(usage))
                        self._sink.emit(UsageChanged(*spent, filled, window.limit))
                    case ReasoningSigned() | SessionReported():
                        pass  # for the history alone, and for who wants to go on with an agent
                    case Finished(reason):
                        return reason
                    case _:
                        assert_never(event)
                await self._sink.drain()
        raise IncompleteAnswer(
            f"{self._provider.name} stopped without finishing its answer.", remedy="Send the message again."
        )


def _refuses(error: ProviderError) -> bool:
    """Whether a request was refused for what it holds, as far as anybody can tell."""
    return isinstance(error, Unsupported) or error.status in _REFUSED
