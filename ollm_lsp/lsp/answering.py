"""One message answered, for whoever wants it: a request, a command, a document."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass
from time import monotonic
from typing import TYPE_CHECKING

from attrs import evolve

from ollm_lsp.core.chat import ending
from ollm_lsp.core.prompt import Prompt, read_prompt
from ollm_lsp.core.recording import StoreRecording
from ollm_lsp.core.slash import Slash
from ollm_lsp.lsp.chat_progress import ChatProgress
from ollm_lsp.lsp.chat_work import ChatWork
from ollm_lsp.lsp.escalating import Escalating
from ollm_lsp.lsp.kraken_status import tell_kraken
from ollm_lsp.lsp.orders.errand import Errand, carry_out
from ollm_lsp.lsp.orders.kraken import is_release
from ollm_lsp.lsp.orders.table import ERRANDS
from ollm_lsp.lsp.orders.wording import worded
from ollm_lsp.lsp.protocol import ReleaseParams
from ollm_lsp.lsp.release_work import ReleaseWork
from ollm_lsp.lsp.session import new_id
from ollm_lsp.lsp.sink import EventSink

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable

    from ollm_lsp.core.conversation import Conversation, Response
    from ollm_lsp.core.events import ChatEvent
    from ollm_lsp.core.ports import ResponseStore
    from ollm_lsp.lsp.progress import WorkDone
    from ollm_lsp.lsp.protocol import ChatSendParams
    from ollm_lsp.lsp.session import Session
    from ollm_lsp.settings.resolved import Settings


@dataclass(frozen=True, slots=True)
class Answer:
    """What came of a message."""

    conversation_id: str
    response: Response
    seconds: float


async def answer(
    session: Session,
    params: ChatSendParams,
    *,
    title: str = "Answering",
    observe: Callable[[ChatEvent], None] | None = None,
    adapt: Callable[[Settings], Settings] = lambda settings: settings,
    then: Callable[[Answer, WorkDone], Awaitable[None]] | None = None,
) -> Answer:
    """Answer a message, with the open buffers as context. `observe` hears every event, before it is redacted.

    `adapt` changes the settings for this answer. `then` goes on with the answer under the same progress, so that the
    same button stops it.
    """
    began = monotonic()
    response_id = new_id()
    conversation = None
    with session.work(params.work_done_token) as (work_done, stoppable):
        progress = ChatProgress(work_done)

        def rename(new_id: str) -> None:
            nonlocal response_id
            response_id = new_id

        def hear(event: ChatEvent) -> None:
            progress.observe(event)
            if observe is not None:
                observe(event)

        sink = EventSink(session.rpc, session.writer, params.partial_result_token, hear)
        try:
            async with ending(sink) as end:
                prompt = Prompt(params.text) if isinstance(params, ReleaseParams) else read_prompt(params.text)
                store = await session.store()
                conversation = await session.conversations.open(params.conversation_id, store, params.parent_id)
                stoppable.conversation_id = conversation.id
                with conversation.answering():
                    work_done.begin(title)
                    recording = StoreRecording(
                        store, conversation.id, sink, lambda warning: session.warn_of_store(warning, sink)
                    )
                    message = _Message(session, params, prompt, conversation, store, recording, adapt)
                    response = await message.response(response_id, rename)
                end.reason = response.finish_reason
            if response.cost.micros:
                session.spawn(tell_kraken(session))
            if then is not None:
                await then(Answer(conversation.id, response, monotonic() - began), work_done)
        except asyncio.CancelledError:
            # The cancel button stops the work, it does not withdraw the request: what came so far is the answer.
            response = conversation.get(response_id) if conversation else None
            if conversation is None or response is None or not stoppable.resume():
                raise
        finally:
            await work_done.end(progress.summary())
    return Answer(conversation.id, response, monotonic() - began)


@dataclass(frozen=True, slots=True)
class _Message:
    """One message with all that its answer needs."""

    session: Session
    params: ChatSendParams
    prompt: Prompt
    conversation: Conversation
    store: ResponseStore
    recording: StoreRecording
    adapt: Callable[[Settings], Settings]

    async def response(self, response_id: str, rename: Callable[[str], None]) -> Response:
        """What comes of it; `rename` hears of it when that has another id in the end."""
        session, params, prompt = self.session, self.params, self.prompt
        if prompt.order in ERRANDS and not is_release(prompt):
            errand = Errand(session, params, prompt.text, self.conversation, self.store, self.recording)
            return await carry_out(errand, ERRANDS[prompt.order], response_id)
        settings = self.adapt(await session.usable_settings())
        stays_with = None if prompt.order or params.model else session.away.get(self.conversation.id)
        if isinstance(params, ReleaseParams) or is_release(prompt) or stays_with:
            asked = release_of(params, *_named(prompt.text, settings, stays_with), stays=bool(stays_with))
            return await ReleaseWork(session, settings, asked, self.conversation, self.recording).answer(response_id)
        words = await worded(session, settings, prompt, params.context)
        asked = params if words is None else evolve(params, text=words)
        typed = None if words is None else params.text
        work = ChatWork(session, settings, asked, self.conversation, self.recording, typed)
        if prompt.order is Slash.COMPACT:
            return await work.compact(response_id)
        release = release_of(asked, asked.text)
        escalating = Escalating(session, settings, release, self.conversation, self.recording, work, rename)
        return await escalating.answer(response_id)


def _named(text: str, settings: Settings, stays_with: str | None) -> tuple[str, str | None]:
    """What is asked, and of whom: the first word may be the name of an external provider."""
    first, *rest = text.split(maxsplit=1)
    if stays_with is None and rest and first in settings.kraken.entries:
        return rest[0], first
    return text, stays_with


def release_of(params: ChatSendParams, text: str, provider: str | None = None, *, stays: bool = False) -> ReleaseParams:
    """A message as a release; `stays` is whether the conversation stays with the provider."""
    if isinstance(params, ReleaseParams):
        return params
    return ReleaseParams(
        text,
        params.conversation_id,
        params.parent_id,
        None,
        params.tools,
        params.context,
        params.work_done_token,
        params.partial_result_token,
        provider=provider,
        return_to_local=not stays,
    )
