"""textDocument/didOpen, didChange, didSave, didClose."""

from __future__ import annotations

import logging
from typing import TYPE_CHECKING

from ollm_lsp.lsp import uris

if TYPE_CHECKING:
    from ollm_lsp.lsp.session import Session
    from ollm_lsp.lsp.standard import DidChangeParams, DidCloseParams, DidOpenParams, DidSaveParams

logger = logging.getLogger(__name__)


def did_open(session: Session, params: DidOpenParams) -> None:
    """The editor's text of this document is the truth from now on."""
    session.documents.open(params.text_document)
    _look(session, params.text_document.uri)


def did_change(session: Session, params: DidChangeParams) -> None:
    """Follow an edit."""
    if not session.documents.change(params.text_document.uri, params.text_document.version, params.content_changes):
        logger.warning("Ignored an edit of a document that is not open.")
        return
    _look(session, params.text_document.uri)


def did_save(session: Session, _params: DidSaveParams) -> None:
    """The buffer was the truth before and is it still; but settings count when they are on the disk."""
    session.renew_settings()


def did_close(session: Session, params: DidCloseParams) -> None:
    """Forget the document's text."""
    session.documents.close(params.text_document.uri)
    session.ai_hints.forget(params.text_document.uri)
    _check(session, params.text_document.uri)


def _look(session: Session, uri: str) -> None:
    """Look at what the user has written, soon."""
    session.ai_hints.look(uri)
    _check(session, uri)


def _check(session: Session, uri: str) -> None:
    if uris.is_chat(uri):
        from ollm_lsp.lsp.chat_check import look_soon  # noqa: PLC0415 (start-up time)

        look_soon(session, uri)
