"""`ollm-lsp models`: list the models of all providers; pull, show and delete one."""

from __future__ import annotations

import json
import sys
from typing import TYPE_CHECKING, Any

from ollm_lsp.terminal.cells import cells
from ollm_lsp.terminal.clean import clean_line
from ollm_lsp.terminal.client import SERVER_COMMAND
from ollm_lsp.terminal.command import Exit, connection, run_command
from ollm_lsp.terminal.payload import Payload
from ollm_lsp.terminal.prompt import confirm
from ollm_lsp.terminal.screen import Screen
from ollm_lsp.terminal.work_done import WorkDone

if TYPE_CHECKING:
    from collections.abc import Sequence

    from ollm_lsp.terminal.interrupts import Interrupts

_HEAD = ("", "MODEL", "SIZE", "CONTEXT", "CAPABILITIES")
_RIGHT = (False, False, True, True, False)


async def list_models(provider: str | None, *, as_json: bool, server_command: Sequence[str] = SERVER_COMMAND) -> int:
    """Print the models, those of one provider when it is named; the result is the exit status."""
    screen = Screen.of_process()

    async def work(interrupts: Interrupts) -> Exit:
        async with connection(server_command, screen, interrupts) as client:
            params = {} if provider is None else {"provider": provider}
            result = await interrupts.run(client.request("ollm/models/list", params))
        if as_json:
            screen.line(json.dumps(result, indent=2))
            return Exit.FINE
        return _show(screen, result)

    return await run_command(screen, work)


async def pull(model: str, *, server_command: Sequence[str] = SERVER_COMMAND) -> int:
    """Fetch a model and show how far it is; Ctrl-C stops it."""
    screen = Screen.of_process()

    async def work(interrupts: Interrupts) -> Exit:
        async with connection(server_command, screen, interrupts) as client:
            with client.progress("pull", WorkDone(screen).receive) as token:
                request = client.request("ollm/models/pull", {**_params(model), "workDoneToken": token})
                result = Payload(await interrupts.run(request))
        screen.note(f"{result.text('model')} is ready.")
        return Exit.FINE

    return await run_command(screen, work)


async def show(model: str, *, as_json: bool, server_command: Sequence[str] = SERVER_COMMAND) -> int:
    """Print what is known about a model."""
    screen = Screen.of_process()

    async def work(interrupts: Interrupts) -> Exit:
        async with connection(server_command, screen, interrupts) as client:
            result = await interrupts.run(client.request("ollm/models/show", _params(model)))
        if as_json:
            screen.line(json.dumps(result, indent=2))
        else:
            _show_details(screen, Payload(result))
        return Exit.FINE

    return await run_command(screen, work)


async def delete(model: str, *, is_sure: bool, server_command: Sequence[str] = SERVER_COMMAND) -> int:
    """Delete a model, after a question to the user who is not sure yet."""
    screen = Screen.of_process()
    if not is_sure and not (sys.stdin.isatty() and sys.stderr.isatty()):
        screen.error("There is nobody to ask whether the model may be deleted.", "Say so with --yes.")
        return Exit.FAILED

    async def work(interrupts: Interrupts) -> Exit:
        async with connection(server_command, screen, interrupts) as client:
            if not is_sure:
                details = Payload(await interrupts.run(client.request("ollm/models/show", _params(model))))
                with screen.held():
                    is_meant = await interrupts.run(confirm(_question(details)))
                if not is_meant:
                    screen.note("Nothing was deleted.")
                    return Exit.FAILED
            await interrupts.run(client.request("ollm/models/delete", _params(model)))
        screen.note(f"{model} is deleted.")
        return Exit.FINE

    return await run_command(screen, work)


def _params(model: str) -> dict[str, Any]:
    # A terminal may hand over bytes that are not UTF-8; JSON could not carry them.
    return {"model": model.encode(errors="replace").decode()}


def _question(details: Payload) -> str:
    size = _size(details.number("sizeBytes"))
    return f"Delete {clean_line(details.text('id'))}{f' ({size})' if size else ''}?"


def _show_details(screen: Screen, details: Payload) -> None:
    """The model and its facts; what the provider says in words replaces the same in numbers."""
    _, name, size, window, capabilities = _row(details)
    facts = details.payload("facts")
    rows = {"model": name, "size": size, "context length": window, "capabilities": capabilities}
    rows |= {clean_line(key): clean_line(facts.text(key)) for key in facts.names()}
    rows = {key: value for key, value in rows.items() if key and value}
    width = max(map(cells, rows), default=0)
    for key, value in rows.items():
        screen.line(f"{key}{' ' * (width - cells(key))}  {value}")


def _show(screen: Screen, result: Any) -> Exit:
    # The contract says "models", not whether in a field; a bare list has no room for errors.
    listing = Payload({"models": result} if isinstance(result, list) else result)
    models, errors = listing.payloads("models"), listing.payloads("errors")
    if models:
        for line in table([_HEAD, *map(_row, models)]):
            screen.line(line)
    elif not errors:
        screen.note("There are no models. `ollm-lsp doctor` tells what is missing.")
    for error in errors:
        name, message = error.text("provider"), error.text("message")
        screen.error(f"{name}: {message}" if name else message, error.text("remedy"))
    return Exit.FAILED if errors and not models else Exit.FINE


def table(rows: Sequence[Sequence[str]]) -> list[str]:
    """Rows with aligned columns, as lines without spaces at their ends."""
    widths = [max(map(cells, column)) for column in zip(*rows, strict=True)]
    return [
        "  ".join(
            " " * (width - cells(cell)) + cell if right else cell + " " * (width - cells(cell))
            for cell, width, right in zip(row, widths, _RIGHT, strict=True)
        ).rstrip()
        for row in rows
    ]


def _row(model: Payload) -> tuple[str, ...]:
    window = model.number("contextWindow")
    return (
        "*" if model.flag("default") else "",
        clean_line(model.text("id")),
        _size(model.number("sizeBytes")),
        "" if window is None else f"{window:,}",
        clean_line(", ".join(_capabilities(model))),
    )


def _size(size: float | None) -> str:
    if size is None:
        return ""
    for unit in ("B", "kB", "MB"):
        if size < 1000:
            return f"{size:.0f} {unit}"
        size /= 1000
    return f"{size:.1f} GB"


def _capabilities(model: Payload) -> list[str]:
    """Their names, whether they come as a list or as flags."""
    listed = [item for item in model.items("capabilities") if isinstance(item, str)]
    return listed or model.payload("capabilities").flags()
