"""`ollm-lsp models list`: the models of all providers as a table."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from ollm_lsp.terminal.cells import cells
from ollm_lsp.terminal.clean import clean_line
from ollm_lsp.terminal.client import SERVER_COMMAND
from ollm_lsp.terminal.command import Exit, connection, run_command
from ollm_lsp.terminal.payload import Payload
from ollm_lsp.terminal.screen import Screen

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
