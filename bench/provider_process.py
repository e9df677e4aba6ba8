"""The fake provider as a process of its own."""

import asyncio
import sys
from asyncio.subprocess import PIPE
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager

from bench.program import HERE


@asynccontextmanager
async def provider() -> AsyncGenerator[int]:
    """Run the fake provider; the value is its port."""
    process = await asyncio.create_subprocess_exec(sys.executable, "-I", str(HERE / "fake_provider.py"), stdout=PIPE)
    assert process.stdout
    try:
        yield int(await process.stdout.readline())
    finally:
        process.terminate()
        await process.wait()
