"""The contract of every provider, over real servers, a third party's mock and our fake.

One module, one loop: each server and one provider for it serve all tests. `--backend NAME` chooses; what a server
cannot do is skipped, with the reason.
"""

from __future__ import annotations

import asyncio
import socket
from contextlib import aclosing, asynccontextmanager
from typing import TYPE_CHECKING, Any

import pytest

from ollm_lsp.core.completion import collect
from ollm_lsp.core.errors import (
    AuthenticationFailed,
    ConnectionFailed,
    ContextOverflow,
    ModelNotFound,
    ProviderError,
    Unsupported,
)
from ollm_lsp.core.events import Activity, Finished, FinishReason, TextDelta, ToolCalled, UsageReported
from ollm_lsp.core.messages import Image, Message, Role, Text
from ollm_lsp.core.model import ModelId
from ollm_lsp.core.ports import CountsTokens, ListsModels
from ollm_lsp.core.request import ChatRequest
from ollm_lsp.core.tool import OneTool, ToolCall, ToolChoice, ToolResult, ToolSpec
from ollm_lsp.core.usage import Usage
from tests.providers.contract.backend import Need
from tests.providers.listening import hear
from tests.support.pictures import png
from tests.support.relay import relay

if TYPE_CHECKING:
    from collections.abc import AsyncGenerator

    from ollm_lsp.core.events import ProviderEvent
    from ollm_lsp.core.ports import Provider
    from tests.providers.contract.conftest import Tested
    from tests.providers.listening import Heard

pytestmark = pytest.mark.asyncio(loop_scope="module")

PARIS = Message.user("What is the capital of France? Answer with one word.")
STORY = Message.user("Write a very long story about the sea, with many chapters.")
CITY: dict[str, Any] = {"city": {"type": "string", "enum": ["Paris"]}}
# With one word to choose from, even the smallest model gets the arguments right.
WEATHER = ToolSpec("get_weather", "The weather of a city", {"type": "object", "properties": CITY, "required": ["city"]})
CLOCK = ToolSpec("tell_time", "The time in a city", {"type": "object", "properties": CITY, "required": ["city"]})


def ask(tested: Tested, *messages: Message, **more: Any) -> ChatRequest:
    """A request whose answer is the same each time."""
    given: dict[str, Any] = {"max_tokens": 16, "temperature": 0.0, **more}
    return ChatRequest(tested.running.model, messages or (PARIS,), **given)


@asynccontextmanager
async def closing(provider: Provider) -> AsyncGenerator[Provider]:
    """A provider of a test's own, that it may end or mislead."""
    try:
        yield provider
    finally:
        await provider.close()


async def first_words(stream: AsyncGenerator[ProviderEvent]) -> TextDelta:
    async for event in stream:
        if isinstance(event, TextDelta):
            return event
    raise AssertionError("the answer has no text")


def counted(heard: Heard) -> Usage:
    """The last report, which replaces those before."""
    return [event.usage for event in heard.events if isinstance(event, UsageReported)][-1]


@pytest.mark.prop("core-4")
@pytest.mark.prop("core-10")
@pytest.mark.prop("eng-5")
async def test_an_answer_comes_in_pieces_then_its_usage_and_then_one_end(tested: Tested) -> None:
    heard = await hear(tested.provider.stream(ask(tested)))
    assert heard.error is None
    events = [event for event in heard.events if not isinstance(event, Activity)]
    texts = [at for at, event in enumerate(events) if isinstance(event, TextDelta)]
    assert len(texts) > 1
    assert max(texts) < len(events) - 2
    assert isinstance(events[-2], UsageReported)
    assert events[-1] == Finished(FinishReason.STOP)
    assert sum(isinstance(event, Finished) for event in events) == 1
    assert "Paris" in heard.text or "France" in heard.text


async def test_what_an_answer_took_is_counted(tested: Tested) -> None:
    tested.must(Need.USAGE)
    usage = counted(await hear(tested.provider.stream(ask(tested, max_tokens=4))))
    long = ask(tested, Message.system("Be kind. " * 10), PARIS, max_tokens=4)
    longer = counted(await hear(tested.provider.stream(long)))
    assert usage.input_tokens > 5
    assert usage.output_tokens > 1
    assert longer.input_tokens > usage.input_tokens + 10


@pytest.mark.prop("core-10")
async def test_a_whole_answer_is_the_stream_collected(tested: Tested) -> None:
    request = ask(tested, max_tokens=6)
    # The first answer fills the caches of a real server, so that the others are made the same way.
    await collect(tested.provider.stream(request))
    streamed = await collect(tested.provider.stream(request))
    whole = await tested.provider.complete(request)
    assert (whole.message, whole.finish_reason) == (streamed.message, streamed.finish_reason)
    assert (whole.usage.input_tokens, whole.usage.output_tokens) == (
        streamed.usage.input_tokens,
        streamed.usage.output_tokens,
    )
    assert whole.text


