"""Faults that a third party makes, in the formats of three clouds: what the chat hears, and how often it was tried."""

from __future__ import annotations

from contextlib import asynccontextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import pytest

from ollm_lsp.core.errors import (
    AuthenticationFailed,
    ContextOverflow,
    IncompleteAnswer,
    MalformedAnswer,
    ModelNotFound,
    ProviderError,
    RateLimited,
    ServerFailed,
)
from ollm_lsp.core.events import Finished, TextDelta, ToolCalled, UsageReported, Warned
from ollm_lsp.core.messages import Message
from ollm_lsp.core.request import ChatRequest
from ollm_lsp.core.tool import ToolChoice, ToolSpec
from ollm_lsp.providers.anthropic import AnthropicProvider
from ollm_lsp.providers.google import GoogleProvider
from ollm_lsp.providers.openai import OpenAIProvider
from ollm_lsp.settings.resolved import AnthropicSettings, GoogleSettings, OpenAISettings
from ollm_lsp.settings.secrets import Secret
from tests.providers.listening import hear
from tests.support.llmock import CONTEXT, LLMock, llmock

if TYPE_CHECKING:
    from collections.abc import AsyncGenerator, Callable, Generator

    from ollm_lsp.core.ports import Provider
    from tests.providers.listening import Heard

RETRIES = 3
QUESTION = Message.user("Tell me a story about the sea, the wind and a small boat.")
PLACE: dict[str, Any] = {"type": "object", "properties": {"place": {"type": "string"}}, "required": ["place"]}
TOOL = ToolSpec("look_around", "Look around in a place with a long description", PLACE)


@dataclass(frozen=True)
class Format:
    """One cloud's format: a provider at a port, a model, and the path of its chats."""

    build: Callable[[str], Provider]
    model: str
    path: str


def _openai(url: str) -> Provider:
    return OpenAIProvider(OpenAISettings("cloud", f"{url}/v1", api_key=Secret("sk-any"), max_retries=RETRIES))


def _anthropic(url: str) -> Provider:
    settings = AnthropicSettings("cloud", f"{url}/anthropic", api_key=Secret("sk-any"), max_retries=RETRIES)
    return AnthropicProvider(settings)


def _google(url: str) -> Provider:
    return GoogleProvider(
        GoogleSettings("cloud", f"{url}/gemini/v1beta", api_key=Secret("sk-any"), max_retries=RETRIES)
    )


FORMATS = {
    "openai": Format(_openai, "gpt-4o", "/v1/chat/completions"),
    "anthropic": Format(_anthropic, "claude-opus-4-6", "/anthropic/v1/messages"),
    "google": Format(_google, "gemini-2.5-pro", "/gemini/v1beta/models/gemini-2.5-pro:streamGenerateContent"),
}
every_format = pytest.mark.parametrize("cloud", FORMATS.values(), ids=FORMATS)


@pytest.fixture(scope="module")
def mock() -> Generator[LLMock]:
    with llmock() as running:
        yield running


@asynccontextmanager
async def talking(mock: LLMock, cloud: Format) -> AsyncGenerator[Provider]:
    provider = cloud.build(f"http://127.0.0.1:{mock.port}")
    try:
        # What it asks once about its model is no part of the tests.
        await provider.capabilities(cloud.model)
        yield provider
    finally:
        await provider.close()


async def hear_after(mock: LLMock, cloud: Format, *behaviors: dict[str, Any], **more: Any) -> Heard:
    """What is heard when the mock behaves like this."""
    async with talking(mock, cloud) as provider:
        mock.will(*behaviors)
        return await hear(provider.stream(ChatRequest(cloud.model, (QUESTION,), **more)))


def attempts(mock: LLMock, cloud: Format) -> int:
    return sum(request["path"] == cloud.path for request in mock.requests())


def fail(status: int, **more: Any) -> dict[str, Any]:
    """Every chat fails, until something else is said; lists of models do not."""
    return {"type": "fail", "status": status, "times": None, "match": {"stream": True}, **more}


def broken(kind: str, after: int) -> dict[str, Any]:
    return {"type": "stream_fault", "kind": kind, "after_chunks": after, "times": None}


@pytest.mark.threat("F4")
@pytest.mark.prop("core-28")
@every_format
@pytest.mark.parametrize("kind", ["truncate", "disconnect"])
async def test_a_stream_that_ends_too_early_is_incomplete_and_is_not_sent_again(
    kind: str, cloud: Format, mock: LLMock
) -> None:
    heard = await hear_after(mock, cloud, broken(kind, after=6))
    assert type(heard.error) is IncompleteAnswer
    assert heard.failure.remedy
    assert heard.text
    assert not any(isinstance(event, Finished) for event in heard.events)
    assert attempts(mock, cloud) == 1


