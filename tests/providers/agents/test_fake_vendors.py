"""The fake of the three vendors, judged by the vendors' own clients."""

from __future__ import annotations

import anthropic
import openai
import pytest
from google import genai
from google.genai.types import HttpOptions

from tests.support.fake_vendors import ANSWER, CACHED, FRESH, OUTPUT, THOUGHT, FakeVendors


async def test_anthropics_client_reads_the_answer_and_its_usage() -> None:
    async with FakeVendors() as vendors, anthropic.AsyncAnthropic(base_url=vendors.url, api_key="dummy") as client:
        async with client.messages.stream(
            model="claude-any", max_tokens=9, messages=[{"role": "user", "content": "Hi"}]
        ) as stream:
            message = await stream.get_final_message()
        assert "".join(block.text for block in message.content if block.type == "text") == ANSWER
        assert (message.usage.input_tokens, message.usage.output_tokens) == (FRESH, OUTPUT)
        assert message.usage.cache_read_input_tokens == CACHED
        assert len(vendors.questions) == 1


async def test_openais_client_reads_the_answer_and_its_usage() -> None:
    async with FakeVendors() as vendors, openai.AsyncOpenAI(base_url=f"{vendors.url}/v1", api_key="dummy") as client:
        async with client.responses.stream(model="gpt-5-codex", input="Hi") as stream:
            response = await stream.get_final_response()
        assert response.output_text == ANSWER
        assert response.usage
        assert (response.usage.input_tokens, response.usage.output_tokens) == (FRESH + CACHED, OUTPUT)


@pytest.mark.filterwarnings("ignore:Inheritance class:DeprecationWarning")  # of their client, not of ours
async def test_googles_client_reads_the_answer_and_its_usage() -> None:
    async with FakeVendors() as vendors:
        client = genai.Client(api_key="dummy", http_options=HttpOptions(base_url=vendors.url))
        models = client.aio.models
        stream = await models.generate_content_stream(  # pyright: ignore[reportUnknownMemberType] (partly typed)
            model="gemini-2.5-flash", contents="Hi"
        )
        chunks = [chunk async for chunk in stream]
        await client.aio.aclose()
    assert "".join(chunk.text or "" for chunk in chunks) == ANSWER
    usage = chunks[-1].usage_metadata
    assert usage
    assert (usage.prompt_token_count, usage.thoughts_token_count) == (FRESH + CACHED, THOUGHT)
