"""The embedded provider with the real model: its child process comes, serves, leaves, and never stays behind."""

from __future__ import annotations

import asyncio
import os
import signal
import sys
from contextlib import aclosing, asynccontextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

import psutil
import pytest

from ollm_lsp.core.errors import OllmError, ServerFailed, SettingsError, StoreFailed, Unsupported
from ollm_lsp.core.events import Activity, Finished, TextDelta, UsageReported
from ollm_lsp.core.messages import Message
from ollm_lsp.core.model import Capabilities, ModelId, ModelInfo
from ollm_lsp.core.ports import ListsModels
from ollm_lsp.core.request import ChatRequest
from ollm_lsp.core.usage import FREE, Usage
from ollm_lsp.providers import embedded_host, model_file
from ollm_lsp.providers.embedded import EmbeddedProvider
from ollm_lsp.providers.model_process import ModelProcess
from ollm_lsp.settings.resolved import EmbeddedSettings
from tests.providers.listening import hear
from tests.support.clock import Clock

if TYPE_CHECKING:
    from collections.abc import AsyncGenerator, Callable

ROOT = Path(__file__).parents[2]
LOADING = Activity("Loading the model")
WAITING = Activity("Waiting for the first token")
PARIS = ChatRequest("smollm2", (Message.user("What is the capital of France? Answer with one word."),), max_tokens=8)
STORY = ChatRequest("smollm2", (Message.user("Write a very long story about the sea, with many chapters."),))


def children() -> dict[int, psutil.Process]:
    """The child processes of this one that run a model."""
    return {child.pid: child for child in psutil.Process().children() if _is_host(child)}


def _is_host(process: psutil.Process) -> bool:
    try:
        return process.status() != psutil.STATUS_ZOMBIE and any("embedded_host" in arg for arg in process.cmdline())
    except psutil.NoSuchProcess:
        return False


async def become(predicate: Callable[[], Any]) -> None:
    """Wait for what only the system knows."""
    while not predicate():
        await asyncio.sleep(0.005)


class Model:
    """A provider under test, and the children that it has started."""

    def __init__(self, provider: EmbeddedProvider, before: set[int]) -> None:
        self.provider = provider
        self._before = before

    @property
    def children(self) -> list[int]:
        return [pid for pid in children() if pid not in self._before]


@pytest.fixture
async def run(real_model_path: Path, tmp_path: Path) -> AsyncGenerator[Callable[..., Model]]:
    before = set(children())
    made: list[EmbeddedProvider] = []

    def make(**settings: Any) -> Model:
        chosen: dict[str, Any] = {"model_path": real_model_path, "context_window": 512, **settings}
        made.append(EmbeddedProvider(EmbeddedSettings("embedded", **chosen), tmp_path / "state"))
        return Model(made[-1], before)

    yield make
    for provider in made:
        await provider.close()
    assert set(children()) <= before


async def test_the_first_chat_starts_the_model_and_the_second_finds_it_running(run: Callable[..., Model]) -> None:
    model = run()
    assert model.children == []
    first = await hear(model.provider.stream(PARIS))
    assert first.events[:2] == [LOADING, WAITING]
    assert "Paris" in first.text
    assert any(isinstance(event, UsageReported) for event in first.events)
    assert isinstance(first.events[-1], Finished)
    pids = model.children
    assert len(pids) == 1
    second = await hear(model.provider.stream(PARIS))
    assert isinstance(second.events[0], TextDelta)
    assert "Paris" in second.text
    assert model.children == pids
    await model.provider.close()
    assert model.children == []
    await model.provider.close()


