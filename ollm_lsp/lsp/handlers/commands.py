"""workspace/executeCommand: each command is a request under another name, and shows its result to plain clients."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass
from importlib import import_module
from typing import TYPE_CHECKING, Any

from ollm_lsp.core.errors import OllmError, Unsupported
from ollm_lsp.lsp import from_wire, protocol, standard, to_wire
from ollm_lsp.lsp.rpc import INVALID_REMEDY, invalid_params
from ollm_lsp.lsp.show import tell

if TYPE_CHECKING:
    from collections.abc import Callable

    from ollm_lsp.lsp.session import Session
    from ollm_lsp.lsp.standard import ExecuteCommandParams


@dataclass(frozen=True, slots=True)
class Command:
    """What a command takes, who does it, and how its result looks where the client has no view of its own for it."""

    params: type[Any]
    handler: str
    shown: str | None = None
    """From the result to the title and the Markdown of what is shown. Both are imported when they are first called."""
    name: str | None = None
    """Which of several things it is that the handler does."""


async def execute(session: Session, params: ExecuteCommandParams) -> Any:
    """Run a command. A failure is shown as well: many editors do not show the error of a command."""
    try:
        return await _run(session, params)
    except (OllmError, from_wire.InvalidParams) as error:
        is_invalid = isinstance(error, from_wire.InvalidParams)
        words = f"{error}. {INVALID_REMEDY}" if is_invalid else str(error)
        session.rpc.notify("window/showMessage", {"type": 1, "message": f"ollm: {to_wire.clean(words)}"})
        if is_invalid:
            raise invalid_params(str(error)) from None
        raise


async def _run(session: Session, params: ExecuteCommandParams) -> Any:
    command = COMMANDS.get(params.command)
    if command is None:
        raise Unsupported(f"There is no command {params.command}.", remedy="Update the editor's plugin.")
    argument = from_wire.an_object(params.arguments[0]) if params.arguments else {}
    if params.work_done_token is not None:
        argument = {"workDoneToken": params.work_done_token, **argument}
    if command.name is not None:
        argument["name"] = command.name
    structured = from_wire.structure(argument, command.params)
    handler = await asyncio.to_thread(_load, command.handler)
    result = await handler(session, structured)
    if command.shown is not None and not session.client.is_ours:
        await tell(session, *_load(command.shown)(result))
    return result


def _load(name: str) -> Callable[..., Any]:
    module, function = name.split(".")
    return getattr(import_module(f"ollm_lsp.lsp.handlers.{module}"), function)


COMMANDS = {
    "ollm.chat.open": Command(protocol.ChatOpenParams, "chat_document.open_chat"),
    "ollm.chat.send": Command(protocol.ChatCommandParams, "chat_document.send"),
    "ollm.chat.stop": Command(protocol.ChatStopParams, "chat_document.stop"),
    "ollm.context.show": Command(protocol.ContextPreviewParams, "context.preview", shown="context.shown"),
    "ollm.explain": Command(protocol.ActionParams, "actions.run", name="explain"),
    "ollm.fix": Command(protocol.ActionParams, "actions.run", name="fix"),
    "ollm.refactor": Command(protocol.ActionParams, "actions.run", name="refactor"),
    "ollm.document": Command(protocol.ActionParams, "actions.run", name="document"),
    "ollm.tests": Command(protocol.ActionParams, "actions.run", name="tests"),
    "ollm.edit": Command(protocol.ActionParams, "actions.run", name="edit"),
    "ollm.ask": Command(protocol.ActionParams, "actions.run", name="ask"),
    "ollm.action": Command(protocol.ActionParams, "actions.run"),
    "ollm.proposal.accept": Command(protocol.SettleParams, "proposal_commands.accept"),
    "ollm.proposal.reject": Command(protocol.SettleParams, "proposal_commands.reject"),
    "ollm.proposal.show": Command(protocol.ProposalParams, "proposal_commands.show"),
    "ollm.proposal.revert": Command(protocol.ProposalParams, "proposal_commands.revert"),
    "ollm.models.list": Command(protocol.ModelsListParams, "models.list_models", "models.list_shown"),
    "ollm.models.pull": Command(protocol.ModelParams, "models.pull", "models.pull_shown"),
    "ollm.kraken.release": Command(protocol.ReleaseHereParams, "releasing.release_here", "releasing.release_shown"),
    "ollm.kraken.status": Command(standard.NoParams, "kraken.status", "kraken.status_shown"),
    "ollm.kraken.history": Command(protocol.HistoryParams, "kraken.history", "kraken.history_shown"),
    "ollm.kraken.config": Command(standard.NoParams, "kraken.config"),
    "ollm.cancel": Command(protocol.CancelWorkParams, "cancelling.cancel", "cancelling.shown"),
    "ollm.doctor": Command(protocol.CommandParams, "doctor.examine", "doctor.shown"),
}
