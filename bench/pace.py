"""What the server adds to the delay of a token when a provider sends them at an even pace."""

import asyncio
import json
import re
from dataclasses import dataclass
from functools import partial
from statistics import median, quantiles
from time import monotonic
from typing import Any

from bench.client import running
from bench.effort import Effort
from bench.figure import Figure, Findings, growth
from bench.meter import cpu_seconds
from bench.program import Program, ollm_lsp, settings_for
from bench.provider_process import provider

ROUNDS = 5
RATES = (30, 200, 2_000)
SECONDS = 1.5
FEWEST = 100
"""Tokens of a round, at least."""
GOAL = 2.0
STAMP = re.compile(rb'"content":"(\d+) "')


@dataclass(frozen=True)
class Round:
    """What the server adds to the milliseconds of a raw socket, and its seconds of CPU for a second of the stream."""

    added: float
    slowest: float
    cpu: float


async def measure(effort: Effort) -> Findings:
    async with provider() as port:
        with ollm_lsp(settings=settings_for(port)) as program:
            rounds = await effort.interleaved(ROUNDS, {rate: partial(_round, program, port, rate) for rate in RATES})
    figures = [
        figure
        for rate in RATES
        for figure in (
            Figure(
                f"added to a token at {rate:,} a second",
                "ms",
                [one.added for one in rounds[rate]],
                goal=GOAL,
                binding=rate == 200,
            ),
            Figure(f"added to the slowest of twenty at {rate:,} a second", "ms", [one.slowest for one in rounds[rate]]),
            Figure(f"CPU of a token at {rate:,} a second", "µs", [one.cpu / rate * 1e6 for one in rounds[rate]]),
        )
    ]
    loads = {rate: [one.cpu * 1e3 for one in samples] for rate, samples in rounds.items()}
    return Findings(figures, [growth("CPU of a second of a stream", "tokens a second", "ms", loads)])


async def _round(program: Program, port: int, rate: int) -> Round:
    count = max(FEWEST, int(rate * SECONDS))
    raw = await _by_socket(port, f"paced-{rate}-{count}")
    served, cpu = await _by_server(program, f"bench:paced-{rate}-{count}")
    assert len(raw) == len(served) == count
    slowest = quantiles(served, n=20)[18] - quantiles(raw, n=20)[18]
    return Round(median(served) - median(raw), slowest, cpu / (count / rate))


async def _by_server(program: Program, model: str) -> tuple[list[float], float]:
    """The delay of each token in milliseconds, and the seconds of CPU from the first token on."""
    delays: list[float] = []
    before = 0.0

    def hear(_token: Any, value: Any, arrived: float) -> None:
        nonlocal before
        if value.get("type") == "text":
            # Only from here on: the first chat loads what it needs before it asks the provider.
            before = before or cpu_seconds(client.pid)
            delays.extend((arrived - int(stamp) / 1e9) * 1e3 for stamp in value["text"].split())

    async with running(program) as client:
        await client.begin()
        client.heard = hear
        await client.answer(model)
        return delays, cpu_seconds(client.pid) - before


async def _by_socket(port: int, model: str) -> list[float]:
    """The delay of each token in milliseconds."""
    reader, writer = await asyncio.open_connection("127.0.0.1", port)
    body = json.dumps({"model": model}).encode()
    writer.write(b"POST / HTTP/1.1\r\nHost: bench\r\nContent-Length: %d\r\n\r\n%b" % (len(body), body))
    delays: list[float] = []
    while line := await reader.readline():
        arrived = monotonic()
        if stamp := STAMP.search(line):
            delays.append((arrived - int(stamp[1]) / 1e9) * 1e3)
        if b"[DONE]" in line:
            break
    writer.close()
    await writer.wait_closed()
    return delays
