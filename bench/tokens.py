"""CPU for each token at full speed: of our whole path, from provider to editor, and of vendors' clients alone."""

import asyncio
import os
from asyncio.subprocess import PIPE
from collections.abc import Mapping, Sequence
from functools import partial

from bench.client import running
from bench.effort import Effort
from bench.fake_provider import WORD
from bench.figure import Figure, Findings, Reference, growth
from bench.meter import cpu_seconds
from bench.peers import CLIENTS, NAIVE, NotInstalled, installed
from bench.program import HERE, Program, ollm_lsp, settings_for
from bench.provider_process import provider

ROUNDS = 9
TOKENS = 10_000
SIZES = (1_000, 10_000, 100_000)
WARM_UP = 500
GOALS = {"openai": 0.15, "ollama": 0.6}
"""What share of the time of a client our whole path may take."""
FORMATS = {"openai": "bench", "ollama": "local", "litellm": "bench"}
"""Our provider that speaks what the client speaks."""


async def measure(effort: Effort) -> Findings:
    notes: list[str] = []
    async with provider() as port:
        clients = await _working(effort, port, notes)
        with ollm_lsp(settings=settings_for(port)) as ours:
            paths = {name: partial(_path_cost, ours, name, TOKENS) for name in FORMATS.values()}
            alone = {client: partial(_client_cost, client, port) for client in clients}
            naive = {
                peer.name: partial(_path_cost, peer.asking(port), "bench", TOKENS)
                for peer in await installed([NAIVE], notes)
            }
            costs = await effort.interleaved(ROUNDS, {**paths, **alone, **naive})
            sizes = await effort.interleaved(
                ROUNDS // 2, {size: partial(_path_cost, ours, "bench", size) for size in effort.sizes(*SIZES)}
            )
    return Findings(
        [
            *(_compared(FORMATS[client], f"the {client} client alone", client, costs) for client in clients),
            *(_compared("bench", f"{name}, whole path", name, costs) for name in naive),
        ],
        [
            growth(
                "CPU of a chat",
                "tokens",
                "ms",
                {size: [cost * size / 1e3 for cost in samples] for size, samples in sizes.items()},
            )
        ],
        notes=notes,
    )


def _compared(path: str, name: str, peer: str, costs: Mapping[str, Sequence[float]]) -> Figure:
    reference = Reference(name, costs[peer])
    return Figure("the whole path", "µs", costs[path], reference, GOALS.get(peer), binding=peer in GOALS)


async def _working(effort: Effort, port: int, notes: list[str]) -> list[str]:
    """The clients that can be had, and that read an answer."""
    names: list[str] = []
    for name, environment in CLIENTS.items():
        if name == "litellm" and not effort.is_full:
            continue
        try:
            await environment.install()
            await _client_cost(name, port)
        except (NotInstalled, AssertionError) as reason:
            notes.append(str(reason))
        else:
            names.append(name)
    return names


async def _client_cost(client: str, port: int) -> float:
    """Microseconds of CPU per token, of a process that does nothing else."""
    command = (CLIENTS[client].python, "-I", str(HERE / "token_reader.py"), client, str(port), str(TOKENS))
    process = await asyncio.create_subprocess_exec(*command, stdout=PIPE, env=dict(os.environ))
    output, _ = await process.communicate()
    assert process.returncode == 0, f"{client} is left out: it ended with {process.returncode}"
    size, cost = output.split()
    assert int(size) == TOKENS * len(WORD), size
    return float(cost)


async def _path_cost(program: Program, name: str, tokens: int) -> float:
    """Microseconds of CPU per token, of a server that has answered a chat before."""
    async with running(program) as client:
        await client.begin()
        await client.answer(f"{name}:{WARM_UP}")
        before = cpu_seconds(client.pid)
        text = await client.answer(f"{name}:{tokens}")
        spent = cpu_seconds(client.pid) - before
        assert text == WORD * tokens
        return spent / tokens * 1e6
