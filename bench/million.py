"""The server's memory while a million tokens stream through it."""

from collections import defaultdict
from statistics import linear_regression
from typing import Any

from bench.client import running
from bench.effort import Effort
from bench.fake_provider import WORD
from bench.figure import Figure, Findings, growth
from bench.meter import memory_megabytes
from bench.program import ollm_lsp, settings_for
from bench.provider_process import provider

TOKENS = 1_000_000
STEP = 10_000
WARM_UP = 200_000
"""Tokens before the first that counts: until then the interpreter and SQLite fill their caches."""
PER = 100_000


async def measure(effort: Effort) -> Findings:
    count = TOKENS if effort.is_full else TOKENS // 2
    sizes: dict[int, float] = {}
    tokens = 0

    def hear(_token: Any, value: Any, _arrived: float) -> None:
        nonlocal tokens
        if value.get("type") == "text":
            tokens += len(value["text"]) // len(WORD)
            if tokens >= (len(sizes) + 1) * STEP:
                sizes[tokens] = memory_megabytes(client.pid)

    async with provider() as port:
        with ollm_lsp(settings=settings_for(port)) as program:
            async with running(program) as client:
                await client.begin()
                client.heard = hear
                assert await client.answer(f"bench:{count}") == WORD * count
    return Findings(
        [Figure(f"growth per {PER:,} tokens", "MB", _slopes(sizes, count), goal=1, binding=True)],
        [growth("memory", "tokens", "MB", _decades(sizes))],
        notes=[f"The text itself is {PER * len(WORD) / 1e6:g} MB of that growth."],
    )


def _slopes(sizes: dict[int, float], count: int) -> list[float]:
    """The growth over everything that counts, and over its halves, so that the spread can be seen."""
    middle = (WARM_UP + count) // 2
    slopes: list[float] = []
    for first, last in ((WARM_UP, count), (WARM_UP, middle), (middle, count)):
        within = {tokens: size for tokens, size in sizes.items() if first <= tokens <= last}
        slopes.append(linear_regression(list(within), list(within.values())).slope * PER)
    return slopes


def _decades(sizes: dict[int, float]) -> dict[int, list[float]]:
    """What was measured about every tenth part of the stream."""
    decades: defaultdict[int, list[float]] = defaultdict(list)
    for tokens, size in sizes.items():
        decades[-(-tokens // PER) * PER].append(size)
    return {tokens: samples for tokens, samples in decades.items() if len(samples) > 1}
