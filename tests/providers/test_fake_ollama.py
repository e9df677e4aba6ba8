"""The fake Ollama is judged by the official client: its types take every answer, and lose nothing unforeseen."""

from __future__ import annotations

import asyncio
import json
import sys
from contextlib import asynccontextmanager
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any

import httpx
import pytest
from ollama import (
    AsyncClient,
    ChatResponse,
    ListResponse,
    ProcessResponse,
    ProgressResponse,
    ResponseError,
    ShowResponse,
)

from ollm_lsp.core.foreign_json import list_in, object_in
from tests.support.fake_ollama import VERSION, Call, Die, Done, Fail, FakeOllama, Model, Say, Step, Think, words

if TYPE_CHECKING:
    from collections.abc import AsyncGenerator, AsyncIterator

ROOT = Path(__file__).parents[2]
QUESTION = [{"role": "user", "content": "Hello there"}]
STEPS: list[Step] = [Think("Hm"), Think("…"), Say("Hé"), Say("llo"), Call("read", {"path": "a.py", "lines": [1, 2.5]})]
# What the server sends and the client does not keep.
CALL_FIELDS = {"message.tool_calls.0.id", "message.tool_calls.0.function.index"}


def lost(raw: Any, kept: Any, path: str = "") -> set[str]:
    """The paths of all values in `raw` that are not the same in `kept`."""
    members = object_in(raw) or dict(enumerate(list_in(raw)))
    if not members:
        return set() if raw == kept else {path}
    there: dict[Any, Any] = object_in(kept) or dict(enumerate(list_in(kept)))
    inner = (lost(value, there.get(key), f"{path}.{key}" if path else str(key)) for key, value in members.items())
    return set[str]().union(*inner)


@asynccontextmanager
async def official(url: str) -> AsyncGenerator[Any]:
    """The official client; of no type, because it has none as a context manager."""
    client: Any = AsyncClient(url)
    async with client:
        yield client


def dump(answer: ChatResponse | ListResponse | ShowResponse | ProcessResponse | ProgressResponse) -> dict[str, Any]:
    return answer.model_dump(mode="json", by_alias=True)


async def ask(url: str, body: dict[str, Any] | None = None) -> httpx.Response:
    async with httpx.AsyncClient() as client:
        return await (client.get(url) if body is None else client.post(url, json=body))


async def raw_lines(url: str, body: dict[str, Any], path: str = "/api/chat") -> list[Any]:
    answer = await ask(f"{url}{path}", body)
    assert answer.headers["content-type"] == "application/x-ndjson"
    return [json.loads(line) for line in answer.content.splitlines()]


async def test_the_official_client_reads_a_streamed_chat_without_loss() -> None:
    async with FakeOllama(answer=lambda _: STEPS) as fake, official(fake.url) as client:
        stream: AsyncIterator[ChatResponse] = await client.chat("smollm2:135m", QUESTION, stream=True)
        answers = [answer async for answer in stream]
        raw = await raw_lines(fake.url, {"model": "smollm2:135m", "messages": QUESTION})
    assert [answer.message.thinking for answer in answers] == ["Hm", "…", None, None, None, None]
    assert [answer.message.content for answer in answers] == ["", "", "Hé", "llo", "", ""]
    assert [answer.done for answer in answers] == [False] * 5 + [True]
    call = (answers[4].message.tool_calls or [])[0].function
    assert (call.name, call.arguments) == ("read", {"path": "a.py", "lines": [1, 2.5]})
    last = answers[-1]
    assert (last.done_reason, last.prompt_eval_count, last.eval_count) == ("stop", 7, 6)
    assert (last.total_duration or 0) > (last.eval_duration or 0) > 0
    losses = [lost(line, dump(answer)) for line, answer in zip(raw, answers, strict=True)]
    assert losses == [set(), set(), set(), set(), CALL_FIELDS, set()]


async def test_the_official_client_reads_a_whole_chat_without_loss() -> None:
    async with FakeOllama(answer=lambda _: STEPS) as fake, official(fake.url) as client:
        answer = await client.chat("smollm2:135m", QUESTION)
        body = {"model": "smollm2:135m", "messages": QUESTION, "stream": False}
        raw = (await ask(f"{fake.url}/api/chat", body)).json()
    assert (answer.message.content, answer.message.thinking) == ("Héllo", "Hm…")
    assert (answer.done, answer.done_reason, answer.eval_count) == (True, "stop", 6)
    assert lost(raw, dump(answer)) == CALL_FIELDS


