"""The Ollama provider against the fake that the official client has judged."""

from __future__ import annotations

import asyncio
import json
from contextlib import asynccontextmanager
from typing import TYPE_CHECKING, Any

import pytest

from ollm_lsp.core.errors import (
    ConnectionFailed,
    ContextOverflow,
    IncompleteAnswer,
    ModelNotFound,
    ServerFailed,
)
from ollm_lsp.core.events import (
    Finished,
    FinishReason,
    ReasoningDelta,
    TextDelta,
    ToolCalled,
    UsageReported,
    Warned,
)
from ollm_lsp.core.messages import Image, Message, Role
from ollm_lsp.core.model import Capabilities, ModelId, ModelInfo
from ollm_lsp.core.ports import ListsModels
from ollm_lsp.core.request import ChatRequest
from ollm_lsp.core.tool import ToolCall, ToolResult, ToolSpec
from ollm_lsp.core.usage import FREE, UNKNOWN_COST, Usage
from ollm_lsp.providers.ollama import OllamaProvider
from ollm_lsp.settings.resolved import OllamaSettings
from tests.providers.listening import hear
from tests.providers.vendors import OLLAMA
from tests.support.fake_ollama import Call, Die, Done, Fail, FakeOllama, Model, Say, Think, words
from tests.support.http_server import HttpServer

if TYPE_CHECKING:
    from collections.abc import AsyncGenerator

    from tests.support.fake_ollama import Step
    from tests.support.http_server import Request, Responder

MODEL = "smollm2:135m"
STOP = Finished(FinishReason.STOP)


@asynccontextmanager
async def provider(url: str, keep_alive: str | None = None) -> AsyncGenerator[OllamaProvider]:
    ollama = OllamaProvider(OllamaSettings("ollama", url, keep_alive=keep_alive))
    try:
        yield ollama
    finally:
        await ollama.close()


def ask(text: str = "Hello there", model: str = MODEL, **more: Any) -> ChatRequest:
    return ChatRequest(model, (Message.user(text),), **more)


@pytest.mark.prop("core-15")
async def test_a_chat_streams_thoughts_text_and_usage_in_order() -> None:
    steps: list[Step] = [Think("Hm"), Say("Hé"), Say("llo")]
    async with FakeOllama(answer=lambda _: steps) as fake, provider(fake.url) as ollama:
        heard = await hear(ollama.stream(ask()))
    usage = UsageReported(Usage(7, 4))
    assert heard.events == [ReasoningDelta("Hm"), TextDelta("Hé"), TextDelta("llo"), usage, STOP]


async def test_tools_are_offered_called_and_answered() -> None:
    tool = ToolSpec("read", "Read a file", {"type": "object", "properties": {"path": {"type": "string"}}})

    def answer(request: dict[str, Any]) -> list[Step]:
        last = request["messages"][-1]
        return words(f"It says {last['content']}.") if last["role"] == "tool" else [Call("read", {"path": "a.py"})]

    async with FakeOllama(answer=answer) as fake, provider(fake.url) as ollama:
        first = await hear(ollama.stream(ask(tools=(tool,))))
        call = ToolCall("call_fake0001", "read", {"path": "a.py"})
        assert first.events == [ToolCalled(call), UsageReported(Usage(47, 2)), Finished(FinishReason.TOOL_USE)]
        history = (
            Message.user("Read it."),
            Message(Role.ASSISTANT, (call,)),
            Message(Role.TOOL, (ToolResult(call.id, call.name, "x = 1"),)),
        )
        assert (await hear(ollama.stream(ChatRequest(MODEL, history, (tool,))))).text == "It says x = 1."
    assert fake.bodies()[0]["tools"][0]["function"]["parameters"] == tool.parameters


async def test_the_token_limit_ends_an_answer_with_length() -> None:
    async with FakeOllama(answer=lambda _: words("one two three")) as fake, provider(fake.url) as ollama:
        heard = await hear(ollama.stream(ask(max_tokens=2)))
    assert (heard.text, heard.events[-1]) == ("one two", Finished(FinishReason.LENGTH))
    assert fake.bodies()[0]["options"]["num_predict"] == 2


@pytest.mark.parametrize(
    ("characters", "max_tokens", "context_length", "num_ctx"),
    [
        (10, None, 8192, 4096),
        (10, None, 2048, 2048),
        (4 * 4096, None, 131_072, 16_384),
        (4 * 20_000, None, 131_072, 32_768),
        (10, 5000, 131_072, 8192),
        (4 * 7000, None, 8192, 8192),
    ],
)
async def test_the_context_holds_the_request_and_its_answer_in_large_steps(
    characters: int, max_tokens: int | None, context_length: int, num_ctx: int
) -> None:
    async with FakeOllama([Model(MODEL, context_length)]) as fake, provider(fake.url) as ollama:
        assert (await hear(ollama.stream(ask("x" * characters, max_tokens=max_tokens)))).error is None
    assert fake.bodies()[0]["options"]["num_ctx"] == num_ctx


