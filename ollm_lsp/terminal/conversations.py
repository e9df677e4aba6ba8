"""Conversations that are kept: listed, and found again to go on with one."""

from __future__ import annotations

from datetime import datetime
from typing import TYPE_CHECKING

from ollm_lsp.terminal.clean import clean_line
from ollm_lsp.terminal.client import SERVER_COMMAND
from ollm_lsp.terminal.command import Exit, connection, run_command
from ollm_lsp.terminal.payload import Payload
from ollm_lsp.terminal.screen import Screen

if TYPE_CHECKING:
    from collections.abc import Sequence

    from ollm_lsp.terminal.client import LspClient
    from ollm_lsp.terminal.interrupts import Interrupts

SHORT_ID = 8
_SHOWN = 300
"""Characters of each side of the last exchange."""


async def list_conversations(server_command: Sequence[str] = SERVER_COMMAND) -> int:
    """Print a line for each conversation, the newest first; the result is the exit status."""
    screen = Screen.of_process()

    async def work(interrupts: Interrupts) -> Exit:
        async with connection(server_command, screen, interrupts) as client:
            conversations = await interrupts.run(_kept(client))
        if not conversations:
            screen.note("There are no conversations yet.")
        for each in conversations:
            responses = each.number("responses") or 0
            screen.line(
                f"{each.text('id')[:SHORT_ID]}  {_when(each.text('updated'))}  {responses:>4}  "
                f"{clean_line(each.text('title'))}"
            )
        return Exit.FINE

    return await run_command(screen, work)


async def find(client: LspClient, wanted: str) -> Payload | None:
    """The one conversation whose id begins so; the newest one when nothing is wanted."""
    conversations = await _kept(client)
    if not wanted:
        return conversations[0] if conversations else None
    found = [each for each in conversations if each.text("id").startswith(wanted)]
    return found[0] if len(found) == 1 else None


async def last_exchange(client: LspClient, conversation_id: str) -> str:
    """What was asked and answered last, shortened."""
    record = Payload(await client.request("ollm/chat/get", {"conversationId": conversation_id}))
    responses = record.payloads("responses")
    if not responses:
        return ""
    last = responses[-1]
    answer = "".join(item.text("text") for item in last.payloads("items") if item.text("type") == "text")
    return f"You: {_shortened(last.text('text'))}\n{_shortened(answer) or '(no answer)'}"


async def _kept(client: LspClient) -> list[Payload]:
    return Payload(await client.request("ollm/chat/list", {})).payloads("conversations")


def _shortened(text: str) -> str:
    text = text.strip()
    return text if len(text) <= _SHOWN else f"{text[:_SHOWN].rstrip()} …"


def _when(time: str) -> str:
    """A time of the server's in the user's own time zone."""
    try:
        return f"{datetime.fromisoformat(time).astimezone():%Y-%m-%d %H:%M}"
    except ValueError:
        return clean_line(time)
