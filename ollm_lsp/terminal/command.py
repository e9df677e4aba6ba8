"""A command at the terminal: its connection, Ctrl-C, and an exit status with a message for every failure."""

from __future__ import annotations

from contextlib import asynccontextmanager, suppress
from enum import IntEnum
from typing import TYPE_CHECKING

from ollm_lsp.terminal.buffers import UnusableFiles
from ollm_lsp.terminal.client import LspClient
from ollm_lsp.terminal.errors import RequestFailed, ServerDied
from ollm_lsp.terminal.interrupts import Interrupted, Interrupts
from ollm_lsp.terminal.notices import show_notices
from ollm_lsp.terminal.server_process import PATIENCE

if TYPE_CHECKING:
    from collections.abc import AsyncGenerator, Awaitable, Callable, Sequence

    from ollm_lsp.terminal.screen import Screen

_IMPATIENCE = 0.2


class Exit(IntEnum):
    """Exit statuses."""

    FINE = 0
    FAILED = 1
    UNUSABLE = 2  # what was given cannot be used; nothing was started
    CANCELLED = 130  # as shells say it of SIGINT


async def run_command(screen: Screen, work: Callable[[Interrupts], Awaitable[Exit]]) -> Exit:
    """Do the work; failures are told on the screen."""
    try:
        with Interrupts() as interrupts:
            return await work(interrupts)
    except UnusableFiles as error:
        for problem in error.problems:
            screen.error(problem)
        return Exit.UNUSABLE
    except Interrupted:
        screen.end_answer()
        screen.note("cancelled")
        return Exit.CANCELLED
    except (RequestFailed, ServerDied) as error:
        screen.end_answer()
        screen.error(str(error), error.remedy)
        return Exit.FAILED
    except BrokenPipeError:
        screen.abandon_output()
        return Exit.FAILED


@asynccontextmanager
async def connection(
    server_command: Sequence[str], screen: Screen, interrupts: Interrupts, *, edits: bool = False
) -> AsyncGenerator[LspClient]:
    """A server for the time of a command. Whoever pressed Ctrl-C twice does not wait for its goodbye."""
    client = await interrupts.run(LspClient.start(server_command, edits=edits))
    show_notices(client, screen)
    patience = PATIENCE
    try:
        yield client
    except Interrupted as interrupted:
        patience = _IMPATIENCE if interrupted.impatient else patience
        raise
    finally:
        with suppress(Interrupted):
            await interrupts.run(client.close(patience))
        screen.end_progress()
