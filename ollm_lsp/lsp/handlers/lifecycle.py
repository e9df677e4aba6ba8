"""initialize, initialized, shutdown, exit, and the client's word on what it no longer wants."""

from __future__ import annotations

import asyncio
import logging
import os
import sys
from typing import TYPE_CHECKING, Any

from pygls.exceptions import JsonRpcException

from ollm_lsp.core.foreign_json import object_in
from ollm_lsp.lsp.capabilities import ClientCapabilities, chat_registrations, initialize_result
from ollm_lsp.lsp.documents import Documents
from ollm_lsp.lsp.handlers import settings
from ollm_lsp.lsp.rpc import Phase

if TYPE_CHECKING:
    from ollm_lsp.lsp.session import Session
    from ollm_lsp.lsp.standard import InitializeParams, NoParams, ProgressCancelParams, SetTraceParams

PARENT_INTERVAL = 1.0
REGISTER_TIME = 10.0
logger = logging.getLogger(__name__)


def initialize(session: Session, params: InitializeParams) -> dict[str, Any]:
    """Learn what the client can do. Everything that takes time waits for `initialized`."""
    session.client = ClientCapabilities.of(params.capabilities, params.initialization_options)
    session.documents = Documents(session.client.encoding)
    folders = [folder.uri for folder in params.workspace_folders or ()]
    session.folders = folders or ([params.root_uri] if params.root_uri else [])
    session.rpc.phase = Phase.INITIALIZED
    session.editor_options = object_in(params.initialization_options)
    settings.narrow(session, session.editor_options)
    # Looked at before the answer: an editor that dies right after it must not be taken for one that never was.
    if params.process_id is not None and is_running(params.process_id):
        session.spawn(watch_parent(session.leaving, params.process_id))
    return initialize_result(session.client)


async def initialized(session: Session, _params: NoParams) -> None:
    """Ask for the editor's settings and load everything that the first chat would otherwise wait for."""
    session.spawn(settings.register(session))
    if registrations := chat_registrations(session.client):
        session.spawn(_register(session, registrations))
    await settings.reload(session)
    session.spawn(session.services.sweep())


async def _register(session: Session, registrations: list[dict[str, Any]]) -> None:
    try:
        params = {"registrations": registrations}
        await session.rpc.ask("client/registerCapability", params, timeout=REGISTER_TIME)
    except (TimeoutError, JsonRpcException):
        logger.info("The client does not register features.")


async def shutdown(session: Session, _params: NoParams) -> None:
    """End everything that runs; only `exit` may follow."""
    session.rpc.phase = Phase.SHUT_DOWN
    await session.stop_all()


def leave(session: Session, _params: NoParams) -> None:
    """`exit`: status 0 after `shutdown`, else 1."""
    session.exit_status = 0 if session.rpc.phase is Phase.SHUT_DOWN else 1
    session.leaving.set()


def progress_cancel(session: Session, params: ProgressCancelParams) -> None:
    """The user pressed a cancel button."""
    session.stop(params.token)


def set_trace(_session: Session, _params: SetTraceParams) -> None:
    """Accepted, because clients send it; the log has its own settings."""


async def watch_parent(leaving: asyncio.Event, process_id: int) -> None:
    """Leave when the editor is gone."""
    while is_running(process_id):
        await asyncio.sleep(PARENT_INTERVAL)
    leaving.set()


def is_running(process_id: int) -> bool:
    """Whether there is such a process that can be watched.

    There is none for an editor in another container. On Windows looking would be killing: there the end of the input
    has to do.
    """
    if sys.platform == "win32" or process_id <= 0:
        return False
    try:
        os.kill(process_id, 0)
    except PermissionError:
        return True
    except (ProcessLookupError, OverflowError):
        return False
    return True
