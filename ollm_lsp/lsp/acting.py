"""Acting: an action of the user from its prompt to an answer that is shown or a change that is proposed."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, assert_never

from ollm_lsp.core.actions import Form, prompt
from ollm_lsp.core.ai_comments import ai_comment
from ollm_lsp.core.code_blocks import read
from ollm_lsp.core.events import FinishReason
from ollm_lsp.core.lines import body, split
from ollm_lsp.core.rewriting import NoCode, asked, new_file, rewritten, shape_for, spliced
from ollm_lsp.lsp import to_wire
from ollm_lsp.lsp.answering import answer
from ollm_lsp.lsp.chat_opening import show_answer
from ollm_lsp.lsp.landing import Landed, Landing
from ollm_lsp.lsp.protocol import ChatContext, ChatSendParams
from ollm_lsp.lsp.show import tell

if TYPE_CHECKING:
    from ollm_lsp.core.actions import Action
    from ollm_lsp.core.rewriting import Shape
    from ollm_lsp.lsp.answering import Answer
    from ollm_lsp.lsp.place import Target
    from ollm_lsp.lsp.progress import WorkDone
    from ollm_lsp.lsp.protocol import ActionParams
    from ollm_lsp.lsp.session import Session
    from ollm_lsp.settings.resolved import Settings

_TOO_LONG = "The answer was cut short where the model's limit was."
FOR_ANSWERS = "You explain code to programmers: briefly, exactly, in Markdown."
FOR_CHANGES = "You are a programmer. You answer with code, and at most one sentence about it."
LONGEST_WORDS = 500
"""Characters of what a model says beside a change that are shown as a message."""


@dataclass(frozen=True, slots=True)
class Acting:
    """One action on one target."""

    session: Session
    settings: Settings
    action: Action
    target: Target
    params: ActionParams
    instruction: str = ""
    diagnostics: str = ""

    @property
    def title(self) -> str:
        return f"{self.action.title}: {self.target.file}"

    async def run(self) -> dict[str, Any]:
        """Do it. The result is that of a chat, and for a change also whether it was made."""
        match self.action.form:
            case Form.ANSWER:
                return await self._answer()
            case Form.EDIT:
                shape = shape_for(self.target.block)
                text = asked(self._task, self.target.block, shape, self.target.language)
                context = None if self.target.is_whole else ChatContext(self.target.snapshot.uri)
                return await self._change(text, context, shape)
            case Form.FILE:
                context = ChatContext(self.target.snapshot.uri, self.target.range)
                return await self._change(f"{self._task}\n\nAnswer with one fenced code block.", context, None)
            case _:
                assert_never(self.action.form)

    async def _answer(self) -> dict[str, Any]:
        context = ChatContext(self.target.snapshot.uri, self.target.range)
        message = self._message(self._task, context)
        made = await answer(self.session, message, title=self.title, adapt=lambda found: _told(found, FOR_ANSWERS))
        if not self.session.client.is_ours:
            await show_answer(self.session, self.title, made.response.text, made.conversation_id)
        return to_wire.chat_result(made.conversation_id, made.response, made.seconds)

    async def _change(self, text: str, context: ChatContext | None, shape: Shape | None) -> dict[str, Any]:
        landed = Landed(applied=False)

        async def land(made: Answer, progress: WorkDone) -> None:
            nonlocal landed
            progress.report("Waiting for your decision")
            landed = await self._land(made, shape)

        message = self._message(text, context)
        made = await answer(self.session, message, title=self.title, adapt=_for_changes, then=land)
        if not self.session.client.is_ours:
            await self._show(made, landed)
        result = to_wire.chat_result(made.conversation_id, made.response, made.seconds)
        return to_wire.change_result(result, applied=landed.applied, reason=landed.reason)

    async def _land(self, made: Answer, shape: Shape | None) -> Landed:
        said, target = made.response.text, self.target
        reason = made.response.finish_reason
        if reason is not FinishReason.STOP:
            return Landed(
                applied=False, reason=_TOO_LONG if reason is FinishReason.LENGTH else "The answer has no end."
            )
        landing = await Landing.of(self.session, self.settings, made.conversation_id, target.snapshot.uri)
        try:
            if shape is None:
                return await landing.tests(self.title, new_file(said, target.language))
            block = _without_order(rewritten(target.block, said, shape, target.language), target)
        except NoCode as why:
            return Landed(applied=False, reason=str(why))
        return await landing.edit(self.title, target.snapshot, spliced(target.text, target.first, target.last, block))

    async def _show(self, made: Answer, landed: Landed) -> None:
        """For clients without a view of ours: what is not seen in the document itself."""
        said = to_wire.clean(made.response.text)
        if landed.applied:
            if words := read(said).prose:
                short = words if len(words) <= LONGEST_WORDS else f"{words[:LONGEST_WORDS]}…"
                self.session.rpc.notify("window/showMessage", {"type": 3, "message": f"ollm: {short}"})
        elif landed.reason and made.response.finish_reason is not FinishReason.CANCELLED:
            await tell(self.session, f"{self.title}: nothing was changed", f"{landed.reason}\n\n---\n\n{said}")

    def _message(self, text: str, context: ChatContext | None) -> ChatSendParams:
        params = self.params
        return ChatSendParams(
            text,
            conversation_id=params.conversation_id,
            model=params.model,
            tools=False,
            context=context,
            work_done_token=params.work_done_token,
            partial_result_token=params.partial_result_token,
        )

    @property
    def _task(self) -> str:
        target = self.target
        return prompt(
            self.action,
            language=target.language,
            file=target.file,
            instruction=self.instruction,
            diagnostics=self.diagnostics,
        )


def _for_changes(settings: Settings) -> Settings:
    """For a change, what is asked for must not drown in what else is open or could be said."""
    return _told(replace(settings, context=replace(settings.context, open_buffers=False)), FOR_CHANGES)


def _told(settings: Settings, system_prompt: str) -> Settings:
    chat = replace(settings.chat, system_prompt=settings.chat.system_prompt or system_prompt)
    return replace(settings, chat=chat)


def _without_order(block: str, target: Target) -> str:
    """A block without the comment that asked for it, should the model have kept that."""
    before = {line.strip() for line in split(target.block)}
    orders = {line for line in before if ai_comment(line, target.language)}
    lines = split(block)
    kept = [line for line in lines if body(line).strip() not in orders]
    return "".join(kept) if len(kept) < len(lines) and kept and len(before) == len(orders) else block
