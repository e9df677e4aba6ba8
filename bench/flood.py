"""Another request's latency while a provider streams as fast as it can."""

import asyncio
from dataclasses import dataclass, field
from statistics import median, quantiles
from time import monotonic
from typing import Any

from bench.client import NONE, Client, running
from bench.fake_provider import WORD
from bench.meter import cpu_seconds, settle
from bench.program import Program, ollm_lsp, settings_for
from bench.provider_process import provider
from bench.report import Figure

ROUNDS = 5
IDLE_PINGS = 50
OPENING_PINGS = 15
PINGS = 100
INTERVAL = 0.020


@dataclass
class Stream:
    """What was heard of a chat."""

    characters: int = 0
    messages: int = 0
    began: asyncio.Event = field(default_factory=asyncio.Event)

    def hear(self, value: Any, _arrived: float) -> None:
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


async def measure() -> list[Figure]:
    async with provider() as port:
        with ollm_lsp(settings=settings_for(port)) as program:
            rounds = [await _round(program) for _ in range(ROUNDS)][1:]
    idle = [ping for one in rounds for ping in one.idle]
    busy = [ping for one in rounds for ping in one.busy]
    openings = [max(one.opening) for one in rounds]
    percentiles = quantiles(busy, n=100)
    rates = [one.tokens / one.wall for one in rounds]
    costs = [one.cpu / one.tokens * 1e6 for one in rounds]
    shares = [one.messages / one.tokens for one in rounds]
    loads = [one.cpu / one.wall for one in rounds]
    return [
        Figure(f"ping, median of {len(busy)}", median(busy), "ms", busy, goal=20, binding=True),
        Figure("ping, 95th percentile", percentiles[94], "ms"),
        Figure("ping, 99th percentile", percentiles[98], "ms"),
        Figure("ping without a stream, median", median(idle), "ms", idle),
        Figure("worst ping while the first chat begins", median(openings), "ms", openings),
        Figure("tokens a second", median(rates), "/s", rates),
        Figure("messages to the client per token", median(shares), "", shares),
        Figure("CPU of the server per token", median(costs), "µs", costs),
        Figure("the server's share of one processor", median(loads), "", loads),
    ]


async def _round(program: Program) -> Round:
    async with running(program) as client:
        await client.initialize()
        client.initialized()
        await settle(client.pid)
        idle = await _ping(client, IDLE_PINGS)
        stream = Stream()
        client.heard = stream.hear
        params = {"text": "Count.", "model": "bench:full", "partialResultToken": "stream"}
        number, answer = client.post("ollm/chat/send", params)
        # The first chat of a server loads what it needs. That is another figure than the stream.
        opening = await _ping(client, OPENING_PINGS)
        beginning = asyncio.ensure_future(stream.began.wait())
        await asyncio.wait([answer, beginning], return_when=asyncio.FIRST_COMPLETED)
        assert beginning.done(), answer
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