@pytest.mark.prop("core-10")
async def test_the_capabilities_are_those_of_the_model(tested: Tested) -> None:
    assert await tested.provider.capabilities(tested.running.model) == tested.running.capabilities


@pytest.mark.prop("core-11")
async def test_the_model_is_in_the_list(tested: Tested) -> None:
    tested.must(Need.MODELS)
    assert isinstance(tested.provider, ListsModels)
    models = await tested.provider.models()
    assert ModelId(tested.provider.name, tested.running.model) in [model.id for model in models]
    assert len({model.id for model in models}) == len(models)


async def test_the_cost_of_a_server_on_this_machine_is_known(tested: Tested) -> None:
    assert tested.provider.cost(tested.running.model, Usage(1000, 1000)) == tested.running.cost


@pytest.mark.prop("eng-7")
async def test_a_model_that_is_not_there_is_named_with_those_that_are(tested: Tested) -> None:
    tested.must(Need.MODEL_REFUSED)
    heard = await hear(tested.provider.stream(ChatRequest("no-such-model", (PARIS,))))
    assert isinstance(heard.error, ModelNotFound)
    assert "no-such-model" in heard.error.message
    assert tested.running.model in heard.error.available
    assert tested.running.model in heard.error.remedy


@pytest.mark.prop("eng-7")
async def test_a_wrong_key_is_refused_with_a_remedy(tested: Tested) -> None:
    tested.must(Need.KEY_REFUSED)
    async with closing(tested.running.provider(key="sk-wrong-key")) as provider:
        heard = await hear(provider.stream(ask(tested)))
    assert type(heard.error) is AuthenticationFailed
    assert heard.failure.status in {400, 401, 403}
    assert "apiKey" in heard.failure.remedy
    assert "sk-wrong-key" not in str(heard.failure)


@pytest.mark.prop("core-16")
@pytest.mark.prop("eng-7")
async def test_a_server_that_is_down_is_named_with_a_remedy(tested: Tested) -> None:
    tested.must(Need.ADDRESS)
    with socket.socket() as held:
        held.bind(("127.0.0.1", 0))
        port: int = held.getsockname()[1]
        async with closing(tested.running.provider(port=port)) as provider:
            heard = await hear(provider.stream(ask(tested)))
    assert type(heard.error) is ConnectionFailed
    assert f"127.0.0.1:{port}" in heard.failure.message
    assert heard.failure.remedy


@pytest.mark.prop("eng-7")
async def test_a_prompt_that_is_too_long_is_refused(tested: Tested) -> None:
    tested.must(Need.OVERFLOW_REFUSED)
    heard = await hear(tested.provider.stream(ask(tested, Message.user("word " * 3000))))
    assert type(heard.error) is ContextOverflow
    assert heard.failure.remedy


async def test_an_answer_ends_at_the_token_limit(tested: Tested) -> None:
    tested.must(Need.LIMIT)
    heard = await hear(tested.provider.stream(ask(tested, STORY, max_tokens=3)))
    assert heard.events[-1] == Finished(FinishReason.LENGTH)
    assert heard.text
    assert counted(heard).output_tokens in {0, 3, 4}


async def test_the_conversation_is_remembered(tested: Tested) -> None:
    history = (
        Message.system("Be brief."),
        Message.user("Tell me about Rome."),
        Message(Role.ASSISTANT, (Text("Rome is the capital of Italy."),)),
        Message.user("Tell me more about it."),
    )
    assert "Rome" in (await hear(tested.provider.stream(ask(tested, *history)))).text


async def test_half_characters_of_an_editor_do_no_harm(tested: Tested) -> None:
    heard = await hear(tested.provider.stream(ask(tested, Message.user("Say hi \ud83d"), max_tokens=4)))
    assert heard.error is None
    assert heard.text


@pytest.mark.threat("F35")
@pytest.mark.prop("core-5")
async def test_closing_the_stream_hangs_up_and_the_server_is_free_again(tested: Tested) -> None:
    tested.must(Need.ADDRESS)
    async with relay(tested.running.port) as between, closing(tested.running.provider(port=between.port)) as provider:
        with tested.running.slow():
            stream = provider.stream(ask(tested, STORY, max_tokens=None))
            await first_words(stream)
            await stream.aclose()
            await between.links[-1].hung_up.wait()
        assert (await provider.complete(ask(tested, max_tokens=4))).text


