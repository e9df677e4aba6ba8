"""A chat at work: a message of the user, the conversation it belongs to, and the models that have to do with it."""

from __future__ import annotations

from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from ollm_lsp.core.chat import Chat
from ollm_lsp.core.compaction import Compactor, Outcome, is_due_before
from ollm_lsp.core.conversation import Response
from ollm_lsp.core.counting import count
from ollm_lsp.core.events import FinishReason, Started, TextDelta, UsageChanged
from ollm_lsp.core.messages import Message, Role, Text
from ollm_lsp.core.model import ModelId
from ollm_lsp.core.question import kept_as
from ollm_lsp.core.react import can_afford, suited
from ollm_lsp.core.recap import recap
from ollm_lsp.core.request import ChatRequest
from ollm_lsp.core.sight import sighted
from ollm_lsp.core.tokens import DEFAULT_LIMIT
from ollm_lsp.core.toolbox import Toolbox
from ollm_lsp.core.usage import FREE, Usage
from ollm_lsp.core.window import SUMMARISING
from ollm_lsp.core.written_call import call_ids
from ollm_lsp.lsp.context.preview import COMPACTION_DUE, preview_of
from ollm_lsp.lsp.context.surroundings import surroundings_of
from ollm_lsp.lsp.desk import tools_for
from ollm_lsp.lsp.paying import paid
from ollm_lsp.lsp.project_rules import project_rules
from ollm_lsp.lsp.question import compose, system_prompt
from ollm_lsp.lsp.session import new_id
from ollm_lsp.settings.narrowing import is_local

if TYPE_CHECKING:
    from collections.abc import AsyncGenerator

    from ollm_lsp.core.conversation import Conversation
    from ollm_lsp.core.events import ChatEvent
    from ollm_lsp.core.model import Capabilities
    from ollm_lsp.core.ports import Provider, Sink
    from ollm_lsp.core.recording import StoreRecording
    from ollm_lsp.lsp.context.preview import Preview
    from ollm_lsp.lsp.protocol import ChatSendParams, ContextPreviewParams
    from ollm_lsp.lsp.question import Composed
    from ollm_lsp.lsp.session import Session
    from ollm_lsp.settings.resolved import Settings


@dataclass(frozen=True, slots=True)
class _Models:
    """Who answers, and who summarises."""

    provider: Provider
    capabilities: Capabilities
    compactor: Compactor

    @property
    def window(self) -> int:
        return self.capabilities.context_window or DEFAULT_LIMIT


@dataclass(frozen=True, slots=True)
class _Gauge:
    """Passes events on, and tells the status how full the context is as soon as the provider has counted."""

    sink: Sink
    session: Session

    def emit(self, event: ChatEvent) -> None:
        self.sink.emit(event)
        if isinstance(event, UsageChanged) and event.context_limit:
            self.session.tell_status(contextTokens=event.context_tokens, contextLimit=event.context_limit)

    async def drain(self) -> None:
        await self.sink.drain()


