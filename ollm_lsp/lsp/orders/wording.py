"""/explain, /fix, /tests: what the model is asked when the user types no more than that."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ollm_lsp.core.actions import EXPLAIN, FIX, TESTS, prompt
from ollm_lsp.core.errors import Unsupported
from ollm_lsp.core.prompt import read_prompt
from ollm_lsp.core.slash import Slash
from ollm_lsp.lsp.desk import DiagnosticsOfSession
from ollm_lsp.lsp.place import active

if TYPE_CHECKING:
    from ollm_lsp.core.prompt import Prompt
    from ollm_lsp.lsp.documents import Document
    from ollm_lsp.lsp.protocol import ChatContext
    from ollm_lsp.lsp.session import Session
    from ollm_lsp.settings.resolved import Settings

ACTIONS = {Slash.EXPLAIN: EXPLAIN, Slash.FIX: FIX, Slash.TESTS: TESTS}
MOST_DIAGNOSTICS = 20


async def worded(session: Session, settings: Settings, typed: Prompt, context: ChatContext | None) -> str | None:
    """The prompt of the same action, with what the user adds to it; nothing when they typed a question of their own."""
    if typed.order not in ACTIONS:
        return None
    action = settings.actions.get(ACTIONS[typed.order].name) or ACTIONS[typed.order]
    document = _document(session, context)
    if document is None:
        return prompt(action, instruction=typed.text)
    found = await _diagnostics(session, document, context) if action.name == FIX.name else ""
    file = document.path.rpartition("/")[2]
    return prompt(action, language=document.language_id, file=file, instruction=typed.text, diagnostics=found)


def is_about_code(typed: str) -> bool:
    """Whether a message is such an order."""
    try:
        return read_prompt(typed).order in ACTIONS
    except Unsupported:
        return False


def _document(session: Session, context: ChatContext | None) -> Document | None:
    if context is not None and context.uri is not None:
        return session.documents.get(context.uri)
    return active(session)


async def _diagnostics(session: Session, document: Document, context: ChatContext | None) -> str:
    """What is wrong in the selection, or in all of the document."""
    found = await DiagnosticsOfSession(session).of(document.uri)
    if context is not None and context.range is not None:
        first, last = context.range.start.line, context.range.end.line
        found = [one for one in found if one.line <= last and first <= one.end_line]
    name = document.path.rpartition("/")[2]
    return "\n".join(f"- {one.described(name)}" for one in sorted(found, key=lambda one: one.rank)[:MOST_DIAGNOSTICS])
