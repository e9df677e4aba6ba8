"""Actions on code, each of which is a command: ollm.explain, ollm.fix, …, and ollm.action for those of the user."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from pygls.exceptions import JsonRpcException

from ollm_lsp.core.actions import ASK, EDIT, FIX, Form
from ollm_lsp.core.errors import Unsupported
from ollm_lsp.core.foreign_json import object_in
from ollm_lsp.core.globs import matches
from ollm_lsp.core.lines import body, split
from ollm_lsp.lsp.acting import Acting
from ollm_lsp.lsp.chat_opening import new_chat
from ollm_lsp.lsp.desk import DiagnosticsOfSession, diagnostic_of
from ollm_lsp.lsp.place import commented, from_lines, target, where
from ollm_lsp.lsp.protocol import ChatOpenParams
from ollm_lsp.lsp.show import show_document

if TYPE_CHECKING:
    from collections.abc import Sequence

    from ollm_lsp.core.diagnostic import Diagnostic
    from ollm_lsp.lsp.buffer import Range
    from ollm_lsp.lsp.documents import Document
    from ollm_lsp.lsp.place import Target
    from ollm_lsp.lsp.protocol import ActionParams
    from ollm_lsp.lsp.session import Session

ANSWER_TIME = 300.0
"""Seconds in which a choice has to be made."""
MOST_DIAGNOSTICS = 20
READY = {
    EDIT.name: ("Simplify it", "Handle errors and edge cases", "Improve the names", "Make it faster"),
    ASK.name: ("What does this do?", "What can go wrong here?", "How could this be better?"),
}
"""What can be chosen where the editor has no place to write an instruction."""


async def run(session: Session, params: ActionParams) -> dict[str, Any]:
    """Do an action by its name: one of ours, or one of the user's own."""
    name = params.name or ""
    settings = await session.usable_settings()
    action = settings.actions.get(name)
    if action is None:
        known = ", ".join(action.name for action in (*settings.actions.built_in, *settings.actions.custom))
        raise Unsupported(f"There is no action {name!r}.", remedy=f"There are {known}.")
    selected = from_lines(params.lines) if params.lines else params.range
    document, place = where(session, params.uri, selected)
    if any(matches(document.path, pattern) for pattern in settings.context.exclude):
        raise Unsupported(f"{document.path} is never shown to a model.", remedy="See context.exclude in the settings.")
    instruction, about = (params.text or "").strip(), None
    if not instruction and name in READY:
        found = commented(document, place, wants_change=action.form is not Form.ANSWER)
        if found is not None:
            about, instruction = found[0], found[1].instruction
        elif name == ASK.name and (chat := await _chat(session, document, place)):
            return {"uri": chat}
        else:
            instruction = await _instruction(session, name)
    about = about or target(document, place)
    diagnostics = await _diagnostics(session, params, about) if action.name == FIX.name else ()
    return await Acting(session, settings, action, about, params, instruction, _told(diagnostics, about)).run()


async def _chat(session: Session, about: Document, place: Range | None) -> str | None:
    """A chat document about this, to ask in, for who has no other place to write."""
    if session.client.is_ours or not session.client.show_document:
        return None
    uri, line = await new_chat(session, ChatOpenParams(about.uri, place))
    return uri if await show_document(session, uri, line=line) else None


async def _instruction(session: Session, name: str) -> str:
    """Let the user choose one; who cannot be asked is told how to give one."""
    remedy = f'Write a comment that ends in AI! or AI?, or run ollm.{name} with {{"text": "…"}}.'
    if session.client.asks_messages and not session.client.is_ours:
        message = (
            f"ollm: What shall be done here? {remedy}" if name == EDIT.name else f"ollm: What do you ask? {remedy}"
        )
        params = {"type": 3, "message": message, "actions": [{"title": text} for text in READY[name]]}
        try:
            chosen = object_in(
                await session.rpc.ask("window/showMessageRequest", params, timeout=ANSWER_TIME, is_question=True)
            )
        except (TimeoutError, JsonRpcException):
            chosen = {}
        if chosen.get("title") in READY[name]:
            return str(chosen["title"])
    raise Unsupported("There is no instruction.", remedy=remedy)


async def _diagnostics(session: Session, params: ActionParams, about: Target) -> Sequence[Diagnostic]:
    """Those that were named, else what is known of these lines."""
    uri = about.snapshot.uri
    if params.diagnostics:
        return [diagnostic_of(uri, one) for one in params.diagnostics]
    known = await DiagnosticsOfSession(session).of(uri)
    return [one for one in known if about.first <= one.line <= about.last and one.source != "ollm"]


def _told(diagnostics: Sequence[Diagnostic], about: Target) -> str:
    """Each with the line that it is about: models count lines badly."""
    lines = split(about.text)
    told: list[str] = []
    for one in diagnostics[:MOST_DIAGNOSTICS]:
        line = body(lines[one.line]).strip() if one.line < len(lines) else ""
        message = " ".join(one.message.split())
        told.append(f"- {message} (in the line `{line}`)" if line else f"- {message}")
    return "\n".join(told)
