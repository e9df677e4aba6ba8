"""The language server: every method with its handler, and the life of the process."""

from __future__ import annotations

import asyncio
import logging
import os
import threading
from functools import partial
from importlib import import_module
from typing import TYPE_CHECKING, Any, cast

from pygls.exceptions import FeatureRequestError, JsonRpcException
from pygls.server import JsonRPCServer

from ollm_lsp.lsp import from_wire, protocol, standard, stdio
from ollm_lsp.lsp.handlers import documents, lifecycle, settings
from ollm_lsp.lsp.rpc import Rpc
from ollm_lsp.lsp.session import Session

if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import BinaryIO

    from ollm_lsp.lsp.session import Services

EXIT_TIME = 4.0
"""Seconds from the end of the connection to the end of the process, whatever still hangs."""
logger = logging.getLogger(__name__)

AT_ONCE: dict[str, tuple[type[Any], Callable[[Session, Any], Any]]] = {
    "initialize": (standard.InitializeParams, lifecycle.initialize),
    "exit": (standard.NoParams, lifecycle.leave),
    "$/setTrace": (standard.SetTraceParams, lifecycle.set_trace),
    "window/workDoneProgress/cancel": (standard.ProgressCancelParams, lifecycle.progress_cancel),
    "textDocument/didOpen": (standard.DidOpenParams, documents.did_open),
    "textDocument/didChange": (standard.DidChangeParams, documents.did_change),
    "textDocument/didSave": (standard.DidSaveParams, documents.did_save),
    "textDocument/didClose": (standard.DidCloseParams, documents.did_close),
}
"""Handled before the next message is read, so that their order is kept."""

IN_TASKS: dict[str, tuple[type[Any], Callable[[Session, Any], Any] | str]] = {
    "initialized": (standard.NoParams, lifecycle.initialized),
    "shutdown": (standard.NoParams, lifecycle.shutdown),
    "workspace/didChangeConfiguration": (
        standard.DidChangeConfigurationParams,
        settings.did_change_configuration,
    ),
    "workspace/didChangeWorkspaceFolders": (
        standard.DidChangeWorkspaceFoldersParams,
        settings.did_change_workspace_folders,
    ),
    "workspace/didRenameFiles": (standard.RenameFilesParams, "files.did_rename"),
    "textDocument/codeAction": (standard.CodeActionParams, "code_actions.code_action"),
    "textDocument/codeLens": (standard.DocumentParams, "chat_document.code_lens"),
    "textDocument/foldingRange": (standard.DocumentParams, "chat_document.folding_range"),
    "textDocument/documentSymbol": (standard.DocumentParams, "chat_document.document_symbol"),
    "textDocument/completion": (standard.CompletionParams, "completion.completion"),
    "workspace/textDocumentContent": (standard.ContentParams, "content.text_document_content"),
    "workspace/executeCommand": (standard.ExecuteCommandParams, "commands.execute"),
    protocol.CHAT_SEND: (protocol.ChatSendParams, "chat.send"),
    protocol.CHAT_LIST: (standard.NoParams, "conversations.list_all"),
    protocol.CHAT_GET: (protocol.ConversationParams, "conversations.get"),
    protocol.CHAT_RENAME: (protocol.ChatRenameParams, "conversations.rename"),
    protocol.CHAT_DELETE: (protocol.ConversationParams, "conversations.delete"),
    protocol.CONTEXT_PREVIEW: (protocol.ContextPreviewParams, "context.preview"),
    protocol.MODELS_LIST: (protocol.ModelsListParams, "models.list_models"),
    protocol.MODELS_PULL: (protocol.ModelParams, "models.pull"),
    protocol.MODELS_SHOW: (protocol.ModelParams, "models.show"),
    protocol.MODELS_DELETE: (protocol.ModelParams, "models.delete"),
    protocol.KRAKEN_RELEASE: (protocol.ReleaseParams, "releasing.release"),
    protocol.KRAKEN_STATUS: (standard.NoParams, "kraken.status"),
    protocol.KRAKEN_HISTORY: (protocol.HistoryParams, "kraken.history"),
}
"""Handled in tasks of their own, which can be cancelled. Those by name are imported when they are first called."""


