"""The permission ladder: the user is asked in the first way that their client knows. Every doubt is a no."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

from pygls.exceptions import JsonRpcException

from ollm_lsp.core.change import CreateFile, EditText, RenameFile
from ollm_lsp.core.foreign_json import list_in, object_in, text_in
from ollm_lsp.core.permission import Offered, Option, Reply
from ollm_lsp.core.shown import change_diff
from ollm_lsp.lsp import protocol
from ollm_lsp.lsp.apply import APPLY_TIME, apply
from ollm_lsp.lsp.proposals import Pending
from ollm_lsp.lsp.session import new_id
from ollm_lsp.lsp.show import show_text
from ollm_lsp.settings.redactor import redactor

if TYPE_CHECKING:
    from collections.abc import Mapping

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
        return await self.choose(request, _options(may_stand=may_stand))

    async def choose(
        self,
        request: PermissionRequest,
        options: tuple[Option, ...],
        labels: Mapping[Option, str] | None = None,
        more: dict[str, Any] | None = None,
    ) -> Reply:
        """Ask with these options, some of which may have labels of their own; `more` is for clients that show it."""
        if self._session.client.permission:
            reply, _ = await self._by_request(request, options, more or {}, labels or {})
            return reply
        if self._session.client.asks_messages:
            return await self.by_message(request, options, labels or {})
        return Reply()

    async def offer(self, proposal: Proposal, request: PermissionRequest, *, may_stand: bool) -> Offered:
        client, options = self._session.client, _options(may_stand=may_stand)
        if not client.apply_edit:
            return Offered(Reply(feedback="This editor cannot make changes at our request."), proposal)
        if client.permission:
            changes = [_change(change) for change in proposal.changes]
            reply, answer = await self._by_request(request, options, {"changes": changes})
            wanted = chosen_of(proposal, answer.get("changes"))
            return Offered(reply, wanted) if wanted else Offered(Reply(feedback=reply.feedback), proposal)
        if client.confirms_edits and client.document_changes:
            return Offered(Reply(), proposal, asks_later=True)
        if client.asks_messages:
            return Offered(await self.by_message(request, options), proposal)
        return await self._session.proposals.decide(Pending(proposal, request), seconds=self._answer_time)

    async def apply(self, proposal: Proposal, *, asks: bool = False) -> Applied:
        ask_time = self._answer_time if asks else None
        return await apply(self._session, proposal, ask_time=ask_time, apply_time=self._apply_time)

    async def _by_request(
        self,
        request: PermissionRequest,
        options: tuple[Option, ...],
        more: dict[str, Any],
        labels: Mapping[Option, str] | None = None,
    ) -> tuple[Reply, dict[str, Any]]:
        """The reply, and the answer that it was read from."""
        labels = {**LABELS, **(labels or {})}
        number = new_id()
        params = {
            "id": number,
            "title": redactor.redact(request.title),
            "kind": request.kind.value,
            "detail": request.detail,
            "options": [{"id": option.value, "label": labels[option]} for option in options],
            **more,
        }
        answer = object_in(await self._answer(protocol.PERMISSION, params, number))
        feedback, briefing = answer.get("feedback"), answer.get("briefing")
        option = next((option for option in options if option.value == answer.get("optionId")), Option.REJECT_ONCE)
        if not isinstance(briefing, str | None):
            option, briefing = Option.REJECT_ONCE, None
        return Reply(option, feedback if isinstance(feedback, str) and feedback.strip() else None, briefing), answer

    async def by_message(
        self, request: PermissionRequest, options: tuple[Option, ...], labels: Mapping[Option, str] | None = None
    ) -> Reply:
        """Nothing is cut: what a dialog cannot show whole is opened as a document, where that can be."""
        labels = {**LABELS, **(labels or {})}
        message = f"ollm: {request.title}\n\n{request.detail}"
        if len(message) > LONGEST_MESSAGE and await show_text(self._session, request.title, request.detail):
            message = f"ollm: {request.title}\n\nAll of it is in the document that was just opened."
        # Editors take the first action when Enter is pressed, which may have been meant for the text.
        by_caution = sorted(options, key=lambda option: option is not Option.REJECT_ONCE)
        actions = [{"title": labels[option]} for option in by_caution]
        params = {"type": 2, "message": message, "actions": actions}
        chosen = object_in(await self._answer("window/showMessageRequest", params)).get("title")
        return Reply(next((option for option in options if labels[option] == chosen), Option.REJECT_ONCE))

    async def _answer(self, method: str, params: dict[str, Any], number: str | None = None) -> Any:
        try:
            rpc = self._session.rpc
            return await rpc.ask(method, params, timeout=self._answer_time, number=number, is_question=True)
        except (TimeoutError, JsonRpcException):
            return None


def _options(*, may_stand: bool) -> tuple[Option, ...]:
    return tuple(Option) if may_stand else _ONCE


def chosen_of(proposal: Proposal, chosen: Any) -> Proposal | None:
    """What the user wants of a proposal: all of it, unless they chose some of its changes, or parts of their texts."""
    if chosen is None:
        return proposal
    by_uri = {change.uri: change for change in proposal.changes}
    wanted: dict[str, Change] = {}
    for one in map(object_in, list_in(chosen)):
        change, text = by_uri.get(text_in(one.get("uri"))), one.get("newText")
        if change is None or not isinstance(text, str | None):
            return None
        if text is not None and isinstance(change, EditText | CreateFile):
            change = replace(change, text=text)
        if not (isinstance(change, EditText) and change.text == change.base.text):
            wanted[change.uri] = change
    return replace(proposal, changes=tuple(wanted.values())) if wanted else None


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
