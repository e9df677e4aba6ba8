"""Escalation in a chat: what the local model could not do is offered to an external one, and comes back."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from attrs import evolve

from ollm_lsp.core.errors import OllmError, PermissionDenied
from ollm_lsp.core.events import Escalated, Warned
from ollm_lsp.kraken.escalation import is_wanted, of_error, of_request, of_response
from ollm_lsp.kraken.hooks import Moment
from ollm_lsp.kraken.selection import Hint, rank
from ollm_lsp.lsp.paying import kind_of
from ollm_lsp.lsp.release_work import ReleaseWork
from ollm_lsp.lsp.session import new_id

if TYPE_CHECKING:
    from collections.abc import Callable

    from ollm_lsp.core.conversation import Conversation, Response
    from ollm_lsp.core.recording import StoreRecording
    from ollm_lsp.kraken.escalation import Escalation
    from ollm_lsp.lsp.chat_work import ChatWork
    from ollm_lsp.lsp.protocol import ReleaseParams
    from ollm_lsp.lsp.session import Session
    from ollm_lsp.settings.resolved import Settings

MOST_TRIES = 3
"""Providers that are tried one after the other."""


@dataclass(frozen=True, slots=True)
class Escalating:
    """A chat whose model may turn out not to be enough."""

    session: Session
    settings: Settings
    params: ReleaseParams
    conversation: Conversation
    recording: StoreRecording
    work: ChatWork
    change_id: Callable[[str], None]
    """Told of the id of each new response."""

    async def answer(self, response_id: str) -> Response:
        """Let the local model answer. When it fails and the user wants that, suggest a release."""
        asked_for = of_request(self.params.text)
        if self._may_for(asked_for) and (response := await self._release(asked_for, None)):
            return response
        try:
            response = await self.work.answer(response_id)
        except OllmError as error:
            escalation = of_error(error)
            if self._may_for(escalation) and (response := await self._release(escalation, response_id)):
                return response
            raise
        escalation = of_response(response)
        if self._may_for(escalation):
            return await self._release(escalation, response_id) or response
        return response

    def _may_for(self, escalation: Escalation | None) -> bool:
        is_local = kind_of(self.settings, self.work.model) is None
        return is_local and is_wanted(self.settings.kraken, escalation)

    async def _release(self, escalation: Escalation | None, failed_id: str | None) -> Response | None:
        """Ask the suitable providers one after the other; nothing when none answers, for whatever reason."""
        if escalation is None:
            return None
        facts = {"reason": escalation.reason, "trigger": escalation.trigger.value}
        if objection := await (await self.session.services.hooks()).run(Moment.ESCALATE, facts):
            self._note(f"The hook {objection.hook} does not allow an escalation. {objection.reason}".rstrip())
            return None
        kept = failed_id if failed_id and self.conversation.get(failed_id) else None
        work = ReleaseWork(self.session, self.settings, self.params, self.conversation, self.recording, parent_id=kept)
        targets = rank(await work.candidates(), self.settings.kraken, Hint())
        if not targets:
            self._note("No external provider can be used now.", "See `/kraken status`.")
        for target in targets[:MOST_TRIES]:
            self.recording.emit(Escalated(escalation.reason, target.name, target.model or ""))
            work = ReleaseWork(
                self.session,
                self.settings,
                evolve(self.params, provider=target.name),
                self.conversation,
                self.recording,
                parent_id=kept,
            )
            new = new_id()
            self.change_id(new)
            try:
                return await work.answer(new, reason=escalation.reason, is_suggested=True)
            except PermissionDenied as error:
                self._note(error.message, error.remedy)
                break
            except OllmError as error:
                self._note(f"{target.name} could not answer: {error.message}", error.remedy)
        if failed_id:
            self.change_id(failed_id)
        return None

    def _note(self, message: str, remedy: str | None = None) -> None:
        self.recording.emit(Warned("escalation", message, remedy))
