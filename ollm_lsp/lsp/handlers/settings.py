"""The editor's settings and folders: asked for where the client can, else as they were sent."""

from __future__ import annotations

import asyncio
import logging
from typing import TYPE_CHECKING, Any

from pygls.exceptions import JsonRpcException

from ollm_lsp.core.foreign_json import list_in, object_in
from ollm_lsp.lsp import uris

if TYPE_CHECKING:
    from ollm_lsp.lsp.protocol import DidChangeConfigurationParams, DidChangeWorkspaceFoldersParams
    from ollm_lsp.lsp.session import Session

ANSWER_TIME = 5.0
logger = logging.getLogger(__name__)


def narrow(session: Session, editor: Any) -> None:
    """Take settings over from the editor; `clientCapabilities` is no setting."""
    options = {key: value for key, value in object_in(editor).items() if key != "clientCapabilities"}
    session.services.narrow(options, [path for uri in session.folders if (path := uris.folder(uri)) is not None])


async def reload(session: Session) -> None:
    """Get the editor's settings anew and tell the client what follows from them."""
    if session.client.configuration:
        session.narrowing = asyncio.ensure_future(_ask_editor(session))
    resolution = await session.settings()
    session.tell_status(model=str(resolution.settings.model))


async def _ask_editor(session: Session) -> None:
    try:
        answer = await session.rpc.ask("workspace/configuration", {"items": [{"section": "ollm"}]}, timeout=ANSWER_TIME)
    except (TimeoutError, JsonRpcException) as error:
        logger.info("The client does not tell its settings (%s).", type(error).__name__)
        return
    for section in list_in(answer)[:1]:
        narrow(session, {**session.editor_options, **object_in(section)})


async def did_change_configuration(session: Session, params: DidChangeConfigurationParams) -> None:
    """The editor's settings changed."""
    if not session.client.configuration:
        narrow(session, object_in(params.settings).get("ollm"))
    await reload(session)


async def did_change_workspace_folders(session: Session, params: DidChangeWorkspaceFoldersParams) -> None:
    """Folders were opened or closed; each may have settings of its own."""
    removed = {folder.uri for folder in params.event.removed}
    session.folders = [uri for uri in session.folders if uri not in removed]
    session.folders += [folder.uri for folder in params.event.added]
    narrow(session, session.editor_options)
    await reload(session)
