"""Processes that keep responses until they are killed: `python -m tests.store.writer FOLDER`.

For each name on its input it forks one writer, tells its process id, and when it is dead. A writer writes a line for
each step, and the id of a response once that is kept. Forking is much cheaper than starting Python anew.
"""

from __future__ import annotations

import asyncio
import os
import sys
from pathlib import Path
from typing import TYPE_CHECKING

from ollm_lsp.core.conversation import Response
from ollm_lsp.core.events import FinishReason, TextDelta
from ollm_lsp.core.messages import Message, Role, Text
from ollm_lsp.core.model import ModelId
from ollm_lsp.core.record import Opening
from ollm_lsp.core.usage import Cost, Usage
from ollm_lsp.store.response_store import SqliteStore

if TYPE_CHECKING:
    from typing import NoReturn

DELTAS = tuple(f"word{number} " for number in range(50))


def made(response_id: str) -> Response:
    """The response of that id, as every writer makes it."""
    output = (Message(Role.ASSISTANT, (Text("I look."),)), Message(Role.ASSISTANT, (Text("".join(DELTAS)),)))
    asked = (Message.user(f"question {response_id}"),)
    model = ModelId("p", "m")
    return Response(response_id, None, model, asked, output, Usage(3, 5), Cost(7), FinishReason.STOP)


async def write(folder: Path, name: str) -> NoReturn:
    store = SqliteStore(folder / "conversations.db")
    number = 0
    while True:
        response = made(f"{name}-{number}")
        number += 1
        await store.begin("c", Opening(response.id, None, response.model, response.input))
        os.write(1, b"begun\n")
        store.add(response.id, response.output[0])
        for delta in DELTAS:
            store.grow(response.id, TextDelta(delta))
        store.flush()
        os.write(1, b"grown\n")
        await store.finish("c", response)
        os.write(1, f"kept {response.id}\n".encode())


def main() -> None:
    folder = Path(sys.argv[1])
    for name in sys.stdin:
        if pid := os.fork():
            os.write(1, f"pid {pid}\n".encode())
            os.waitpid(pid, 0)
            os.write(1, b"dead\n")
        else:
            asyncio.run(write(folder, name.strip()))


if __name__ == "__main__":
    main()
