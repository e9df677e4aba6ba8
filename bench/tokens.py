"""CPU for each token of a stream at full speed, from the bytes to what the client's user gets."""

import asyncio
import sys
from asyncio.subprocess import PIPE
from statistics import median

from bench.program import HERE
from bench.provider_process import provider
from bench.report import Figure, Reference

ROUNDS = 7
TOKENS = 10_000
PEERS = {"openai": 0.15, "ollama": 0.6}
"""The official clients, and what share of their time our providers may take."""


async def measure() -> list[Figure]:
    costs: dict[str, list[float]] = {f"{whose}_{peer}": [] for peer in PEERS for whose in ("our", "official")}
    async with provider() as port:
        for number in range(ROUNDS):
            for client, samples in costs.items():
                cost = await _cost(client, port)
                if number:
                    samples.append(cost)
    return [_compare(peer, costs[f"our_{peer}"], costs[f"official_{peer}"], goal) for peer, goal in PEERS.items()]


def _compare(peer: str, ours: list[float], theirs: list[float], goal: float) -> Figure:
    reference = Reference(f"the official {peer} client", median(theirs), theirs)
    return Figure(f"our {peer} provider", median(ours), "µs", ours, reference=reference, goal=goal, binding=True)


async def _cost(client: str, port: int) -> float:
    """Microseconds of CPU per token, of a process that does nothing else."""
    command = (sys.executable, "-m", "bench.token_reader", client, str(port), str(TOKENS))
    process = await asyncio.create_subprocess_exec(*command, stdout=PIPE, cwd=HERE.parent)
    output, _ = await process.communicate()
    assert process.returncode == 0, f"{client} ended with {process.returncode}"
    return float(output)
