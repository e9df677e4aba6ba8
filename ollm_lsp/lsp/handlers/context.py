"""ollm/context/preview: what would be sent with a question, and why."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ollm_lsp.core.conversation import Conversation
from ollm_lsp.core.events import Warned
from ollm_lsp.core.recording import StoreRecording
from ollm_lsp.core.shown import inert
from ollm_lsp.lsp import to_wire, uris
from ollm_lsp.lsp.chat_work import ChatWork
from ollm_lsp.lsp.context.parts import block

if TYPE_CHECKING:
    from ollm_lsp.core.events import ChatEvent
    from ollm_lsp.lsp.protocol import ContextPreviewParams
    from ollm_lsp.lsp.session import Session

NOWHERE = "preview"
"""The conversation of a preview that names none; it is nowhere kept."""


class _Warnings:
    """Hears what a chat would warn of."""

    def __init__(self) -> None:
        self.heard: list[Warned] = []

    def emit(self, event: ChatEvent) -> None:
        if isinstance(event, Warned):
            self.heard.append(event)

    async def drain(self) -> None:
        """There is nobody to wait for."""


async def preview(session: Session, params: ContextPreviewParams) -> dict[str, Any]:
    """Compose the request as a chat would, and tell its parts instead of sending it."""
    store = await session.store()
    conversation = Conversation(NOWHERE)
    if params.conversation_id is not None:
        conversation = await session.conversations.open(params.conversation_id, store, params.parent_id)
    warnings = _Warnings()
    recording = StoreRecording(store, conversation.id, warnings, warnings.emit)
    work = ChatWork(session, await session.usable_settings(), params, conversation, recording)
    return to_wire.preview(await work.preview(), warnings.heard)


def shown(result: dict[str, Any]) -> tuple[str, str]:
    """The same for people: the title and the Markdown of a page."""
    text = "".join(f"{block(part['source'], '', part['text'])}" for part in result["parts"] if part["text"])
    return "Context", f"{overview(result)}\n\n## What would be sent\n\n{text}".rstrip()


def overview(result: dict[str, Any]) -> str:
    """Which parts there are, and what there is to warn of."""
    about = "about " if result["isEstimate"] else ""
    total = f"{about}{result['totalTokens']:,} of {result['limit']:,} tokens for {inert(result['model'])}"
    rows = [_row(part) for part in result["parts"]]
    table = "\n".join(["| part | document | lines | tokens | why |", "| --- | --- | --- | ---: | --- |", *rows])
    warnings = "".join(
        inert(f"- {warning['message']} {warning.get('remedy', '')}".rstrip()) + "\n" for warning in result["warnings"]
    )
    return f"{total}\n\n{table}\n\n{warnings}".rstrip()


def _row(part: dict[str, Any]) -> str:
    where = part["range"]
    lines = f"{where['start']['line'] + 1}-{where['end']['line'] + 1}" if where else ""
    document = uris.display_path(part["uri"]).rsplit("/", 1)[-1] if part["uri"] else ""
    cells = (part["source"], inert(document), lines, f"{part['tokens']:,}", inert(part["reason"]))
    return "| " + " | ".join(cell.replace("|", "\\|").replace("\n", " ") for cell in cells) + " |"