async def test_the_official_client_lists_the_models_without_loss() -> None:
    models = [Model("a:1b", size=7), Model("b:latest")]
    async with FakeOllama(models) as fake, official(fake.url) as client:
        listed = await client.list()
        raw = (await ask(f"{fake.url}/api/tags")).json()
    assert [(model.model, model.size) for model in listed.models] == [("a:1b", 7), ("b:latest", models[1].size)]
    assert listed.models[0].modified_at == datetime(2026, 1, 2, 3, 4, 5, 123456, UTC)
    # The client cuts times to microseconds and does not keep `name`, which repeats `model`.
    assert lost(raw, dump(listed)) == {f"models.{at}.{field}" for at in (0, 1) for field in ("name", "modified_at")}


async def test_the_official_client_shows_a_model_without_loss() -> None:
    model = Model("qwen3:8b", 40960, ("completion", "tools", "thinking"), family="qwen3")
    async with FakeOllama([model]) as fake, official(fake.url) as client:
        shown = await client.show("qwen3:8b")
        raw = (await ask(f"{fake.url}/api/show", {"model": "qwen3:8b"})).json()
    assert (shown.modelinfo or {})["qwen3.context_length"] == 40960
    assert shown.capabilities == ["completion", "tools", "thinking"]
    assert shown.details
    assert shown.details.family == "qwen3"
    assert lost(raw, dump(shown)) == {"modified_at"}


async def test_the_official_client_pulls_a_model_without_loss() -> None:
    model = Model("qwen3:4b", size=2_500_000_000)
    async with FakeOllama([], library=[model]) as fake, official(fake.url) as client:
        heard: list[ProgressResponse] = [line async for line in await client.pull("qwen3:4b", stream=True)]
        raw = await raw_lines(fake.url, {"model": "qwen3:4b"}, "/api/pull")
        assert (await client.pull("qwen3:4b")).status == "success"
        assert [listed.model for listed in (await client.list()).models] == ["qwen3:4b"]
    statuses = [line.status or "" for line in heard]
    assert statuses[0] == "pulling manifest"
    assert statuses[-3:] == ["verifying sha256 digest", "writing manifest", "success"]
    layers = {line.digest: line.total or 0 for line in heard if line.digest}
    assert sum(layers.values()) == model.size
    assert {line.status for line in heard if line.digest} == {f"pulling {digest[7:19]}" for digest in layers}
    # The real one leaves a zero out, and goes on to the next layer without a line that says 100 %.
    assert next(line.completed for line in heard if line.digest) is None
    assert all((line.completed or 0) < (line.total or 0) for line in heard if line.digest)
    assert [lost(line, dump(answer)) for line, answer in zip(raw, heard, strict=True)] == [set()] * len(raw)


async def test_a_pull_can_fail_as_the_real_one_does() -> None:
    async with FakeOllama([], library=[Model("big:1", size=10**9)], space=10**8) as fake, official(fake.url) as client:
        for name, error in (("none", "pull model manifest: file does not exist"), ("big:1", "no space left on device")):
            lines = await raw_lines(fake.url, {"model": name}, "/api/pull")
            assert lines[0] == {"status": "pulling manifest"}
            assert lines[-1]["error"].endswith(error)
            with pytest.raises(ResponseError, match=error):
                await client.pull(name)
            with pytest.raises(ResponseError, match=error):
                assert [line async for line in await client.pull(name, stream=True)]
        with pytest.raises(ResponseError, match="invalid model name") as caught:
            await client.pull("not a name")
        assert caught.value.status_code == 400
        assert not (await client.list()).models


async def test_the_official_client_deletes_a_model() -> None:
    async with FakeOllama([Model("a:latest"), Model("b:1")]) as fake, official(fake.url) as client:
        assert (await client.delete("a")).status == "success"
        assert [*fake.models] == ["b:1"]
        with pytest.raises(ResponseError, match="model 'a' not found") as caught:
            await client.delete("a")
        assert caught.value.status_code == 404
        with pytest.raises(ResponseError, match='name "a b" is invalid'):
            await client.delete("a b")
        assert fake.http.requests[0].method == "DELETE"


async def test_the_official_client_sees_without_loss_what_is_loaded() -> None:
    async with FakeOllama() as fake, official(fake.url) as client:
        assert (await client.ps()).models == []
        await client.chat("smollm2:135m", QUESTION, options={"num_ctx": 2048})
        running = await client.ps()
        raw = (await ask(f"{fake.url}/api/ps")).json()
    (model,) = running.models
    assert (model.model, model.name, model.context_length) == ("smollm2:135m", "smollm2:135m", 2048)
    assert lost(raw, dump(running)) == {"models.0.expires_at"}  # cut to microseconds


async def test_a_model_that_was_not_pulled_is_not_found() -> None:
    async with FakeOllama() as fake, official(fake.url) as client:
        for ask in (client.show("x"), client.chat("x", QUESTION)):
            with pytest.raises(ResponseError, match="model 'x' not found") as caught:
                await ask
            assert caught.value.status_code == 404


async def test_latest_is_the_tag_of_a_name_without_one() -> None:
    async with FakeOllama([Model("b:latest")]) as fake, official(fake.url) as client:
        assert (await client.chat("b", QUESTION)).message.content == "You said: Hello there"


