"""A store that holds thousands of responses: to open it, to list its conversations, and to resume one."""

import tempfile
from functools import partial
from itertools import pairwise
from pathlib import Path
from sqlite3 import Connection
from time import process_time

from bench.effort import Effort
from bench.figure import Figure, Findings, Growth, growth
from ollm_lsp.core.conversation import Response
from ollm_lsp.core.events import FinishReason
from ollm_lsp.core.messages import Message, Role, Text
from ollm_lsp.core.model import ModelId
from ollm_lsp.core.usage import Cost, Usage
from ollm_lsp.store import rows
from ollm_lsp.store.database import Database
from ollm_lsp.store.response_store import SqliteStore

RESPONSES = (100, 1_000, 10_000)
PER_CONVERSATION = 20
LONG = 1_000
"""Responses of a conversation that somebody never left."""
TEXT = "An answer of ordinary length, with some words in it. " * 20
ROUNDS = 9
GOALS = {"open": 20.0, "list": 100.0, "resume": 50.0}


async def measure(effort: Effort) -> Findings:
    with tempfile.TemporaryDirectory() as folder:
        files = {size: Path(folder, f"{size}.sqlite") for size in effort.sizes(*RESPONSES)}
        for size, file in files.items():
            _plant(file, {f"c{number}": PER_CONVERSATION for number in range(size // PER_CONVERSATION)})
        long = Path(folder, "long.sqlite")
        _plant(long, {"c0": LONG})
        rounds = await effort.interleaved(ROUNDS, {size: partial(_used, file) for size, file in files.items()})
        resumed = await effort.interleaved(ROUNDS, {LONG: partial(_used, long)})
    largest = rounds[RESPONSES[-1]]
    figures = [
        Figure(f"{what}, {RESPONSES[-1]:,} responses", "ms", [one[what] for one in largest], goal=goal)
        for what, goal in GOALS.items()
    ]
    figures.append(Figure(f"resume one of {LONG:,} responses", "ms", [one["resume"] for one in resumed[LONG]]))
    growths: list[Growth] = [
        growth(f"store: {what}", "responses", "ms", {size: [one[what] for one in rounds[size]] for size in rounds})
        for what in GOALS
    ]
    return Findings(figures, growths)


async def _used(file: Path) -> dict[str, float]:
    """Milliseconds of CPU, over all threads, of a store that was closed."""
    store = SqliteStore(file)
    marks = [process_time()]
    assert await store.load("nobody") is None
    marks.append(process_time())
    assert await store.list()
    marks.append(process_time())
    assert await store.load("c0")
    marks.append(process_time())
    await store.close()
    return {what: (after - before) * 1e3 for what, (before, after) in zip(GOALS, pairwise(marks), strict=True)}


def _plant(file: Path, conversations: dict[str, int]) -> None:
    def plant(connection: Connection) -> None:
        for name, count in conversations.items():
            for number in range(count):
                rows.finish(connection, name, _response(name, number), now=float(number))

    database = Database(file)
    database.write(plant)
    database.tidy()
    database.close()


def _response(conversation: str, number: int) -> Response:
    return Response(
        f"{conversation}-{number}",
        f"{conversation}-{number - 1}" if number else None,
        ModelId("bench", "m"),
        (Message.user(f"Question {number} of {conversation}?"),),
        (Message(Role.ASSISTANT, (Text(TEXT),)),),
        Usage(1_000, 200),
        Cost(),
        FinishReason.STOP,
    )
