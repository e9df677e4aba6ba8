"""Notices: what the server tells without being asked."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ollm_lsp.terminal.payload import Payload
from ollm_lsp.terminal.work_done import WorkDone

if TYPE_CHECKING:
    from ollm_lsp.terminal.client import LspClient
    from ollm_lsp.terminal.screen import Screen


def show_notices(client: LspClient, screen: Screen) -> None:
    """Show the server's messages, its status and progress of its own. Its log is not for this screen."""

    def message(params: Any) -> None:
        notice = Payload(params)
        match notice.number("type"):
            case 1:
                screen.error(notice.text("message"))
            case 2:
                screen.warning(notice.text("message"))
            case _:
                screen.note(notice.text("message"))

    def status(params: Any) -> None:
        state = Payload(params)
        if state.flag("busy") and (text := state.text("message")):
            screen.progress(text)

    client.on["window/showMessage"] = message
    client.on["ollm/status"] = status
    client.on_server_progress = WorkDone(screen).receive