async def test_a_long_prompt_is_cut_in_silence_unless_told_otherwise() -> None:
    body: dict[str, Any] = {"model": "smollm2:135m", "messages": [{"role": "user", "content": "word " * 10_000}]}
    async with FakeOllama() as fake:
        assert (await raw_lines(fake.url, body))[-1]["prompt_eval_count"] == 4096
        refused = await ask(f"{fake.url}/api/chat", body | {"truncate": False})
    assert (refused.status_code, refused.json()) == (400, {"error": "the input length exceeds the context length"})


async def test_num_predict_cuts_the_answer() -> None:
    async with FakeOllama(answer=lambda _: words("one two three four")) as fake, official(fake.url) as client:
        answer = await client.chat("smollm2:135m", QUESTION, options={"num_predict": 2})
    assert (answer.message.content, answer.done_reason) == ("one two", "length")


async def test_a_chat_without_messages_loads_the_model() -> None:
    async with FakeOllama() as fake, official(fake.url) as client:
        answer = await client.chat("smollm2:135m")
    assert (answer.done, answer.done_reason, answer.message.content) == (True, "load", "")


async def test_tools_need_a_model_that_has_them() -> None:
    tool = {"type": "function", "function": {"name": "f", "description": "d", "parameters": {"type": "object"}}}
    async with FakeOllama([Model("m:1", capabilities=("completion",))]) as fake, official(fake.url) as client:
        with pytest.raises(ResponseError, match="does not support tools"):
            await client.chat("m:1", QUESTION, tools=[tool])


@pytest.mark.parametrize(
    ("end", "error"),
    [(Fail("out of memory"), ResponseError), (Die(), httpx.HTTPError)],
    ids=["error line", "killed"],
)
async def test_an_answer_can_go_wrong_in_the_middle(end: Step, error: type[Exception]) -> None:
    pace = asyncio.Semaphore(1)
    heard: list[str | None] = []
    async with FakeOllama(answer=lambda _: [Say("Hi"), end], pace=pace) as fake, official(fake.url) as client:

        async def listen() -> None:
            async for part in await client.chat("smollm2:135m", QUESTION, stream=True):
                heard.append(part.message.content)
                pace.release()

        with pytest.raises(error):
            await listen()
    assert heard == ["Hi"]


async def test_a_pace_holds_back_each_step_until_it_is_released() -> None:
    pace = asyncio.Semaphore(0)
    async with FakeOllama(answer=lambda _: [Say("1"), Say("2"), Done()], pace=pace) as fake:
        heard: asyncio.Queue[str | None] = asyncio.Queue()

        async def listen() -> None:
            async with official(fake.url) as client:
                async for part in await client.chat("smollm2:135m", QUESTION, stream=True):
                    heard.put_nowait(part.message.content)

        listening = asyncio.ensure_future(listen())
        await fake.http.arrived()
        for expected in ("1", "2", ""):
            assert heard.empty()
            pace.release()
            assert await heard.get() == expected
        await listening


@pytest.mark.parametrize("paced", [False, True])
async def test_it_runs_as_a_process_of_its_own_that_ends_with_its_input(paced: bool) -> None:
    command = ["-m", "tests.support.fake_ollama", "--answer", "one two", *(["--paced"] if paced else [])]
    process = await asyncio.create_subprocess_exec(
        sys.executable, *command, stdin=asyncio.subprocess.PIPE, stdout=asyncio.subprocess.PIPE, cwd=ROOT
    )
    assert process.stdin
    assert process.stdout
    port = int(await process.stdout.readline())
    process.stdin.write(b"\n\n\n" if paced else b"")
    async with official(f"http://127.0.0.1:{port}") as client:
        heard = [part.message.content async for part in await client.chat("smollm2:135m", QUESTION, stream=True)]
    assert heard == ["one", " two", ""]
    process.stdin.close()
    assert await process.wait() == 0


async def test_the_rest_of_the_server_answers_as_the_real_one() -> None:
    async with FakeOllama() as fake, httpx.AsyncClient(base_url=fake.url) as client:
        assert (await client.get("/")).text == "Ollama is running"
        assert (await client.get("/api/version")).json() == {"version": VERSION}
        unknown = await client.get("/api/unknown")
        assert (unknown.status_code, unknown.text) == (404, "404 page not found")
        garbage = await client.post("/api/chat", content=b"{")
        assert (garbage.status_code, [*garbage.json()]) == (400, ["error"])
        bodiless = await client.post("/api/pull")
        assert (bodiless.status_code, bodiless.json()) == (400, {"error": "missing request body"})
        nameless = await client.post("/api/show", json={})
        assert (nameless.status_code, nameless.json()) == (400, {"error": "model is required"})
    assert [request.path for request in fake.http.requests][:2] == ["/", "/api/version"]
