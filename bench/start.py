"""Cold start: from the spawn of the process to its answer to `initialize`, and to the first token of a chat."""

import asyncio
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

from bench.client import running
from bench.effort import Effort
from bench.figure import Figure, Findings, Reference
from bench.meter import family_cpu_seconds, family_memory_megabytes
from bench.peers import NAIVE, OTHERS, PYGLS, installed
from bench.program import Program, ollm_lsp, settings_for
from bench.provider_process import provider

ROUNDS = 11
PATIENCE = 60.0
"""Seconds for a peer to answer: one that does not is left out."""
REST = 1.0
"""Seconds after `initialized` until a server is called idle."""
CPU_GOALS = {PYGLS.name: 0.40, "copilot-language-server": 0.20}
MEMORY_GOALS = {PYGLS.name: 0.80}


@dataclass(frozen=True)
class Start:
    """One start: milliseconds of CPU and of wall time, and megabytes of memory."""

    cpu: float
    wall: float
    memory: float


async def measure(effort: Effort) -> Findings:
    notes: list[str] = []
    peers = await installed([PYGLS, *OTHERS] if effort.is_full else [PYGLS], notes)
    with ollm_lsp() as ours:
        programs = [ours, *[peer for peer in peers if await _starts(peer, notes)]]
        starts = await effort.interleaved(ROUNDS, {program.name: partial(_start, program) for program in programs})
    mine = starts.pop(ours.name)
    figures = [
        *_compared("CPU to initialize", "ms", "cpu", mine, starts, CPU_GOALS),
        *_compared("idle memory", "MB", "memory", mine, starts, MEMORY_GOALS),
        *_compared("wall time to initialize", "ms", "wall", mine, starts, {}),
    ]
    return Findings([*figures, *await _first_tokens(effort, notes)], notes=notes)


async def _starts(peer: Program, notes: list[str]) -> bool:
    try:
        await _start(peer)
    except (OSError, EOFError, AssertionError) as error:
        notes.append(f"{peer.name} is left out: it does not start here ({type(error).__name__} {error})")
        return False
    return True


def _compared(
    name: str,
    unit: str,
    what: str,
    ours: Sequence[Start],
    others: Mapping[str, Sequence[Start]],
    goals: Mapping[str, float],
) -> list[Figure]:
    def of(starts: Sequence[Start]) -> list[float]:
        return [getattr(start, what) for start in starts]

    return [
        Figure(name, unit, of(ours), Reference(peer, of(starts)), goals.get(peer), binding=peer in goals)
        for peer, starts in others.items()
    ]


async def _start(program: Program) -> Start:
    async with running(program) as client:
        answer = await asyncio.wait_for(client.initialize(), PATIENCE)
        cpu = family_cpu_seconds(client.pid)
        client.initialized()
        await asyncio.sleep(REST)
        return Start(cpu * 1e3, (answer.arrived - client.began) * 1e3, family_memory_megabytes(client.pid))


async def _first_tokens(effort: Effort, notes: list[str]) -> list[Figure]:
    """Against the obvious server, which has no settings, no context, no tools and no store to look at."""
    async with provider() as port:
        naive = await installed([NAIVE], notes)
        with ollm_lsp(settings=settings_for(port)) as ours:
            programs = [ours, *(peer.asking(port) for peer in naive)]
            samples = await effort.interleaved(
                ROUNDS, {program.name: partial(_first_token, program) for program in programs}
            )
    mine = samples.pop(ours.name)
    return [
        *_compared("CPU to the first token", "ms", "cpu", mine, samples, {}),
        *_compared("wall time to the first token", "ms", "wall", mine, samples, {}),
    ]


async def _first_token(program: Program) -> Start:
    async with running(program) as client:
        heard: asyncio.Future[Start] = asyncio.get_running_loop().create_future()

        def hear(_token: Any, value: Any, arrived: float) -> None:
            if value.get("type") == "text" and not heard.done():
                cpu, memory = family_cpu_seconds(client.pid), family_memory_megabytes(client.pid)
                heard.set_result(Start(cpu * 1e3, (arrived - client.began) * 1e3, memory))

        client.heard = hear
        await client.initialize()
        client.initialized()
        _, answer = client.chat("bench:1")
        await asyncio.wait([heard, answer], timeout=PATIENCE, return_when=asyncio.FIRST_COMPLETED)
        assert heard.done(), f"{program.name} sent no token"
        return heard.result()