@pytest.mark.threat("F4")
@pytest.mark.prop("core-28")
@every_format
async def test_a_tool_call_that_is_cut_anywhere_is_never_made(cloud: Format, mock: LLMock) -> None:
    more: dict[str, Any] = {"tools": (TOOL,), "tool_choice": ToolChoice.REQUIRED}
    whole = await hear_after(mock, cloud, **more)
    assert [event.call.name for event in whole.events if isinstance(event, ToolCalled)] == [TOOL.name]
    sent = mock.requests()[-1]["chunks_sent"]
    for after in range(1, sent):
        heard = await hear_after(mock, cloud, {**broken("truncate", after), "times": 1}, **more)
        is_whole = heard.error is None and heard.events[-1] == whole.events[-1]
        assert is_whole or not any(isinstance(event, ToolCalled | Finished) for event in heard.events), after
        assert is_whole or type(heard.error) is IncompleteAnswer, after
        # Only what comes after the terminal signal may be missing.
        assert not is_whole or after >= sent - 2, after


@every_format
async def test_a_stream_that_cannot_be_read_is_malformed(cloud: Format, mock: LLMock) -> None:
    heard = await hear_after(mock, cloud, broken("malformed", after=5))
    assert type(heard.error) is MalformedAnswer
    assert not any(isinstance(event, Finished) for event in heard.events)


@pytest.mark.threat("F16")
@pytest.mark.prop("eng-7")
@every_format
async def test_too_many_requests_are_sent_again_three_times_and_then_given_up(cloud: Format, mock: LLMock) -> None:
    heard = await hear_after(mock, cloud, fail(429, retry_after=0))
    assert type(heard.error) is RateLimited
    assert (heard.failure.status, heard.failure.retry_after) == (429, 0.0)
    assert [type(event) for event in heard.events] == [Warned] * RETRIES
    assert attempts(mock, cloud) == 1 + RETRIES


@every_format
async def test_a_request_that_is_accepted_in_the_end_is_an_answer(cloud: Format, mock: LLMock) -> None:
    heard = await hear_after(mock, cloud, fail(429, retry_after=0) | {"times": 2})
    assert heard.error is None
    told = [type(event) for event in heard.events if not isinstance(event, UsageReported)]
    assert told[:3] == [Warned, Warned, TextDelta]
    assert attempts(mock, cloud) == 3
    assert mock.verdict()["passed"]


@every_format
async def test_a_server_that_wants_an_hour_is_not_waited_for(cloud: Format, mock: LLMock) -> None:
    heard = await hear_after(mock, cloud, fail(429, retry_after=3600))
    assert type(heard.error) is RateLimited
    assert heard.failure.retry_after == 3600
    assert attempts(mock, cloud) == 1


REFUSALS: dict[str, tuple[dict[str, Any], type[ProviderError], int]] = {
    "key": (fail(401), AuthenticationFailed, 1),
    "rights": (fail(403), AuthenticationFailed, 1),
    "model": (fail(404, message="The model does not exist."), ModelNotFound, 1),
    # What says nothing of a model is not mended by another one.
    "address": (fail(404), MalformedAnswer, 1),
    "overloaded": (fail(529, retry_after=0), ServerFailed, 1 + RETRIES),
    "unavailable": (fail(503, retry_after=0), ServerFailed, 1 + RETRIES),
}


@pytest.mark.threat("F16")
@pytest.mark.prop("eng-7")
@every_format
@pytest.mark.parametrize(("behavior", "error", "tries"), REFUSALS.values(), ids=REFUSALS)
async def test_a_refusal_has_its_own_error_and_number_of_attempts(
    behavior: dict[str, Any], error: type[ProviderError], tries: int, cloud: Format, mock: LLMock
) -> None:
    heard = await hear_after(mock, cloud, behavior)
    assert type(heard.error) is error
    assert heard.failure.remedy
    assert attempts(mock, cloud) == tries


@pytest.mark.threat("F15")
@pytest.mark.prop("eng-7")
@every_format
async def test_a_prompt_beyond_the_window_is_refused_once(cloud: Format, mock: LLMock) -> None:
    async with talking(mock, cloud) as provider:
        mock.will()
        long = Message.user("word " * CONTEXT)
        heard = await hear(provider.stream(ChatRequest(cloud.model, (long,))))
    assert type(heard.error) is ContextOverflow
    assert heard.failure.status == 400
    assert attempts(mock, cloud) == 1
