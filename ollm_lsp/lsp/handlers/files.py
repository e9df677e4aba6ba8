"""workspace/didRenameFiles: what is known of a document goes with it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ollm_lsp.lsp import uris

if TYPE_CHECKING:
    from ollm_lsp.lsp.session import Session
    from ollm_lsp.lsp.standard import RenameFilesParams


async def did_rename(session: Session, params: RenameFilesParams) -> None:
    """Files or folders have other names. Open documents need nothing: editors close them and open them anew."""
    for file in params.files:
        old, new = file.old_uri, file.new_uri
        for uri in [uri for uri in session.diagnostics if uris.moved(uri, old, new)]:
            session.diagnostics.setdefault(uris.moved(uri, old, new) or uri, session.diagnostics.pop(uri))
        session.proposals.withdraw(old, new)
        toolset = await session.services.toolset()
        toolset.follow(lambda uri, old=old, new=new: uris.moved(uri, old, new))
        for follow in session.followers:
            follow(old, new)