class Server(JsonRPCServer):
    """pygls' server, without its own transport."""

    def __init__(self) -> None:
        super().__init__(Rpc, from_wire.converter)

    @property
    def rpc(self) -> Rpc:
        return cast("Rpc", self.protocol)

    def report_server_error(self, error: Exception, source: Any) -> None:
        """Log what went wrong outside a request; of a request the client hears by its answer."""
        if source is not FeatureRequestError:
            logger.error("%s: %s", getattr(source, "__name__", source), error)


def serve(services: Services) -> int:
    """Serve the editor on standard input and output until it leaves."""
    incoming, outgoing = stdio.take_over()
    return asyncio.run(_serve(services, incoming, outgoing))


async def _serve(services: Services, incoming: BinaryIO, outgoing: BinaryIO) -> int:
    reader, writer = await stdio.connect(incoming, outgoing)
    rpc = Server().rpc
    session = Session(rpc, writer, services)
    rpc.set_writer(writer)  # pyright: ignore[reportArgumentType] (pygls' writers close in the background, ours at once)
    register(rpc, session)
    reading = asyncio.ensure_future(stdio.read_messages(reader, rpc.receive))
    leaving = asyncio.ensure_future(session.leaving.wait())
    await asyncio.wait([reading, leaving], return_when=asyncio.FIRST_COMPLETED)
    if reading.done() and (error := reading.exception()) is not None:
        logger.error("The connection is unusable: %s", error)
    # Whatever hangs in a library, the editor's user must not find us in the process list.
    overdue = threading.Timer(EXIT_TIME, os._exit, [session.exit_status])
    overdue.daemon = True
    overdue.start()
    leaving.cancel()
    await session.stop_all()
    await services.close()
    writer.close()
    reading.cancel()
    return session.exit_status


def register(rpc: Rpc, session: Session) -> None:
    """Connect every method with its handler."""
    rpc.handle("$/cancelRequest", standard.CancelParams, lambda _: None)  # pygls looks at it before the handlers
    for method, (params, handler) in AT_ONCE.items():
        rpc.handle(method, params, partial(_guard_now, handler, session))
    for method, (params, handler) in IN_TASKS.items():
        rpc.handle(method, params, partial(_guard, handler, session))


def _guard_now(handler: Callable[[Session, Any], Any], session: Session, params: Any) -> Any:
    """Run a handler at once; an exception becomes the error of its one message."""
    try:
        return handler(session, params)
    except asyncio.CancelledError:
        # Nobody has cancelled the reading of messages, which is where it would end.
        raise _failure(RuntimeError("cancelled")) from None
    except Exception as error:  # noqa: BLE001 (whatever it is, its request gets its answer)
        raise _failure(error) from None


async def _guard(handler: Callable[[Session, Any], Any] | str, session: Session, params: Any) -> Any:
    """Run a handler; whatever it raises becomes the error of its one request, with a code and a remedy."""
    try:
        # In a thread: the first chat imports a lot, and other requests shall not wait for it.
        loaded = await asyncio.to_thread(_load, handler) if isinstance(handler, str) else handler
        return await loaded(session, params)
    except Exception as error:  # noqa: BLE001 (whatever it is, its request gets its answer)
        raise _failure(error) from None


def _failure(error: Exception) -> JsonRpcException:
    """What the client hears of an exception: a code, a message and a remedy, never a traceback."""
    if isinstance(error, JsonRpcException):
        return error
    from ollm_lsp.core.errors import InternalError, OllmError  # noqa: PLC0415 (start-up time)
    from ollm_lsp.lsp.to_wire import rpc_error  # noqa: PLC0415

    if not isinstance(error, OllmError) or isinstance(error, InternalError):
        logger.error("A message could not be handled", exc_info=error)
    if isinstance(error, OllmError):
        return rpc_error(error)
    remedy = "Please report it, with the server's log."
    return rpc_error(InternalError(f"Unexpected {type(error).__name__}.", remedy=remedy))


def _load(name: str) -> Callable[[Session, Any], Any]:
    module, function = name.split(".")
    return getattr(import_module(f"ollm_lsp.lsp.handlers.{module}"), function)