@pytest.mark.threat("F15")
async def test_a_prompt_that_is_too_long_is_refused_and_not_cut() -> None:
    async with FakeOllama([Model(MODEL, 2048)]) as fake, provider(fake.url) as ollama:
        heard = await hear(ollama.stream(ask("word " * 5_000)))
    assert type(heard.error) is ContextOverflow
    assert (heard.events, heard.failure.status) == ([], 400)


def cutting(seen: int) -> HttpServer:
    """An Ollama that tells how much it has read of a prompt."""

    async def chat(_: Request, responder: Responder) -> None:
        end = json.dumps({"done": True, "done_reason": "stop", "prompt_eval_count": seen, "eval_count": 1})
        await OLLAMA.streams(responder, OLLAMA.text, f"{end}\n")
        await responder.end()

    return HttpServer(OLLAMA.serving(chat))


@pytest.mark.threat("F15")
@pytest.mark.parametrize(
    ("characters", "seen", "is_cut"),
    [
        (20_000, 2048, True),
        (20_000, 2502, False),  # no usual text has so few tokens, but some have
        (20_000, 5000, False),
        (20_000, 0, False),  # nothing is told
        (3_000, 100, False),  # too short to tell
    ],
)
async def test_the_user_hears_of_a_prompt_that_was_cut(characters: int, seen: int, is_cut: bool) -> None:
    async with cutting(seen) as server, provider(server.url) as ollama:
        heard = await hear(ollama.stream(ask("x" * characters)))
    warnings = [event for event in heard.events if isinstance(event, Warned)]
    assert heard.events[-1] == STOP
    assert [warning.code for warning in warnings] == ["prompt_cut"] * is_cut
    if is_cut:
        assert "2,048 tokens of about 5,004" in warnings[0].message
        assert warnings[0].remedy is not None
        assert "OLLAMA_CONTEXT_LENGTH" in warnings[0].remedy


async def test_images_that_take_few_tokens_are_not_taken_for_a_cut() -> None:
    images = [Image("image/png", b"x")] * 4
    async with cutting(1100) as server, provider(server.url) as ollama:
        heard = await hear(ollama.stream(ChatRequest(MODEL, (Message.user("What is this?", *images),))))
    assert not any(isinstance(event, Warned) for event in heard.events)


async def test_a_context_that_turns_out_too_small_grows_as_far_as_the_model_s() -> None:
    async def chat(request: Request, responder: Responder) -> None:
        if request.json["options"]["num_ctx"] < 16_384:
            await responder.json(400, {"error": "the input length exceeds the context length"})
        else:
            await OLLAMA.says_hi(request, responder)

    async def handle(request: Request, responder: Responder) -> None:
        if request.path == "/api/show":
            await responder.json(200, {"model_info": {"llama.context_length": window}})
        else:
            await chat(request, responder)

    async with HttpServer(handle) as server:
        for window, sizes in ((131_072, [8192, 16_384]), (12_000, [4096, 8192, 12_000])):
            async with provider(server.url) as ollama:
                heard = await hear(ollama.stream(ask()))
            assert (heard.text == "Hi") is (window > 16_384)
            assert heard.error is None or type(heard.error) is ContextOverflow
            chats = OLLAMA.chats(server.requests)
            assert [request.json["options"]["num_ctx"] for request in chats] == sizes
            server.requests.clear()


@pytest.mark.parametrize("keep_alive", [None, "30m"])
async def test_keep_alive_is_sent_when_it_is_set(keep_alive: str | None) -> None:
    async with FakeOllama() as fake, provider(fake.url, keep_alive) as ollama:
        await hear(ollama.stream(ask()))
    assert fake.bodies()[0].get("keep_alive") == keep_alive


@pytest.mark.parametrize(
    ("names", "expected"),
    [
        (("completion",), Capabilities(context_window=4096)),
        (("completion", "tools", "vision", "thinking"), Capabilities(True, True, True, False, True, 4096)),
    ],
)
async def test_a_model_tells_what_it_can_do_once(names: tuple[str, ...], expected: Capabilities) -> None:
    async with FakeOllama([Model(MODEL, 4096, names)]) as fake, provider(fake.url) as ollama:
        assert await ollama.capabilities(MODEL) == expected
        await hear(ollama.stream(ask()))
        assert await ollama.capabilities(MODEL) == expected
    assert len(fake.bodies("/api/show")) == 1


