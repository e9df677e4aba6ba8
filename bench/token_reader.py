"""`python token_reader.py CLIENT PORT TOKENS`: read a streamed answer with a vendor's client, print its cost.

The output is the number of characters and the microseconds of CPU per token. One process reads with one client, in an
environment that holds no other. They are the asynchronous ones, which a language server would use in our place.
"""

# ruff: noqa: PLC0415

import asyncio
import os
import sys
from collections.abc import Awaitable, Callable
from importlib import import_module
from time import process_time
from typing import Any, TypeAlias

WARM_UP = 500
"""Tokens of a first answer, in which everything is loaded and built that is needed once."""
MESSAGES: Any = [{"role": "user", "content": "Count."}]

Read: TypeAlias = Callable[[int], Awaitable[int]]
"""Reads an answer of so many tokens; the value is the number of its characters."""


def read_openai(port: int) -> Read:
    from openai import AsyncOpenAI

    client = AsyncOpenAI(base_url=f"http://127.0.0.1:{port}/v1", api_key="none")

    async def read(count: int) -> int:
        size = 0
        async for chunk in await client.chat.completions.create(model=str(count), messages=MESSAGES, stream=True):
            size += len(chunk.choices[0].delta.content or "")
        return size

    return read


def read_ollama(port: int) -> Read:
    from ollama import AsyncClient

    client: Any = AsyncClient(f"http://127.0.0.1:{port}")  # its methods are not typed

    async def read(count: int) -> int:
        size = 0
        async for part in await client.chat(str(count), MESSAGES, stream=True):
            size += len(part.message.content or "")
        return size

    return read


def read_litellm(port: int) -> Read:
    os.environ["LITELLM_LOCAL_MODEL_COST_MAP"] = "True"  # else it fetches one from the internet
    os.environ["REPEATED_STREAMING_CHUNK_LIMIT"] = "1000000000"  # else it ends an answer that says the same for long
    litellm: Any = import_module("litellm")  # it is in no environment that a type checker looks at

    async def read(count: int) -> int:
        size = 0
        address = f"http://127.0.0.1:{port}/v1"
        async for chunk in await litellm.acompletion(
            model=f"openai/{count}", messages=MESSAGES, stream=True, api_base=address, api_key="none"
        ):
            size += len(chunk.choices[0].delta.content or "")
        return size

    return read


CLIENTS = {"openai": read_openai, "ollama": read_ollama, "litellm": read_litellm}


async def main(client: str, port: int, tokens: int) -> tuple[int, float]:
    read = CLIENTS[client](port)
    await read(WARM_UP)
    before = process_time()
    size = await read(tokens)
    return size, (process_time() - before) / tokens * 1e6


if __name__ == "__main__":
    print(*asyncio.run(main(sys.argv[1], int(sys.argv[2]), int(sys.argv[3]))))
