"""The surroundings of a question: what of the session the context may be taken from, and by which rules."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from ollm_lsp.lsp.desk import DiagnosticsOfSession, desk_of

if TYPE_CHECKING:
    from ollm_lsp.core.ports import Diagnostics
    from ollm_lsp.lsp.documents import Documents
    from ollm_lsp.lsp.session import Session
    from ollm_lsp.settings.resolved import ContextSettings, Settings
    from ollm_lsp.tools.sendable import Sendable
    from ollm_lsp.tools.workspace import Workspace

DIAGNOSTICS_TIME = 1.0
"""Seconds in which the client tells its diagnostics, or a question goes without them."""


@dataclass(frozen=True, slots=True)
class Surroundings:
    """The open documents, the files of the workspace beside them, and what may be sent of both."""

    documents: Documents
    workspace: Workspace
    sendable: Sendable
    diagnostics: Diagnostics
    settings: ContextSettings


async def surroundings_of(session: Session, settings: Settings, *, is_external: bool) -> Surroundings:
    """Those of a session, for a model on this machine or elsewhere."""
    toolset = await session.services.toolset()
    desk = desk_of(session, settings, "", is_external=is_external)
    diagnostics = DiagnosticsOfSession(session, DIAGNOSTICS_TIME)
    workspace, sendable = toolset.workspace(desk), toolset.sendable(desk)
    return Surroundings(session.documents, workspace, sendable, diagnostics, settings.context)
