"""Texts that are too long for a message, shown as documents."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from pygls.exceptions import JsonRpcException

from ollm_lsp.core.errors import StoreFailed
from ollm_lsp.core.foreign_json import object_in

if TYPE_CHECKING:
    from ollm_lsp.lsp.session import Session

SHOW_TIME = 10.0
LINE = 200
"""Characters of a text that is shown as a message."""


async def show_document(session: Session, uri: str, *, line: int | None = None) -> bool:
    """Open a document in the editor; with a line, the user goes on there. False when the client cannot."""
    if not session.client.show_document:
        return False
    try:
        # `takeFocus: false` would be taken for a yes by Emacs.
        params: dict[str, Any] = {"uri": uri}
        if line is not None:
            place = {"line": line, "character": 0}
            params |= {"takeFocus": True, "selection": {"start": place, "end": place}}
        shown = await session.rpc.ask("window/showDocument", params, timeout=SHOW_TIME)
    except (TimeoutError, JsonRpcException):
        return False
    return object_in(shown).get("success") is True


async def show_text(session: Session, title: str, text: str) -> bool:
    """Open a text as a read-only document of its own; false when the client cannot."""
    if not session.client.show_document:
        return False
    try:
        whole = f"# {title}\n\n{text}\n"
        is_virtual = session.client.virtual_documents
        uri = session.virtual.keep(title, whole) if is_virtual else await session.services.keep_text(whole)
    except StoreFailed:
        return False
    return await show_document(session, uri)


async def tell(session: Session, title: str, text: str) -> None:
    """Show a text in whatever way the client has. A line needs no document of its own."""
    is_line = len(text) <= LINE and "\n" not in text
    if is_line or not await show_text(session, title, text):
        session.rpc.notify("window/showMessage", {"type": 3, "message": f"ollm: {title}\n\n{text}"})
