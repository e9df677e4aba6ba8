"""An answer on its way into a chat document: a few edits a second, until it is whole or somebody stops it."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING

from ollm_lsp.core.answer_markdown import AnswerMarkdown
from ollm_lsp.core.chat_file import Speaker, parse
from ollm_lsp.core.control_sequences import powerless
from ollm_lsp.core.events import ReasoningDelta, Started, TextDelta
from ollm_lsp.core.fence import Fence
from ollm_lsp.core.lines import adopted, split
from ollm_lsp.core.prompt import read_prompt
from ollm_lsp.core.slash import Slash
from ollm_lsp.core.splices import Splice
from ollm_lsp.lsp.answering import answer
from ollm_lsp.lsp.live_text import Interrupted, LiveText
from ollm_lsp.lsp.to_wire import clean
from ollm_lsp.settings.redactor import redactor

if TYPE_CHECKING:
    from ollm_lsp.core.chat_file import ChatMessage
    from ollm_lsp.core.events import ChatEvent
    from ollm_lsp.lsp.answering import Answer
    from ollm_lsp.lsp.documents import Document
    from ollm_lsp.lsp.protocol import ChatSendParams
    from ollm_lsp.lsp.session import Session

INTERVAL = 0.1
"""Seconds between two edits, if the editor keeps up."""


class ChatStream:
    """One answer in one document."""

    def __init__(self, session: Session, document: Document, question: ChatMessage) -> None:
        self._session = session
        self._question = question
        self.has_begun = asyncio.Event()
        self._live = LiveText(session, document, "Answer")
        self._markdown = AnswerMarkdown()
        self._unwritten = ""
        self._growing: type[TextDelta | ReasoningDelta] = TextDelta
        self._hidden = ""
        """The end of a text that may become a secret."""
        self._conversation_id: str | None = None
        self._answering: asyncio.Task[Answer] | None = None

    @property
    def line(self) -> int:
        """Where the answer begins, or the question before there is one."""
        span = self._live.span
        return len(split(self._live.text[: span.start])) if span else self._question.line

    def stop(self) -> None:
        """End the answer; what came stays."""
        if self._answering is not None:
            self._answering.cancel()

    async def run(self, params: ChatSendParams) -> Answer | None:
        """Answer. Nothing comes of it when it was stopped. A failure is in the document, and is raised as well.

        Raises `Interrupted` when the answer cannot even begin.
        """
        with self._live.following():
            await self._live.open(self._opening)
            self._answering = self._session.spawn(answer(self._session, params, observe=self._hear))
            self._answering.add_done_callback(lambda _: self._live.news.set())
            self.has_begun.set()
            try:
                await self._write()
                if model := self._chosen(params.text):
                    await self._live.edit(lambda text: _naming_model(text, model))
                await self._live.edit(self._closing)
            except Interrupted as reason:
                told = f"ollm: The answer was stopped. {reason}"
                self._session.rpc.notify("window/showMessage", {"type": 3, "message": told})
                return None
            finally:
                await self.stopped()
            return None if self._answering.cancelled() else self._answering.result()

    async def _write(self) -> None:
        """Bring into the document what comes."""
        answering = self._answering
        loop = asyncio.get_running_loop()
        while answering is not None:
            self._live.check()
            is_over = answering.done()
            began = loop.time()
            if self._conversation_id is not None:
                await self._live.edit(self._naming)
                self._conversation_id = None
            if self._unwritten:
                written, self._unwritten = self._unwritten, ""
                await self._live.grow(written)
                await asyncio.sleep(0 if is_over else max(0.0, INTERVAL - (loop.time() - began)))
            elif is_over:
                break
            elif not answering.done():
                self._live.news.clear()
                await self._live.news.wait()

    async def stopped(self) -> None:
        """Stop, and wait until the chat has ended and let its provider go. The document may still be written."""
        self.stop()
        if self._answering is not None:
            await asyncio.wait([self._answering])

    def _hear(self, event: ChatEvent) -> None:
        if isinstance(event, TextDelta | ReasoningDelta):
            if not isinstance(event, self._growing):
                self._release()
                self._growing = type(event)
            shown, self._hidden = redactor.split(self._hidden + powerless(event.text))
            self._unwritten += self._markdown.add(self._growing(shown))
        else:
            self._release()
            self._unwritten += clean(self._markdown.add(event))
        if isinstance(event, Started):
            self._conversation_id = event.conversation_id
        self._live.news.set()

    def _release(self) -> None:
        """Nothing more comes of this text: what waits is no secret."""
        self._unwritten += self._markdown.add(self._growing(redactor.redact(self._hidden)))
        self._hidden = ""

    def _opening(self, text: str) -> tuple[Splice, int]:
        """The heading of the answer, in place of everything below the question."""
        question = parse(text).question_at(self._question.line)
        if question is None or question.text != self._question.text:
            raise Interrupted("The question was changed while it was sent.")
        fence = Fence()
        for line in text[question.body : question.stop].splitlines():
            fence.feed(line)
        lead = adopted(f"\n{fence.closing}\n\n" if fence.is_open else "\n\n", text)
        heading = adopted(f"{Speaker.ASSISTANT.heading}\n\n", text)
        end = max(question.stop, len(text.rstrip()))
        return Splice(question.stop, end, lead + heading), len(lead)

    def _naming(self, text: str) -> Splice:
        file = parse(text)
        if file.value("conversation") == self._conversation_id:
            return Splice(0, 0, "")
        return file.setting("conversation", self._conversation_id or "")

    def _chosen(self, asked: str) -> str | None:
        """The model that the user has just chosen by an order."""
        answering = self._answering
        if answering is None or answering.cancelled() or answering.exception() is not None:
            return None
        if read_prompt(asked).order is not Slash.MODEL:
            return None
        conversation = self._session.conversations.get(answering.result().conversation_id)
        return str(conversation.model) if conversation and conversation.model else None

    def _closing(self, text: str) -> Splice:
        """A heading for what comes next, unless there is one."""
        end = self._live.end
        rest = text[end:].lstrip()
        first = next(iter(parse(rest).messages), None)
        has_heading = first is not None and first.start == 0 < first.body and first.speaker is Speaker.YOU
        return Splice(end, end, "" if has_heading else adopted(f"\n\n{Speaker.YOU.heading}\n\n", text))


def _naming_model(text: str, model: str) -> Splice:
    """The choice in place of the model that the document names, which would go over it."""
    file = parse(text)
    return file.setting("model", model) if file.value("model") not in (None, model) else Splice(0, 0, "")
