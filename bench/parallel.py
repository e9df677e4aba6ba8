"""Many chats at once: what they cost, and whether each gets its share."""

import asyncio
from collections import Counter
from dataclasses import dataclass
from functools import partial
from statistics import median
from typing import Any

from bench.client import Answer, running
from bench.effort import Effort
from bench.fake_provider import WORD
from bench.figure import Figure, Findings, Reference, growth
from bench.meter import cpu_seconds, memory_megabytes
from bench.program import Program, ollm_lsp, settings_for
from bench.provider_process import provider

CHATS = (1, 10, 100)
TOKENS = 3_000
"""Of each chat."""
WARM_UP = 500
ROUNDS = 5


@dataclass(frozen=True)
class Round:
    """Seconds of CPU and until each chat was answered, megabytes, and how far each was when half of all had come."""

    cpu: float
    seconds: list[float]
    memory: float
    halfway: list[float]


async def measure(effort: Effort) -> Findings:
    async with provider() as port:
        with ollm_lsp(settings=settings_for(port)) as program:
            rounds = await effort.interleaved(ROUNDS, {count: partial(_round, program, count) for count in CHATS})
    many, single = CHATS[-1], CHATS[0]
    figures = [
        Figure(
            f"the slowest of {many} chats",
            "s",
            [max(one.seconds) for one in rounds[many]],
            Reference("their median", [median(one.seconds) for one in rounds[many]]),
            goal=2,
            binding=True,
        ),
        Figure(
            f"the median of {many} chats at half-time",
            "tokens",
            [median(one.halfway) for one in rounds[many]],
            Reference("the one least far", [min(one.halfway) for one in rounds[many]]),
            goal=2,
            binding=True,
        ),
        Figure(
            f"CPU of a token in {many} chats",
            "µs",
            [one.cpu / many / TOKENS * 1e6 for one in rounds[many]],
            Reference("in a single one", [one.cpu / single / TOKENS * 1e6 for one in rounds[single]]),
            goal=2,
        ),
        *(
            Figure(
                f"tokens a second, {count} chats", "/s", [count * TOKENS / max(one.seconds) for one in rounds[count]]
            )
            for count in CHATS
        ),
        *(Figure(f"memory, {count} chats", "MB", [one.memory for one in rounds[count]]) for count in CHATS),
    ]
    costs = {count: [one.cpu * 1e3 for one in samples] for count, samples in rounds.items()}
    return Findings(figures, [growth("CPU of parallel chats", "chats", "ms", costs)])


async def _round(program: Program, count: int) -> Round:
    heard: Counter[str] = Counter()
    halfway: list[float] = []
    memory = 0.0

    def hear(token: Any, value: Any, _arrived: float) -> None:
        nonlocal memory
        if value.get("type") != "text":
            return
        heard[token] += len(value["text"]) // len(WORD)
        if not halfway and heard.total() * 2 >= count * TOKENS:
            halfway.extend(heard[name] for name in names)
            memory = memory_megabytes(client.pid)

    async with running(program) as client:
        await client.begin()
        await client.answer(f"bench:{WARM_UP}")
        names = [f"chat{number}" for number in range(count)]
        client.heard = hear
        before, began = cpu_seconds(client.pid), asyncio.get_running_loop().time()
        answers: list[Answer] = await asyncio.gather(*(client.chat(f"bench:{TOKENS}", name)[1] for name in names))
        cpu = cpu_seconds(client.pid) - before
        assert all(answer.message["result"]["text"] == WORD * TOKENS for answer in answers)
        return Round(cpu, [answer.arrived - began for answer in answers], memory, [max(far, 1) for far in halfway])
