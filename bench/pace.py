"""What the server adds to the delay of a token when a provider sends 200 a second."""

import asyncio
import json
import re
from statistics import median
from time import monotonic
from typing import Any

from bench.client import running
from bench.fake_provider import PACED, RATE
from bench.meter import cpu_seconds, settle
from bench.program import Program, ollm_lsp, settings_for
from bench.provider_process import provider
from bench.report import Figure

ROUNDS = 5
STAMP = re.compile(rb'"content":"(\d+) "')


async def measure() -> list[Figure]:
    raw: list[float] = []
    served: list[float] = []
    costs: list[float] = []
    async with provider() as port:
        with ollm_lsp(settings=settings_for(port)) as program:
            for number in range(ROUNDS):
                by_socket = await _by_socket(port)
                by_server, cost = await _by_server(program)
                assert len(by_socket) == len(by_server) == PACED
                if number:
                    raw += by_socket
                    served += by_server
                    costs.append(cost)
    return [
        Figure(f"delay added to a token at {RATE} a second", median(served) - median(raw), "ms", goal=1),
        Figure("a token by the server, median", median(served), "ms", served),
        Figure("a token by a raw socket, median", median(raw), "ms", raw),
        Figure("CPU of the server per token", median(costs), "µs", costs),
    ]


async def _by_server(program: Program) -> tuple[list[float], float]:
    """The delay of each token in milliseconds, and the CPU for each in microseconds."""
    delays: list[float] = []
    before = 0.0

    def hear(value: Any, arrived: float) -> None:
        nonlocal before
        if value.get("type") == "text":
            # Only from here on: the first chat loads what it needs before it asks the provider.
            before = before or cpu_seconds(client.pid)
            delays.extend((arrived - int(stamp) / 1e9) * 1e3 for stamp in value["text"].split())

    async with running(program) as client:
        await client.initialize()
        client.initialized()
        await settle(client.pid)
        client.heard = hear
        params = {"text": "Count.", "model": "bench:paced", "partialResultToken": "stream"}
        answer = await client.ask("ollm/chat/send", params)
        assert "result" in answer.message, answer
        return delays, (cpu_seconds(client.pid) - before) / PACED * 1e6


async def _by_socket(port: int) -> list[float]:
    """The delay of each token in milliseconds."""
    reader, writer = await asyncio.open_connection("127.0.0.1", port)
    body = json.dumps({"model": "paced"}).encode()
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
