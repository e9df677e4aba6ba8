"""The obvious way to build a chat server: pygls and the openai client, with a notification for every token."""

import os
from typing import Any

from lsprotocol.types import ProgressParams
from openai import AsyncOpenAI
from pygls.lsp.server import LanguageServer

server = LanguageServer("naive", "0")
client = AsyncOpenAI(base_url=os.environ["BENCH_URL"], api_key="none")


@server.feature("ollm/chat/send")
async def send(ls: LanguageServer, params: Any) -> dict[str, str]:
    model = params.model.partition(":")[2]
    text = ""
    stream = await client.chat.completions.create(
        model=model, messages=[{"role": "user", "content": params.text}], stream=True
    )
    async for chunk in stream:
        delta = chunk.choices[0].delta.content or ""
        text += delta
        value = {"type": "text", "text": delta}
        ls.progress(ProgressParams(params.partialResultToken, value))
    return {"text": text}


server.start_io()
