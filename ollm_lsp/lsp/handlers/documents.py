"""textDocument/didOpen, didChange, didSave, didClose."""

from __future__ import annotations

import logging
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from ollm_lsp.lsp.protocol import DidChangeParams, DidCloseParams, DidOpenParams, DidSaveParams
    from ollm_lsp.lsp.session import Session

logger = logging.getLogger(__name__)


def did_open(session: Session, params: DidOpenParams) -> None:
    """The editor's text of this document is the truth from now on."""
    session.documents.open(params.text_document)


def did_change(session: Session, params: DidChangeParams) -> None:
    """Follow an edit."""
    if not session.documents.change(params.text_document.uri, params.text_document.version, params.content_changes):
        logger.warning("Ignored an edit of a document that is not open.")


def did_save(_session: Session, _params: DidSaveParams) -> None:
    """The buffer was the truth before and is it still."""


def did_close(session: Session, params: DidCloseParams) -> None:
    """Forget the document's text."""
    session.documents.close(params.text_document.uri)
