"""Another request's latency while a provider streams as fast as it can."""

import asyncio
from dataclasses import dataclass, field
from functools import partial
from statistics import median, quantiles
from time import monotonic
from typing import Any

from bench.client import NONE, Client, running
from bench.effort import Effort
from bench.fake_provider import WORD
from bench.figure import Figure, Findings, Reference
from bench.meter import cpu_seconds
from bench.program import Program, ollm_lsp, settings_for
from bench.provider_process import provider

ROUNDS = 7
IDLE_PINGS = 50
OPENING_PINGS = 15
PINGS = 100
INTERVAL = 0.020
PATIENCE = 60.0
"""Seconds for the first token."""


@dataclass
class Stream:
    """What was heard of a chat."""

    characters: int = 0
    messages: int = 0
    began: asyncio.Event = field(default_factory=asyncio.Event)

    def hear(self, _token: Any, value: Any, _arrived: float) -> None:
        if value.get("type") == "text":
            self.characters += len(value["text"])
            self.messages += 1
            self.began.set()


@dataclass(frozen=True)
class Round:
    """Latencies in milliseconds, and what the server did in the time of the pings."""

    idle: list[float]
    opening: list[float]
    busy: list[float]
    tokens: float
    messages: int
    cpu: float
    wall: float


async def measure(effort: Effort) -> Findings:
    async with provider() as port:
        with ollm_lsp(settings=settings_for(port)) as ours:
            rounds = (await effort.interleaved(ROUNDS, {ours.name: partial(_round, ours)}))[ours.name]
    busy = [median(one.busy) for one in rounds]
    return Findings(
        [
            Figure("another request", "ms", busy, goal=10, binding=True),
            Figure(
                "another request",
                "ms",
                busy,
                Reference("the same without a stream", [median(one.idle) for one in rounds]),
                goal=10,
                binding=True,
            ),
            Figure("the slowest of twenty requests", "ms", [quantiles(one.busy, n=20)[18] for one in rounds]),
            Figure("the slowest while the first chat begins", "ms", [max(one.opening) for one in rounds]),
            Figure("tokens a second", "/s", [one.tokens / one.wall for one in rounds]),
            Figure("messages to the client per token", "", [one.messages / one.tokens for one in rounds]),
            Figure("the server's share of one processor", "", [one.cpu / one.wall for one in rounds]),
        ]
    )


async def _round(program: Program) -> Round:
    async with running(program) as client:
        await client.begin()
        idle = await _ping(client, IDLE_PINGS)
        stream = Stream()
        client.heard = stream.hear
        number, answer = client.chat("bench:full")
        # The first chat of a server loads what it needs. That is another figure than the stream.
        opening = await _ping(client, OPENING_PINGS)
        beginning = asyncio.ensure_future(stream.began.wait())
        await asyncio.wait([answer, beginning], timeout=PATIENCE, return_when=asyncio.FIRST_COMPLETED)
        assert beginning.done(), f"{program.name} sent no token"
        characters, messages, cpu, began = stream.characters, stream.messages, cpu_seconds(client.pid), monotonic()
        busy = await _ping(client, PINGS)
        measured = Round(
            idle,
            opening,
            busy,
            tokens=(stream.characters - characters) / len(WORD),
            messages=stream.messages - messages,
            cpu=cpu_seconds(client.pid) - cpu,
            wall=monotonic() - began,
        )
        client.notify("$/cancelRequest", {"id": number})
        assert (await answer).code == -32800
        return measured


async def _ping(client: Client, count: int) -> list[float]:
    """Milliseconds from request to answer; the next is sent when its time has come, whatever was answered."""
    began = monotonic()
    sent: list[float] = []
    answers: list[asyncio.Future[Any]] = []
    for number in range(count):
        await asyncio.sleep(max(0.0, began + number * INTERVAL - monotonic()))
        sent.append(monotonic())
        answers.append(client.post(NONE)[1])
    return [(answer.arrived - time) * 1e3 for time, answer in zip(sent, await asyncio.gather(*answers), strict=True)]
