"""workspace/textDocumentContent."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ollm_lsp.core.errors import Unsupported

if TYPE_CHECKING:
    from ollm_lsp.lsp.session import Session
    from ollm_lsp.lsp.standard import ContentParams


async def text_document_content(session: Session, params: ContentParams) -> dict[str, str]:
    """The text of a virtual document."""
    text = session.virtual.get(params.uri)
    if text is None:
        raise Unsupported(f"{params.uri} is no longer kept.", remedy="Run the command again that showed it.")
    return {"text": text}