@pytest.mark.parametrize(
    "shown",
    [{}, [], {"model_info": None, "capabilities": None}, {"model_info": {"x.context_length": "9"}, "capabilities": 1}],
)
async def test_a_server_that_shows_little_still_answers(shown: Any) -> None:
    async def handle(request: Request, responder: Responder) -> None:
        await responder.json(
            200, shown if request.path == "/api/show" else {"message": {"content": "Hi"}, "done": True}
        )

    async with HttpServer(handle) as server, provider(server.url) as ollama:
        assert await ollama.capabilities("m") == Capabilities()
        assert (await hear(ollama.stream(ask(model="m")))).text == "Hi"
    assert server.requests[1].json["options"]["num_ctx"] == 4096


async def test_the_models_are_listed_with_their_size() -> None:
    async with FakeOllama([Model("a:1b", size=7), Model("b:latest", size=9)]) as fake, provider(fake.url) as ollama:
        assert isinstance(ollama, ListsModels)
        assert await ollama.models() == [
            ModelInfo(ModelId("ollama", "a:1b"), size_bytes=7),
            ModelInfo(ModelId("ollama", "b:latest"), size_bytes=9),
        ]


@pytest.mark.prop("eng-7")
async def test_a_model_that_is_missing_is_named_with_those_that_are_there() -> None:
    async with FakeOllama([Model("a:1b"), Model("b:2b")]) as fake, provider(fake.url) as ollama:
        heard = await hear(ollama.stream(ask(model="qwen3:8b")))
        with pytest.raises(ModelNotFound):
            await ollama.capabilities("qwen3:8b")
    assert isinstance(heard.error, ModelNotFound)
    assert (heard.error.available, heard.error.status) == (("a:1b", "b:2b"), 404)
    assert "'qwen3:8b'" in heard.error.message
    assert "a:1b, b:2b" in heard.error.remedy
    assert "ollm-lsp models pull ollama:qwen3:8b" in heard.error.remedy
    assert not fake.bodies()


async def test_a_model_that_is_deleted_between_two_chats_is_missing() -> None:
    async with FakeOllama() as fake, provider(fake.url) as ollama:
        await ollama.capabilities(MODEL)
        fake.models.clear()
        heard = await hear(ollama.stream(ask()))
    assert isinstance(heard.error, ModelNotFound)
    assert "models pull" in heard.error.remedy


@pytest.mark.threat("F6")
async def test_an_error_inside_the_stream_is_the_servers() -> None:
    async with FakeOllama(answer=lambda _: [Say("Hi"), Fail("out of memory")]) as fake, provider(fake.url) as ollama:
        heard = await hear(ollama.stream(ask()))
    assert (heard.events, type(heard.error)) == ([TextDelta("Hi")], ServerFailed)
    assert "out of memory" in heard.failure.message


async def test_a_server_that_dies_in_the_middle_leaves_an_incomplete_answer() -> None:
    pace = asyncio.Semaphore(1)
    async with FakeOllama(answer=lambda _: [Say("Hi"), Die()], pace=pace) as fake, provider(fake.url) as ollama:
        stream = ollama.stream(ask())
        assert await anext(stream) == TextDelta("Hi")
        pace.release()
        assert type((await hear(stream)).error) is IncompleteAnswer


@pytest.mark.prop("core-16")
async def test_an_ollama_that_is_down_says_how_to_start_it() -> None:
    async with FakeOllama() as fake:
        url = fake.url
    async with provider(url) as ollama:
        heard = await hear(ollama.stream(ask()))
    assert type(heard.error) is ConnectionFailed
    assert url in heard.failure.message
    assert "ollama serve" in heard.failure.remedy


@pytest.mark.prop("core-5")
@pytest.mark.parametrize("way", ["close", "cancel"])
async def test_stopping_a_chat_closes_its_connection(way: str) -> None:
    pace = asyncio.Semaphore(1)
    async with FakeOllama(answer=lambda _: [Say("Hi"), Done()], pace=pace) as fake, provider(fake.url) as ollama:
        stream = ollama.stream(ask())
        assert await anext(stream) == TextDelta("Hi")
        if way == "close":
            await stream.aclose()
        else:
            waiting = asyncio.ensure_future(hear(stream))
            await asyncio.sleep(0)
            waiting.cancel()
            with pytest.raises(asyncio.CancelledError):
                await waiting
        await fake.http.responders[-1].gone.wait()


@pytest.mark.prop("eng-6")
async def test_many_chats_at_once_each_get_their_own_answer() -> None:
    async with FakeOllama() as fake, provider(fake.url) as ollama:
        heard = await asyncio.gather(*(hear(ollama.stream(ask(f"number {number}"))) for number in range(20)))
    assert [one.text for one in heard] == [f"You said: number {number}" for number in range(20)]


@pytest.mark.parametrize(
    ("url", "cost"),
    [("http://127.0.0.1:1", FREE), ("http://localhost:1", FREE), ("https://ollama.example", UNKNOWN_COST)],
)
async def test_what_runs_on_this_machine_costs_nothing(url: str, cost: Any) -> None:
    async with provider(url) as ollama:
        assert ollama.cost(MODEL, Usage(10, 10)) == cost
