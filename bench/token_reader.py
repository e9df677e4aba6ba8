"""`python -m bench.token_reader CLIENT PORT TOKENS`: read a streamed answer, print the microseconds of CPU per token.

One process reads with one client and loads no other. Those of the vendors are the asynchronous ones, which a language
server would use in our place.
"""

# ruff: noqa: PLC0415

import asyncio
import sys
from collections.abc import AsyncGenerator, Awaitable, Callable
from contextlib import asynccontextmanager
from time import process_time
from typing import TYPE_CHECKING, Any, TypeAlias

from bench.fake_provider import WORD

if TYPE_CHECKING:
    from ollm_lsp.core.ports import Provider

WARM_UP = 500
"""Tokens of a first answer, in which everything is loaded and built that is needed once."""
QUESTION = "Count."

Read: TypeAlias = Callable[[int], Awaitable[int]]
"""Reads an answer of so many tokens; the value is the number of its characters."""


@asynccontextmanager
async def official_openai(port: int) -> AsyncGenerator[Read]:
    from openai import AsyncOpenAI

    async with AsyncOpenAI(base_url=f"http://127.0.0.1:{port}/v1", api_key="none") as client:

        async def read(count: int) -> int:
            size = 0
            async for chunk in await client.chat.completions.create(
                model=str(count), messages=[{"role": "user", "content": QUESTION}], stream=True
            ):
                size += len(chunk.choices[0].delta.content or "")
            return size

        yield read


@asynccontextmanager
async def official_ollama(port: int) -> AsyncGenerator[Read]:
    from ollama import AsyncClient

    session: Any = AsyncClient(f"http://127.0.0.1:{port}")  # it has no types as a context manager
    async with session as client:

        async def read(count: int) -> int:
            size = 0
            async for part in await client.chat(str(count), [{"role": "user", "content": QUESTION}], stream=True):
                size += len(part.message.content or "")
            return size

        yield read


@asynccontextmanager
async def our_openai(port: int) -> AsyncGenerator[Read]:
    from ollm_lsp.providers.openai import OpenAIProvider
    from ollm_lsp.settings.resolved import OpenAISettings

    provider = OpenAIProvider(OpenAISettings("bench", f"http://127.0.0.1:{port}/v1"))
    yield _reading(provider)
    await provider.close()


@asynccontextmanager
async def our_ollama(port: int) -> AsyncGenerator[Read]:
    from ollm_lsp.providers.ollama import OllamaProvider
    from ollm_lsp.settings.resolved import OllamaSettings

    provider = OllamaProvider(OllamaSettings("bench", f"http://127.0.0.1:{port}"))
    yield _reading(provider)
    await provider.close()


CLIENTS = {client.__name__: client for client in (official_openai, official_ollama, our_openai, our_ollama)}


def _reading(provider: "Provider") -> Read:
    from ollm_lsp.core.events import TextDelta
    from ollm_lsp.core.messages import Message
    from ollm_lsp.core.request import ChatRequest

    async def read(count: int) -> int:
        size = 0
        async for event in provider.stream(ChatRequest(str(count), (Message.user(QUESTION),))):
            if isinstance(event, TextDelta):
                size += len(event.text)
        return size

    return read


async def main(client: str, port: int, tokens: int) -> float:
    async with CLIENTS[client](port) as read:
        await read(WARM_UP)
        before = process_time()
        size = await read(tokens)
        spent = process_time() - before
        assert size == tokens * len(WORD), size
        return spent / tokens * 1e6


if __name__ == "__main__":
    print(asyncio.run(main(sys.argv[1], int(sys.argv[2]), int(sys.argv[3]))))
