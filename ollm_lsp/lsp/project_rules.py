"""The rules of a project: the `AGENTS.md` of each workspace folder, as part of the system prompt."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ollm_lsp.core.errors import OllmError
from ollm_lsp.core.events import Warned
from ollm_lsp.core.hidden import without_hidden
from ollm_lsp.core.tokens import CHARS_PER_TOKEN
from ollm_lsp.lsp.desk import desk_of

if TYPE_CHECKING:
    from ollm_lsp.core.ports import Sink
    from ollm_lsp.lsp.session import Session
    from ollm_lsp.settings.resolved import Settings
    from ollm_lsp.tools.roots import Place
    from ollm_lsp.tools.workspace import Workspace

NAME = "AGENTS.md"
SHARE = 8
"""The rules fill at most this part of the model's window."""


async def project_rules(session: Session, settings: Settings, sink: Sink, window: int) -> str:
    """What the projects want an assistant to know; nothing where the settings do not allow it, or there is nothing.

    They are a file like every other: the open buffer counts, links are not followed, excluded files are not read.
    """
    if not settings.context.agents_file or not session.folders:
        return ""
    toolset = await session.services.toolset()
    workspace = toolset.workspace(desk_of(session, settings, "", is_external=False))
    places = [place.below(NAME) for place in workspace.roots.places]
    texts = [await _text(workspace, place, sink) for place in places]
    found = [(place, text) for place, text in zip(places, texts, strict=True) if text]
    if not found:
        return ""
    room = window * CHARS_PER_TOKEN // SHARE // len(found)
    if any(len(text) > room for _, text in found):
        message = f"{NAME} is too long for this model, so only its beginning is sent."
        sink.emit(Warned("agents_file", message, "Shorten it, or choose a model with a larger context."))
    return "\n\n".join(f"The rules of this project, from {place.shown}:\n\n{text[:room]}" for place, text in found)


async def _text(workspace: Workspace, place: Place, sink: Sink) -> str:
    try:
        if await workspace.kind(place) is None:
            return ""
        # What nobody sees in the file, no model shall read in it.
        return without_hidden((await workspace.read(place)).text).strip()
    except OllmError as error:
        sink.emit(Warned("agents_file", f"{NAME} is not used. {error.message}", error.remedy))
        return ""
