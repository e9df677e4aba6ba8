"""Cold start: from the spawn of the process to its answer to `initialize`."""

import asyncio
from dataclasses import dataclass
from statistics import median

from bench.client import running
from bench.meter import cpu_seconds, memory_megabytes
from bench.program import BARE, Program, ollm_lsp, settings_for
from bench.report import Figure, Reference

ROUNDS = 12
MEMORY_ROUNDS = 3
"""Of the last rounds: each takes a second to come to rest."""


@dataclass(frozen=True)
class Start:
    """One start: seconds of CPU and wall time, megabytes of memory where they were looked at."""

    cpu: float
    wall: float
    memory: float | None


async def measure() -> list[Figure]:
    ours: list[Start] = []
    bare: list[Start] = []
    with_settings: list[Start] = []
    with ollm_lsp() as new, ollm_lsp(settings=settings_for(port=9)) as settled:
        for number in range(ROUNDS):
            with_memory = number >= ROUNDS - MEMORY_ROUNDS
            ours.append(await _start(new, with_memory=with_memory))
            bare.append(await _start(BARE, with_memory=with_memory))
            if with_memory:
                with_settings.append(await _start(settled, with_memory=True))
    ours, bare = ours[1:], bare[1:]
    memory = _reference([start.memory for start in bare if start.memory])
    return [
        _figure(
            "CPU to the initialize answer",
            "ms",
            [start.cpu * 1e3 for start in ours],
            _reference([start.cpu * 1e3 for start in bare]),
            goal=0.50,
            binding=True,
        ),
        _figure(
            "wall time to the initialize answer",
            "ms",
            [start.wall * 1e3 for start in ours],
            _reference([start.wall * 1e3 for start in bare]),
        ),
        _figure(
            "memory 1 s after initialized", "MB", [start.memory for start in ours if start.memory], memory, goal=0.75
        ),
        _figure(
            "the same with a settings file", "MB", [start.memory for start in with_settings if start.memory], memory
        ),
    ]


def _reference(samples: list[float]) -> Reference:
    return Reference(BARE.name, median(samples), samples)


def _figure(
    name: str,
    unit: str,
    samples: list[float],
    reference: Reference,
    goal: float | None = None,
    *,
    binding: bool = False,
) -> Figure:
    return Figure(name, median(samples), unit, samples, reference=reference, goal=goal, binding=binding)


async def _start(program: Program, *, with_memory: bool) -> Start:
    async with running(program) as client:
        answer = await client.initialize()
        cpu = cpu_seconds(client.pid)
        client.initialized()
        if with_memory:
            await asyncio.sleep(1.0)
        return Start(cpu, answer.arrived - client.began, memory_megabytes(client.pid) if with_memory else None)