@pytest.mark.prop("core-5")
async def test_a_chat_that_is_cancelled_leaves_the_provider_as_it_was(tested: Tested) -> None:
    with tested.running.slow():
        heard = asyncio.Event()

        async def listen() -> None:
            async with aclosing(tested.provider.stream(ask(tested, STORY, max_tokens=None))) as stream:
                await first_words(stream)
                heard.set()
                async for _ in stream:
                    pass

        chat = asyncio.ensure_future(listen())
        await heard.wait()
        chat.cancel()
        with pytest.raises(asyncio.CancelledError):
            await chat
    assert (await tested.provider.complete(ask(tested, max_tokens=4))).text


@pytest.mark.prop("eng-6")
async def test_one_provider_serves_many_chats_at_once(tested: Tested) -> None:
    questions = [Message.user(f"Repeat {number}.") for number in range(4)]
    heard = await asyncio.gather(*(hear(tested.provider.stream(ask(tested, one, max_tokens=4))) for one in questions))
    assert [one.error for one in heard] == [None] * 4
    assert all(isinstance(one.events[-1], Finished) and one.text for one in heard)


@pytest.mark.prop("eng-6")
async def test_closing_the_provider_ends_its_chats(tested: Tested) -> None:
    async with closing(tested.running.provider()) as provider:
        with tested.running.slow():
            stream = provider.stream(ask(tested, STORY, max_tokens=None))
            await first_words(stream)
            await provider.close()
            assert isinstance((await hear(stream)).error, ProviderError)
        assert isinstance((await hear(provider.stream(ask(tested)))).error, ProviderError)


@pytest.mark.prop("core-6")
async def test_a_tool_is_called_and_its_result_is_understood(tested: Tested) -> None:
    tested.must(Need.TOOLS)
    question = Message.user("What is the weather in Paris?")
    asked = ask(tested, question, tools=(WEATHER,), tool_choice=ToolChoice.REQUIRED, max_tokens=200)
    async with closing(tested.running.calling()) as provider:
        calls = await called_by(provider, asked)
    # A small model likes to call twice; that is as good.
    assert {(call.name, call.arguments["city"]) for call in calls} == {("get_weather", "Paris")}
    assert len({call.id for call in calls}) == len(calls)
    results = tuple(ToolResult(call.id, call.name, "It is sunny, 21 degrees.") for call in calls)
    answer = Message(Role.ASSISTANT, tuple(calls))
    second = ask(tested, question, answer, Message(Role.TOOL, results), tools=(WEATHER,), max_tokens=4)
    heard = await hear(tested.provider.stream(second))
    assert heard.error is None
    assert heard.text or any(isinstance(event, ToolCalled) for event in heard.events)


async def called_by(provider: Provider, request: ChatRequest) -> list[ToolCall]:
    """The calls of an answer that is nothing else."""
    heard = await hear(provider.stream(request))
    assert heard.events[-1] == Finished(FinishReason.TOOL_USE)
    return [event.call for event in heard.events if isinstance(event, ToolCalled)]


async def test_the_tool_that_is_named_is_called(tested: Tested) -> None:
    tested.must(Need.TOOLS, Need.TOOL_NAMED)
    question = Message.user("What is the weather in Paris?")
    named = ask(tested, question, tools=(WEATHER, CLOCK), tool_choice=OneTool(CLOCK.name), max_tokens=200)
    assert {call.name for call in await called_by(tested.provider, named)} == {CLOCK.name}


async def test_no_tool_is_called_where_none_may_be(tested: Tested) -> None:
    tested.must(Need.TOOLS)
    question = Message.user("What is the weather in Paris?")
    forbidden = ask(tested, question, tools=(WEATHER,), tool_choice=ToolChoice.NONE, max_tokens=4)
    heard = await hear(tested.provider.stream(forbidden))
    assert heard.error is None
    assert not any(isinstance(event, ToolCalled) for event in heard.events)
    assert heard.text


async def test_an_image_is_seen_or_refused_before_it_is_sent(tested: Tested) -> None:
    request = ask(tested, Message.user("What is this?", Image("image/png", png())))
    capabilities = await tested.provider.capabilities(tested.running.model)
    if not capabilities.vision:
        with pytest.raises(Unsupported):
            request.check(capabilities)
    tested.must(Need.VISION)
    heard = await hear(tested.provider.stream(request))
    assert heard.error is None
    assert heard.text


@pytest.mark.prop("core-22")
async def test_the_tokens_that_are_counted_before_are_those_that_are_used(tested: Tested) -> None:
    tested.must(Need.COUNT)
    assert isinstance(tested.provider, CountsTokens)
    history = (Message.system("Be brief."), PARIS, Message(Role.ASSISTANT, (Text("Paris."),)), Message.user("Sure? 😀"))
    for request in (ask(tested, max_tokens=1), ask(tested, *history, max_tokens=1)):
        # First the answer: a model that is not loaded cannot count.
        used = counted(await hear(tested.provider.stream(request))).input_tokens
        assert await tested.provider.count(request) == used
