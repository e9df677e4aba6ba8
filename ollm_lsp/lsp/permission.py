"""The permission ladder: the user is asked in the first way that their client knows. Every doubt is a no."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from pygls.exceptions import JsonRpcException

from ollm_lsp.core.change import CreateFile, EditText, RenameFile
from ollm_lsp.core.foreign_json import object_in
from ollm_lsp.core.permission import Offered, Option, Reply
from ollm_lsp.core.shown import change_diff
from ollm_lsp.lsp import protocol
from ollm_lsp.lsp.apply import APPLY_TIME, apply
from ollm_lsp.lsp.proposals import Pending
from ollm_lsp.lsp.session import new_id
from ollm_lsp.lsp.show import show_text
from ollm_lsp.settings.redactor import redactor

if TYPE_CHECKING:
    from ollm_lsp.core.applied import Applied
    from ollm_lsp.core.change import Change, Proposal
    from ollm_lsp.core.permission import PermissionRequest
    from ollm_lsp.lsp.session import Session

ANSWER_TIME = 300.0
"""Seconds in which a question has to be answered."""
LONGEST_MESSAGE = 1_500
"""Characters that a dialog still shows whole. What is longer is shown as a document."""
LABELS = {
    Option.ALLOW_ONCE: "Allow once",
    Option.ALLOW_SESSION: "Allow in this conversation",
    Option.ALLOW_ALWAYS: "Always allow",
    Option.REJECT_ONCE: "Reject",
    Option.REJECT_ALWAYS: "Always reject",
}
_ONCE = (Option.ALLOW_ONCE, Option.REJECT_ONCE)


class EditorOfSession:
    """The `Editor` that tools know: this session's client."""

    def __init__(self, session: Session, *, answer_time: float = ANSWER_TIME, apply_time: float = APPLY_TIME) -> None:
        self._session = session
        self._answer_time = answer_time
        self._apply_time = apply_time

    async def ask(self, request: PermissionRequest, *, may_stand: bool) -> Reply:
        options = _options(may_stand=may_stand)
        if self._session.client.permission:
            return await self._by_request(request, options, {})
        if self._session.client.asks_messages:
            return await self._by_message(request, options)
        return Reply()

    async def offer(self, proposal: Proposal, request: PermissionRequest, *, may_stand: bool) -> Offered:
        client, options = self._session.client, _options(may_stand=may_stand)
        if not client.apply_edit:
            return Offered(Reply(feedback="This editor cannot make changes at our request."), proposal)
        if client.permission:
            changes = [_change(change) for change in proposal.changes]
            return Offered(await self._by_request(request, options, {"changes": changes}), proposal)
        if client.confirms_edits and client.document_changes:
            return Offered(Reply(), proposal, asks_later=True)
        if client.asks_messages:
            return Offered(await self._by_message(request, options), proposal)
        return await self._session.proposals.decide(Pending(proposal, request), seconds=self._answer_time)

    async def apply(self, proposal: Proposal, *, asks: bool = False) -> Applied:
        ask_time = self._answer_time if asks else None
        return await apply(self._session, proposal, ask_time=ask_time, apply_time=self._apply_time)

    async def _by_request(self, request: PermissionRequest, options: tuple[Option, ...], more: dict[str, Any]) -> Reply:
        params = {
            "id": new_id(),
            "title": redactor.redact(request.title),
            "kind": request.kind.value,
            "detail": request.detail,
            "options": [{"id": option.value, "label": LABELS[option]} for option in options],
            **more,
        }
        answer = object_in(await self._answer(protocol.PERMISSION, params))
        feedback = answer.get("feedback")
        option = next((option for option in options if option.value == answer.get("optionId")), Option.REJECT_ONCE)
        return Reply(option, feedback if isinstance(feedback, str) and feedback.strip() else None)

    async def _by_message(self, request: PermissionRequest, options: tuple[Option, ...]) -> Reply:
        """Nothing is cut: what a dialog cannot show whole is opened as a document, where that can be."""
        message = f"ollm: {request.title}\n\n{request.detail}"
        if len(message) > LONGEST_MESSAGE and await show_text(self._session, request.title, request.detail):
            message = f"ollm: {request.title}\n\nAll of it is in the document that was just opened."
        actions = [{"title": LABELS[option]} for option in options]
        params = {"type": 2, "message": message, "actions": actions}
        chosen = object_in(await self._answer("window/showMessageRequest", params)).get("title")
        return Reply(next((option for option in options if LABELS[option] == chosen), Option.REJECT_ONCE))

    async def _answer(self, method: str, params: dict[str, Any]) -> Any:
        try:
            return await self._session.rpc.ask(method, params, timeout=self._answer_time)
        except (TimeoutError, JsonRpcException):
            return None


def _options(*, may_stand: bool) -> tuple[Option, ...]:
    return tuple(Option) if may_stand else _ONCE


def _change(change: Change) -> dict[str, Any]:
    """A change as a client can show it beside what there is."""
    shown: dict[str, Any] = {"uri": change.uri, "version": None, "diff": change_diff(change), "newText": None}
    if isinstance(change, EditText):
        shown |= {"version": change.base.version, "newText": change.text}
    elif isinstance(change, CreateFile):
        shown |= {"newText": change.text}
    elif isinstance(change, RenameFile):
        shown |= {"newUri": change.new_uri}
    return shown