class ChatWork:
    """What is done with one message."""

    def __init__(
        self,
        session: Session,
        settings: Settings,
        params: ChatSendParams | ContextPreviewParams,
        conversation: Conversation,
        recording: StoreRecording,
        typed: str | None = None,
    ) -> None:
        self._session = session
        self._settings = settings
        self._params = params
        self._conversation = conversation
        self._recording = recording
        self._typed = typed
        """What the conversation keeps, where the model is asked in other words."""
        self._model = ModelId.parse(params.model) if params.model else conversation.model or settings.model
        self._parent_id = conversation.going_on_from(params.parent_id)

    @property
    def model(self) -> ModelId:
        """Who answers."""
        return self._model

    async def answer(self, response_id: str) -> Response:
        """Let the model answer, with the open buffers as context."""
        chat = self._settings.chat
        async with self._models() as found:
            system, history, toolbox, models = await self._prepare(found)
            if chat.auto_compact and await self._is_due(models, (system, *history), toolbox):
                history = await self._shorten(models)
            composed = await self._compose((system, *history), toolbox, models)
            question = composed.question if self._typed is None else kept_as(composed.question, self._typed)
            for warning in composed.context.warnings:
                self._recording.emit(warning)
            self._session.tell_status(
                model=str(self._model), contextTokens=question.tokens, contextLimit=question.limit
            )
            return await Chat(
                models.provider,
                self._model,
                _Gauge(self._recording, self._session),
                toolbox=toolbox,
                max_turns=chat.max_turns,
                recording=self._recording,
                compactor=models.compactor if chat.auto_compact else None,
            ).run(question, self._conversation, parent_id=self._parent_id, response_id=response_id)

    async def preview(self) -> Preview:
        """What the model would be asked. Nothing is sent to it, and nothing is kept."""
        async with self._models() as found:
            system, history, toolbox, models = await self._prepare(found)
            past = (system, *history)
            if self._settings.chat.auto_compact and await self._is_due(models, past, toolbox):
                self._recording.emit(COMPACTION_DUE)
            composed = await self._compose(past, toolbox, models)
            for warning in composed.context.warnings:
                self._recording.emit(warning)
            tools = toolbox.specs if models.capabilities.tools else ()
            request = ChatRequest(self._model.name, composed.question.messages, tools)
            return await preview_of(models.provider, self._model, request, composed)

    async def _prepare(self, found: _Models) -> tuple[Message, tuple[Message, ...], Toolbox, _Models]:
        """What goes before a question, and who answers it with which tools."""
        rules = await project_rules(self._session, self._settings, self._recording, found.window)
        toolbox = await self._toolbox(found)
        history = self._conversation.history(self._parent_id, self._model)
        history = sighted(history, sees=found.capabilities.vision)
        models = await self._with_tools(found, toolbox, history)
        return system_prompt(self._settings, rules), history, toolbox, models

    async def _compose(self, past: tuple[Message, ...], toolbox: Toolbox, models: _Models) -> Composed:
        around = await surroundings_of(self._session, self._settings, is_external=self._is_external)
        params = self._params
        return await compose(params.text, params.context, past, around, models.capabilities, toolbox.specs)

    async def compact(self, response_id: str) -> Response:
        """Summarise what the conversation has so far, because the user wants it."""
        async with self._models() as models:
            model = models.compactor.model
            self._recording.emit(Started(self._conversation.id, response_id, model))
            self._recording.emit(SUMMARISING)
            made = await recap(
                self._conversation,
                self._parent_id,
                self._model,
                models.compactor,
                window=models.window,
                recap_id=response_id,
            )
        if made.response is not None:
            await self._recording.finish(made.response)
        summarised = made.response and made.compacted.warning
        told = summarised.message if summarised else f"Nothing was changed: {made.compacted.problem}."
        self._recording.emit(TextDelta(told))
        unchanged = Response(response_id, self._parent_id, model, (), (), Usage(), FREE, FinishReason.STOP)
        return replace(made.response or unchanged, output=(Message(Role.ASSISTANT, (Text(told),)),))

    @asynccontextmanager
    async def _models(self) -> AsyncGenerator[_Models]:
        async with AsyncExitStack() as stack:
            provider = await self._leased(stack, self._model)
            summariser = self._summariser()
            other = provider
            if summariser.provider != self._model.provider:
                other = await self._leased(stack, summariser)
            compactor = Compactor(other, summariser, self._settings.chat.compact_timeout)
            yield _Models(provider, await provider.capabilities(self._model.name), compactor)

    async def _leased(self, stack: AsyncExitStack, model: ModelId) -> Provider:
        provider = await stack.enter_async_context(self._session.services.provider(model.provider))
        return await paid(self._session, self._settings, provider, model, self._conversation.id)

    def _summariser(self) -> ModelId:
        """The model of the chat, unless it is elsewhere and the default one is on this machine."""
        for model in (self._model, self._settings.model):
            provider = self._settings.providers.get(model.provider)
            if provider is not None and is_local(provider, model.name):
                return model
        return self._model

    async def _toolbox(self, models: _Models) -> Toolbox:
        session, chat = self._session, self._settings.chat
        if not chat.tools or self._params.tools is False:
            return Toolbox()
        tools = await tools_for(
            session,
            self._settings,
            self._conversation.id,
            is_external=self._is_external,
            sees=models.capabilities.vision,
        )
        if not tools or not can_afford([tool.spec for tool in tools], models.capabilities, models.window):
            return Toolbox()
        return Toolbox(tools, fits=await session.services.fits(), time_limit=chat.tool_timeout)

    @property
    def _is_external(self) -> bool:
        provider = self._settings.providers.get(self._model.provider)
        return provider is None or not is_local(provider, self._model.name)

    async def _with_tools(self, found: _Models, toolbox: Toolbox, history: tuple[Message, ...]) -> _Models:
        wanted = bool(toolbox.specs or call_ids(history))
        provider = suited(found.provider, found.capabilities, tools_wanted=wanted, fits=toolbox.fits)
        return replace(found, provider=provider, capabilities=await provider.capabilities(self._model.name))

    async def _is_due(self, models: _Models, past: tuple[Message, ...], toolbox: Toolbox) -> bool:
        tools = toolbox.specs if models.capabilities.tools else ()
        request = ChatRequest(self._model.name, (*past, Message.user(self._params.text)), tools)
        return is_due_before(await count(models.provider, request, models.window), models.window)

    async def _shorten(self, models: _Models) -> tuple[Message, ...]:
        """The history as the model will be shown it; a summary is kept, and the chat follows it."""
        self._recording.emit(SUMMARISING)
        made = await recap(
            self._conversation,
            self._parent_id,
            self._model,
            models.compactor,
            window=models.window,
            recap_id=new_id(),
        )
        if made.compacted.outcome is not Outcome.UNCHANGED and made.compacted.warning:
            self._recording.emit(made.compacted.warning)
        if made.response is not None:
            await self._recording.finish(made.response)
            self._parent_id = made.response.id
        return made.compacted.messages