@pytest.mark.threat("T28")
async def test_the_child_listens_on_this_machine_only_and_writes_only_its_log(
    run: Callable[..., Model], tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    model = run()
    await hear(model.provider.stream(PARIS))
    assert (tmp_path / "state" / "embedded.log").stat().st_size > 1000
    assert capfd.readouterr() == ("", "")
    child = psutil.Process(model.children[0])
    listening = [it.laddr for it in child.net_connections() if it.status == psutil.CONN_LISTEN]
    assert [address.ip for address in listening] == ["127.0.0.1"]
    port = listening[0].port
    reader, writer = await asyncio.open_connection("127.0.0.1", port)
    writer.write(b"POST /v1/chat/completions HTTP/1.1\r\nHost: x\r\nContent-Length: 2\r\n\r\n{}")
    assert b" 401 " in await reader.readline()
    writer.close()
    await writer.wait_closed()
    assert not any(str(port) in arg or "key" in arg for arg in child.cmdline())


@pytest.mark.prop("core-5")
async def test_the_model_leaves_when_nobody_has_used_it_for_a_while(
    run: Callable[..., Model], monkeypatch: pytest.MonkeyPatch
) -> None:
    clock = Clock(monkeypatch)
    model = run(idle_timeout=30)
    async with aclosing(model.provider.stream(STORY)) as story:
        async for event in story:
            if isinstance(event, TextDelta):
                break
        other = asyncio.ensure_future(hear(model.provider.stream(PARIS)))
        await asyncio.sleep(0)
        other.cancel()
        await asyncio.wait([other])
        await clock.advance(40)
        assert len(model.children) == 1
    await clock.advance(20)
    assert "Paris" in (await hear(model.provider.stream(PARIS))).text
    await clock.advance(20)
    assert len(model.children) == 1
    await clock.advance(11)
    await become(lambda: not model.children)
    assert "Paris" in (await hear(model.provider.stream(PARIS))).text
    assert len(model.children) == 1


async def test_two_first_chats_at_once_start_one_model(run: Callable[..., Model]) -> None:
    model = run()
    first, second = await asyncio.gather(hear(model.provider.stream(PARIS)), hear(model.provider.stream(PARIS)))
    assert (first.events[:2], second.events[0]) == ([LOADING, WAITING], Activity("Waiting for the embedded model"))
    assert "Paris" in first.text
    assert "Paris" in second.text
    assert len(model.children) == 1


@pytest.mark.prop("core-5")
async def test_cancelling_while_the_model_loads_leaves_no_child(run: Callable[..., Model]) -> None:
    model = run()
    waiting = asyncio.ensure_future(hear(model.provider.stream(PARIS)))
    await become(lambda: model.children)
    waiting.cancel()
    with pytest.raises(asyncio.CancelledError):
        await waiting
    assert model.children == []
    assert "Paris" in (await hear(model.provider.stream(PARIS))).text


async def test_when_the_chat_that_loads_is_cancelled_the_next_one_loads(run: Callable[..., Model]) -> None:
    model = run()
    first = asyncio.ensure_future(hear(model.provider.stream(PARIS)))
    await become(lambda: model.children)
    second = asyncio.ensure_future(hear(model.provider.stream(PARIS)))
    await asyncio.sleep(0)
    first.cancel()
    heard = await second
    assert heard.events[:3] == [Activity("Waiting for the embedded model"), LOADING, WAITING]
    assert "Paris" in heard.text
    assert len(model.children) == 1
    await asyncio.wait([first])


@pytest.mark.prop("eng-6")
@pytest.mark.parametrize("moment", ["loading", "speaking"])
async def test_closing_ends_a_chat_and_the_child_at_any_moment(moment: str, run: Callable[..., Model]) -> None:
    model = run()
    speaking = asyncio.Event()

    async def listen() -> None:
        async for event in model.provider.stream(STORY):
            if isinstance(event, TextDelta):
                speaking.set()

    chat = asyncio.ensure_future(listen())
    if moment == "loading":
        await become(lambda: model.children)
    else:
        await speaking.wait()
    await model.provider.close()
    assert model.children == []
    with pytest.raises(ServerFailed):
        await chat
    with pytest.raises(ServerFailed):
        await anext(model.provider.stream(PARIS))
    assert model.children == []


@pytest.mark.prop("eng-7")
async def test_a_child_that_is_killed_in_the_middle_is_a_server_error_and_the_next_chat_works(
    run: Callable[..., Model],
) -> None:
    model = run()

    async def listen() -> None:
        async with aclosing(model.provider.stream(STORY)) as story:
            async for event in story:
                if isinstance(event, TextDelta) and model.children:
                    os.kill(model.children[0], signal.SIGKILL)

    with pytest.raises(ServerFailed) as caught:
        await listen()
    assert "SIGKILL" in caught.value.message
    assert "again" in caught.value.remedy
    assert "Paris" in (await hear(model.provider.stream(PARIS))).text


async def test_a_child_that_died_while_nobody_looked_is_started_anew(run: Callable[..., Model]) -> None:
    model = run()
    await hear(model.provider.stream(PARIS))
    (pid,) = model.children
    os.kill(pid, signal.SIGKILL)
    heard = await hear(model.provider.stream(PARIS))
    assert "Paris" in heard.text
    assert LOADING in heard.events
    assert pid not in model.children


@pytest.mark.prop("eng-7")
@pytest.mark.parametrize("kind", ["missing", "folder"])
async def test_a_model_file_that_is_not_there_is_a_settings_error(
    kind: str, run: Callable[..., Model], tmp_path: Path
) -> None:
    path = tmp_path if kind == "folder" else tmp_path / "no.gguf"
    heard = await hear(run(model_path=path).provider.stream(PARIS))
    assert type(heard.error) is SettingsError
    assert str(path) in heard.error.message
    assert "providers.embedded.modelPath" in heard.error.remedy


@pytest.mark.prop("eng-7")
@pytest.mark.parametrize("kind", ["garbage", "empty", "cut"])
async def test_a_model_file_that_is_corrupt_is_a_clear_error(
    kind: str, run: Callable[..., Model], tmp_path: Path, real_model_path: Path
) -> None:
    path = tmp_path / "bad.gguf"
    with real_model_path.open("rb") as real:
        path.write_bytes({"garbage": b"not a model", "empty": b"", "cut": real.read(3_000_000)}[kind])
    model = run(model_path=path)
    heard = await hear(model.provider.stream(PARIS))
    assert type(heard.error) is ServerFailed
    assert str(path) in heard.error.message
    assert "GGUF" in heard.error.remedy
    assert str(tmp_path / "state" / "embedded.log") in heard.error.remedy
    assert model.children == []


def replace_host(folder: Path, monkeypatch: pytest.MonkeyPatch, body: str) -> None:
    """Another program for the child, which does this after it has read its order."""
    host = folder / "embedded_host.py"
    host.write_text(f"import json, os, sys\nsys.stdin.readline()\n{body}\n")
    monkeypatch.setattr(embedded_host, "__file__", str(host))


HOSTS: dict[str, tuple[str, type[OllmError], str]] = {
    "no runtime": (
        "print(json.dumps({'error': \"ModuleNotFoundError: No module named 'xllamacpp'\"}))",
        Unsupported,
        "",
    ),
    "silent": ("sys.exit(3)", ServerFailed, "ended with status 3"),
    "crashing": ("os.kill(os.getpid(), 11)", ServerFailed, "ended by SIGSEGV"),
    "senseless port": ("print(json.dumps({'port': 'x'}))", ServerFailed, "could not be loaded"),
}


@pytest.mark.prop("eng-7")
@pytest.mark.parametrize(("body", "error", "words"), HOSTS.values(), ids=HOSTS)
async def test_a_child_that_does_not_come_up_is_a_clear_error(
    body: str,
    error: type[OllmError],
    words: str,
    run: Callable[..., Model],
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    replace_host(tmp_path, monkeypatch, body)
    model = run()
    heard = await hear(model.provider.stream(PARIS))
    assert type(heard.error) is error
    assert heard.error
    assert words in heard.error.message
    assert heard.error.remedy
    assert model.children == []


async def test_without_a_path_the_model_is_fetched_before_it_is_loaded(
    run: Callable[..., Model], tmp_path: Path, real_model_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def put(folder: Path) -> None:
        folder.mkdir(parents=True)
        (folder / model_file.FILE_NAME).symlink_to(real_model_path)

    async def fetch(folder: Path) -> AsyncGenerator[Activity]:
        yield Activity("Fetching the model", 50)
        put(folder)

    monkeypatch.setattr(model_file, "fetch", fetch)
    model = run(model_path=None)
    smollm = ModelId("embedded", "smollm2")
    assert (await model.provider.models())[0].size_bytes == model_file.FILE_SIZE
    heard = await hear(model.provider.stream(PARIS))
    assert heard.events[:3] == [Activity("Fetching the model", 50), LOADING, WAITING]
    assert "Paris" in heard.text
    assert isinstance(model.provider, ListsModels)
    assert await model.provider.models() == [ModelInfo(smollm, Capabilities(context_window=512), model_file.FILE_SIZE)]


async def test_a_fetch_that_fails_is_the_error_of_the_chat(
    run: Callable[..., Model], monkeypatch: pytest.MonkeyPatch
) -> None:
    async def fetch(_: Path) -> AsyncGenerator[Activity]:
        yield Activity("Fetching the model", 0)
        raise StoreFailed("The disk is full.", remedy="Free some space.")

    monkeypatch.setattr(model_file, "fetch", fetch)
    model = run(model_path=None)
    for _ in range(2):
        heard = await hear(model.provider.stream(PARIS))
        assert (heard.events, type(heard.error)) == ([Activity("Fetching the model", 0)], StoreFailed)


async def test_closing_ends_a_fetch(run: Callable[..., Model], monkeypatch: pytest.MonkeyPatch) -> None:
    ended = asyncio.Event()

    async def fetch(_: Path) -> AsyncGenerator[Activity]:
        try:
            while True:
                yield Activity("Fetching the model", 0)
        finally:
            ended.set()

    monkeypatch.setattr(model_file, "fetch", fetch)
    model = run(model_path=None)
    stream = model.provider.stream(PARIS)
    await anext(stream)
    await model.provider.close()
    assert type((await hear(stream)).error) is ServerFailed
    await ended.wait()


async def test_it_costs_nothing_and_tells_its_context(run: Callable[..., Model], real_model_path: Path) -> None:
    provider = run().provider
    assert provider.cost("smollm2", Usage(10, 10)) == FREE
    assert await provider.capabilities("smollm2") == Capabilities(context_window=512)
    assert [model.id.name for model in await provider.models()] == [real_model_path.stem]


PARENT = """
import asyncio, sys
from pathlib import Path
from ollm_lsp.core.events import TextDelta
from ollm_lsp.core.messages import Message
from ollm_lsp.core.request import ChatRequest
from ollm_lsp.providers.embedded import EmbeddedProvider
from ollm_lsp.settings.resolved import EmbeddedSettings

async def main():
    provider = EmbeddedProvider(EmbeddedSettings("embedded", Path(sys.argv[1]), 512), Path(sys.argv[2]))
    async for event in provider.stream(ChatRequest("m", (Message.user("Write a long story."),))):
        if sys.argv[3] == "loading" or isinstance(event, TextDelta):
            print("ready", flush=True)
            sys.argv[3] = "done"

asyncio.run(main())
"""


@asynccontextmanager
async def language_server(model: Path, state: Path, moment: str) -> AsyncGenerator[asyncio.subprocess.Process]:
    """A process of its own that chats with its own embedded model."""
    process = await asyncio.create_subprocess_exec(
        sys.executable, "-c", PARENT, str(model), str(state), moment, stdout=asyncio.subprocess.PIPE, cwd=ROOT
    )
    try:
        assert process.stdout
        assert await process.stdout.readline() == b"ready\n"
        yield process
    finally:
        if process.returncode is None:
            process.kill()
        await process.wait()


@pytest.mark.threat("F42")
@pytest.mark.parametrize("moment", ["loading", "speaking"])
async def test_a_language_server_that_is_killed_takes_its_model_with_it(
    moment: str, real_model_path: Path, tmp_path: Path
) -> None:
    async with language_server(real_model_path, tmp_path, moment) as server:
        parent = psutil.Process(server.pid)
        await become(lambda: any(_is_host(child) for child in parent.children()))
        (child,) = parent.children()
        server.kill()
        await server.wait()
    await become(lambda: not _is_host(child))
    assert not _is_host(child)


async def test_a_state_directory_that_cannot_be_written_costs_only_the_log(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "state").write_text("a file")
    replace_host(tmp_path, monkeypatch, "print(json.dumps({'port': 7}), flush=True)\nsys.stdin.readline()")
    process = await ModelProcess.launch(tmp_path / "m", context=1, threads=1, log=tmp_path / "state" / "log")
    assert (process.port, process.alive) == (7, True)
    await process.close()
    assert not process.alive


def test_the_program_of_the_child_needs_nothing_of_this_package() -> None:
    assert "ollm_lsp" not in Path(embedded_host.__file__).read_text()
