"""The server's memory while a million tokens stream through it."""

from statistics import linear_regression
from typing import Any

from bench.client import running
from bench.fake_provider import WORD
from bench.meter import memory_megabytes, settle
from bench.program import ollm_lsp, settings_for
from bench.provider_process import provider
from bench.report import Figure

TOKENS = 1_000_000
STEP = 10_000
WARM_UP = 200_000
"""Tokens before the first that counts: until then the interpreter and SQLite fill their caches."""
PER = 100_000


async def measure() -> list[Figure]:
    async with provider() as port:
        with ollm_lsp(settings=settings_for(port)) as program:
            async with running(program) as client:
                await client.initialize()
                client.initialized()
                await settle(client.pid)
                sizes: dict[int, float] = {}
                tokens = 0

                def hear(value: Any, _arrived: float) -> None:
                    nonlocal tokens
                    if value.get("type") == "text":
                        tokens += len(value["text"]) // len(WORD)
                        if tokens >= (len(sizes) + 1) * STEP:
                            sizes[tokens] = memory_megabytes(client.pid)

                client.heard = hear
                params = {"text": "Count.", "model": f"bench:{TOKENS}", "partialResultToken": "stream"}
                answer = await client.ask("ollm/chat/send", params)
                assert answer.message["result"]["text"] == WORD * TOKENS
    counted = {tokens: size for tokens, size in sizes.items() if tokens >= WARM_UP}
    slope = linear_regression(list(counted), list(counted.values())).slope
    return [
        Figure(
            f"growth per {PER:,} tokens, beyond their text",
            slope * PER - PER * len(WORD) / 1e6,
            "MB",
            goal=1,
            binding=True,
        ),
        Figure(f"after {WARM_UP:,} tokens", next(iter(counted.values())), "MB"),
        Figure("at the end of a million", max(counted.values()), "MB"),
    ]
