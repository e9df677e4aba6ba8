"""The editor's settings and folders: asked for where the client can, else as they were sent."""

from __future__ import annotations

import asyncio
import logging
from typing import TYPE_CHECKING, Any

from pygls.exceptions import JsonRpcException

from ollm_lsp.core.foreign_json import list_in, object_in
from ollm_lsp.lsp import uris

if TYPE_CHECKING:
    from ollm_lsp.lsp.session import Session
    from ollm_lsp.lsp.standard import DidChangeConfigurationParams, DidChangeWorkspaceFoldersParams

ANSWER_TIME = 5.0
CHANGED = "workspace/didChangeConfiguration"
logger = logging.getLogger(__name__)


def narrow(session: Session, editor: Any) -> None:
    """Take settings over from the editor; `clientCapabilities` is no setting."""
    options = {key: value for key, value in object_in(editor).items() if key != "clientCapabilities"}
    session.services.narrow(options, [path for uri in session.folders if (path := uris.folder(uri)) is not None])


async def reload(session: Session) -> None:
    """Get the editor's settings anew and follow them."""
    if session.client.configuration:
        session.narrowing = asyncio.ensure_future(_ask_editor(session))
    await session.settings()


async def _ask_editor(session: Session) -> None:
    try:
        answer = await session.rpc.ask("workspace/configuration", {"items": [{"section": "ollm"}]}, timeout=ANSWER_TIME)
    except (TimeoutError, JsonRpcException) as error:
        logger.info("The client does not tell its settings (%s).", type(error).__name__)
        return
    for section in list_in(answer)[:1]:
        session.told_options = object_in(section)
        narrow(session, {**session.editor_options, **session.told_options})


async def register(session: Session) -> None:
    """Ask to hear of changed settings, of clients that want to be asked."""
    if not session.client.registers_configuration:
        return
    wanted = {"id": CHANGED, "method": CHANGED, "registerOptions": {"section": "ollm"}}
    try:
        await session.rpc.ask("client/registerCapability", {"registrations": [wanted]}, timeout=ANSWER_TIME)
    except (TimeoutError, JsonRpcException) as error:
        logger.info("The client does not tell of changed settings (%s).", type(error).__name__)


async def did_change_configuration(session: Session, params: DidChangeConfigurationParams) -> None:
    """The editor's settings changed."""
    if not session.client.configuration:
        session.told_options = object_in(object_in(params.settings).get("ollm"))
        narrow(session, {**session.editor_options, **session.told_options})
    await reload(session)


async def did_change_workspace_folders(session: Session, params: DidChangeWorkspaceFoldersParams) -> None:
    """Folders were opened or closed; each may have settings of its own."""
    removed = {uris.key(folder.uri).rstrip("/") for folder in params.event.removed}
    kept = [uri for uri in session.folders if uris.key(uri).rstrip("/") not in removed]
    added = [folder.uri for folder in params.event.added]
    session.folders = list({uris.key(uri).rstrip("/"): uri for uri in reversed([*kept, *added])}.values())[::-1]
    # What the editor has narrowed stays so, until it is asked anew.
    narrow(session, {**session.editor_options, **session.told_options})
    await reload(session)
