"""Texts that are too long for a message, shown as documents."""

from __future__ import annotations

from typing import TYPE_CHECKING

from pygls.exceptions import JsonRpcException

from ollm_lsp.core.errors import StoreFailed
from ollm_lsp.core.foreign_json import object_in

if TYPE_CHECKING:
    from ollm_lsp.lsp.session import Session

SHOW_TIME = 10.0


async def show_text(session: Session, title: str, text: str) -> bool:
    """Open a text as a read-only document of its own; false when the client cannot."""
    if not session.client.show_document:
        return False
    try:
        uri = await session.services.keep_text(f"# {title}\n\n{text}\n")
        params = {"uri": uri, "takeFocus": False}
        shown = await session.rpc.ask("window/showDocument", params, timeout=SHOW_TIME)
    except (TimeoutError, JsonRpcException, StoreFailed):
        return False
    return object_in(shown).get("success") is True


async def tell(session: Session, title: str, text: str) -> None:
    """Show a text in whatever way the client has."""
    if not await show_text(session, title, text):
        session.rpc.notify("window/showMessage", {"type": 3, "message": f"ollm: {title}\n\n{text}"})
