"""What breaks around the server, at every point where it can: an error that says so, and the next chat works."""

from __future__ import annotations

import asyncio
import os
import sys
import time
from contextlib import asynccontextmanager
from typing import TYPE_CHECKING, Any

import psutil
import pytest

from ollm_lsp.core.budget import Limits
from ollm_lsp.core.errors import BudgetExceeded
from ollm_lsp.core.ledger import Call as PaidCall
from ollm_lsp.core.ledger import CallKind
from ollm_lsp.core.usage import Cost, Usage
from ollm_lsp.store.ledger import SqliteLedger
from ollm_lsp.store.response_store import SqliteStore
from tests.store.test_response_store import response
from tests.support.editor import SERVER, Editor, Refused, editor, environment
from tests.support.fake_ollama import Call, Die, Fail, FakeOllama, Say, words
from tests.support.http_server import HttpServer
from tests.support.near_server import near_editor

if TYPE_CHECKING:
    from collections.abc import AsyncGenerator
    from pathlib import Path

    from tests.support.http_server import Request, Responder

pytestmark = pytest.mark.torture
root_on_linux = pytest.mark.skipif(sys.platform != "linux" or os.geteuid() != 0, reason="only root on Linux can mount")
ANSWER = "It adds two numbers ."
KNOWN = {"connection", "incomplete", "server_error", "protocol", "timeout", "store"}


def settings(url: str, more: str = "") -> str:
    provider = f"{{type: ollama, baseUrl: '{url}', maxRetries: 0}}"
    return f"model: 'ollama:smollm2:135m'\nproviders: {{ollama: {provider}}}\n{more}"


async def refused(server: Editor, token: str = "events") -> Refused:
    with pytest.raises(Refused) as refusal:
        await server.chat("Hi", token)
    return refusal.value


@pytest.mark.parametrize("harm", ["dies", "fails", "ends", "rubbish"])
async def test_a_backend_that_breaks_at_any_point_is_one_error_and_the_next_chat_works(
    tmp_path: Path, harm: str
) -> None:
    lines = [f'{{"message":{{"content":"{word} "}},"done":false}}\n' for word in ANSWER.split()]
    lines.append('{"message":{"content":""},"done":true,"done_reason":"stop"}\n')
    raw = "".join(lines).encode()
    at = len(raw)

    async def answer(request: Request, responder: Responder) -> None:
        if request.path == "/api/show":
            await responder.json(200, {"model_info": {}, "capabilities": ["completion"]})
            return
        await responder.head(200, {"Content-Type": "application/x-ndjson"})
        await responder.write(raw[:at])
        if at < len(raw) and harm == "dies":
            responder.reset()
            return
        if at < len(raw) and harm in ("fails", "rubbish"):
            await responder.write('\n{"error":"it broke"}\n' if harm == "fails" else "\n<html>\n")
        await responder.end()

    async with HttpServer(answer) as http, near_editor(environment(tmp_path, settings(http.url))) as server:
        await server.initialize()
        for place in range(1, len(raw) - 2, 13):
            at = place
            refusal = await refused(server, token := f"broken-{place}")
            assert refusal.data["code"] in KNOWN, place
            assert refusal.data["remedy"]
            kinds = [event["type"] for event in server.progress[token]]
            assert kinds.count("finished") == kinds.count("error") == 1
            at = len(raw)
            assert (await server.chat("Hi"))["text"].split() == ANSWER.split()


LINES = [f'{{"message":{{"content":"{word} "}},"done":false}}\n' for word in ANSWER.split()]
LAST = '{"message":{"content":""},"done":true,"done_reason":"stop"}\n'
BODY = "".join([*LINES, LAST]).encode()
HEAD = b"HTTP/1.1 200 OK\r\nContent-Type: application/x-ndjson\r\nConnection: close\r\nContent-Length: %d\r\n\r\n"
BYTES = HEAD % len(BODY) + BODY
"""A whole answer as it is on the wire."""


@pytest.mark.parametrize("harm", ["resets", "ends", "hangs"])
async def test_a_connection_that_breaks_at_any_byte_of_the_wire_is_one_error_and_the_next_chat_works(
    tmp_path: Path, harm: str
) -> None:
    at = len(BYTES)

    async def answer(request: Request, responder: Responder) -> None:
        if request.path == "/api/show":
            await responder.json(200, {"model_info": {}, "capabilities": ["completion"]})
            return
        await responder.raw(BYTES[:at])
        if at < len(BYTES) and harm == "resets":
            responder.reset()
        if at < len(BYTES) and harm == "hangs":
            await responder.stall()

    async with HttpServer(answer) as http, near_editor(environment(tmp_path, settings(http.url))) as server:
        await server.initialize()
        assert (await server.chat("Hi"))["text"].split() == ANSWER.split()
        for place in [*range(0, len(HEAD), 9), *range(len(HEAD), len(BYTES) - 2, 41)]:
            at, before = place, len(http.requests)
            number, chat = server.start_request("ollm/chat/send", {"text": "Hi", "partialResultToken": f"at-{place}"})
            if harm == "hangs":
                await http.arrived(before + 1)
                server.notify("$/cancelRequest", {"id": number})
            with pytest.raises(Refused) as refusal:
                await chat
            if harm == "hangs":
                assert refusal.value.code == -32800, place
                await http.responders[-1].gone.wait()
            else:
                assert refusal.value.data["code"] in KNOWN, place
                assert refusal.value.data["remedy"]
            at = len(BYTES)
            assert (await server.chat("Hi"))["text"].split() == ANSWER.split()


async def test_a_backend_that_trickles_byte_by_byte_is_heard_out(tmp_path: Path) -> None:
    async def answer(request: Request, responder: Responder) -> None:
        if request.path == "/api/show":
            await responder.json(200, {"model_info": {}, "capabilities": ["completion"]})
            return
        for byte in BYTES:
            await responder.raw(bytes([byte]))
            await asyncio.sleep(0)

    async with HttpServer(answer) as http, near_editor(environment(tmp_path, settings(http.url))) as server:
        await server.initialize()
        assert (await server.chat("Hi"))["text"].split() == ANSWER.split()
        said = "".join(event["text"] for event in server.progress["events"] if event["type"] == "text")
        assert said.split() == ANSWER.split()


async def test_a_backend_that_hangs_or_trickles_can_be_cancelled_at_any_point(tmp_path: Path) -> None:
    async with (
        FakeOllama(answer=lambda _: words(ANSWER)) as fake,
        near_editor(environment(tmp_path, settings(fake.url))) as server,
    ):
        await server.initialize()
        for steps in range(5):
            token = f"t{steps}"
            fake.pace = pace = asyncio.Semaphore(0)  # the last request may still wait for the last one
            params = {"text": "Hi", "partialResultToken": token}
            number, answer = server.start_request("ollm/chat/send", params)
            requests = len(fake.bodies())
            while len(fake.bodies()) == requests:
                await asyncio.sleep(0.01)
            for step in range(steps):
                pace.release()

                def said(token: str = token, step: int = step) -> bool:
                    text = "".join(event["text"] for event in server.progress[token] if event["type"] == "text")
                    return len(text.split()) > step

                await server.until(said)
            server.notify("$/cancelRequest", {"id": number})
            with pytest.raises(Refused) as refusal:
                await answer
            assert refusal.value.code == -32800
            await fake.http.responders[-1].gone.wait()


async def mounted(folder: Path, *options: str) -> None:
    mount = await asyncio.create_subprocess_exec("mount", *options, str(folder))
    assert await mount.wait() == 0


@asynccontextmanager
async def small_disk(folder: Path) -> AsyncGenerator[None]:
    folder.mkdir()  # noqa: ASYNC240 (nobody else waits)
    await mounted(folder, "-t", "tmpfs", "-o", "size=2m", "tmpfs")
    try:
        yield
    finally:
        await (await asyncio.create_subprocess_exec("umount", "-l", str(folder))).wait()


@root_on_linux
@pytest.mark.parametrize("begins", ["full", "filled later"])
async def test_chats_are_answered_while_the_disk_is_full_and_kept_when_it_is_not(tmp_path: Path, begins: str) -> None:
    disk = tmp_path / "disk"
    async with small_disk(disk), FakeOllama(answer=lambda _: words(ANSWER)) as fake:
        ballast = disk / "ballast"

        def fill() -> None:
            with ballast.open("wb", buffering=0) as file:
                try:
                    while file.write(bytes(4096)):
                        pass
                except OSError:
                    return

        if begins == "full":
            fill()
        async with editor(environment(tmp_path, settings(fake.url), OLLM_STATE_DIR=str(disk / "state"))) as server:
            await server.initialize()
            if begins != "full":
                await server.chat("Hi")
                fill()
            for _ in range(3):
                (outcome,) = await asyncio.gather(server.chat("Hi"), return_exceptions=True)
                if isinstance(outcome, Refused):
                    assert outcome.data["code"] == "store"
                else:
                    assert isinstance(outcome, dict)
                    assert outcome["text"] == ANSWER
            ballast.unlink()
            result = await server.chat("Hi")
            assert result["text"] == ANSWER
            listed = (await server.request("ollm/chat/list"))["conversations"]
            assert result["conversationId"] in [one["id"] for one in listed]


@root_on_linux
async def test_a_state_directory_that_cannot_be_written_keeps_no_chat_from_its_answer(tmp_path: Path) -> None:
    disk = tmp_path / "disk"
    async with small_disk(disk), FakeOllama(answer=lambda _: words(ANSWER)) as fake:
        (disk / "state").mkdir()
        await mounted(disk, "-o", "remount,ro")
        async with editor(environment(tmp_path, settings(fake.url), OLLM_STATE_DIR=str(disk / "state"))) as server:
            await server.initialize()
            assert (await server.chat("Hi"))["text"] == ANSWER


@pytest.mark.skipif(sys.platform == "win32", reason="Windows knows no such limit")
async def test_without_file_handles_requests_fail_one_by_one_and_the_server_lives(tmp_path: Path) -> None:
    command = ("/bin/sh", "-c", 'ulimit -n 15; exec "$@"', "sh", *SERVER)
    async with (
        FakeOllama(answer=lambda _: words(ANSWER)) as fake,
        editor(environment(tmp_path, settings(fake.url)), command=command) as server,
    ):
        await server.initialize()
        outcomes = await asyncio.gather(
            *(server.chat("Hi", f"t{number}") for number in range(20)), return_exceptions=True
        )
        for outcome in outcomes:
            assert isinstance(outcome, dict | Refused), outcome
        assert any(isinstance(outcome, Refused) for outcome in outcomes), "the limit was not met"
        assert await server.request("shutdown") is None
        server.notify("exit")
        assert await server.wait() == 0


async def test_a_client_that_does_not_read_costs_no_memory_and_gets_everything_in_the_end(tmp_path: Path) -> None:
    piece, pieces = "x" * 20_000, 700
    command = (sys.executable, "-c", SLOW, *SERVER)
    async with (
        FakeOllama(answer=lambda _: [Say(piece)] * pieces) as fake,
        editor(environment(tmp_path, settings(fake.url)), command=command) as server,
    ):
        await server.initialize()
        _, answer = server.start_request("ollm/chat/send", {"text": "Hi", "partialResultToken": "t"})
        await fake.http.arrived()
        result = await answer
        assert len(result["text"]) == len(piece) * pieces
        assert sum(len(event.get("text", "")) for event in server.progress["t"]) == len(piece) * pieces
        (note,) = (tmp_path / "most").read_text().split()
        assert int(note) < 300 * 2**20


SLOW = """
import os, subprocess, sys, threading, time
import psutil
server = subprocess.Popen(sys.argv[1:], stdin=0, stdout=subprocess.PIPE)
watched, most = psutil.Process(server.pid), 0
begun = time.monotonic()
while True:
    data = os.read(server.stdout.fileno(), 65536)
    if not data:
        break
    try:
        most = max(most, watched.memory_info().rss)
    except psutil.Error:
        pass
    with open(os.path.join(os.environ["HOME"], "most"), "w") as note:
        note.write(str(most))
    if len(data) > 5000 and time.monotonic() - begun < 4:
        time.sleep(0.3)
    while data:
        data = data[os.write(1, data):]
sys.exit(server.wait())
"""
"""A client between the test and the server that takes its time for seconds."""


async def test_a_client_that_never_answers_a_question_has_said_no(tmp_path: Path) -> None:
    work = tmp_path / "work"
    work.mkdir()
    (work / "a.py").write_text("x = 1\n")
    capabilities = {
        "workspace": {"applyEdit": True, "workspaceEdit": {"documentChanges": True}},
        "experimental": {"ollm": {"permission": True}},
    }
    calls = [
        Call("write_file", {"path": "a.py", "content": "x = 2\n"}),
        Call("run_command", {"argv": ["touch", "canary"]}),
    ]
    for call in calls:

        def answer(body: dict[str, Any], call: Call = call) -> list[Any]:
            return [Say("done")] if body["messages"][-1]["role"] == "tool" else [call]

        more = "tools: {runCommand: true}\n"
        async with (
            FakeOllama(answer=answer) as fake,
            near_editor(environment(tmp_path, settings(fake.url, more))) as server,
        ):
            where = [{"uri": work.as_uri(), "name": "work"}]
            await server.initialize(capabilities=capabilities, workspaceFolders=where)
            number, chat = server.start_request("ollm/chat/send", {"text": "Do it.", "partialResultToken": "t"})
            await server.until(
                lambda server=server: [one for one in server.asked if one["method"] == "ollm/permission"]
            )
            server.notify("$/cancelRequest", {"id": number})
            with pytest.raises(Refused):
                await chat
    assert (work / "a.py").read_text() == "x = 1\n"
    assert not (work / "canary").exists()


@pytest.mark.parametrize("moment", ["idle", "chatting"])
async def test_a_killed_editor_takes_its_server_along(tmp_path: Path, moment: str) -> None:
    pace = asyncio.Semaphore(0)
    async with FakeOllama(answer=lambda _: words(ANSWER), pace=pace) as fake:
        window = await asyncio.create_subprocess_exec(sys.executable, "-c", "input()", stdin=asyncio.subprocess.PIPE)
        async with editor(environment(tmp_path, settings(fake.url))) as server:
            await server.initialize(processId=window.pid)
            if moment == "chatting":
                server.start_request("ollm/chat/send", {"text": "Hi"})[1].add_done_callback(
                    lambda done: done.cancelled()
                )
                await fake.http.arrived()
            window.kill()
            await window.wait()
            assert await server.wait() == 1
            assert not psutil.pid_exists(server.process.pid)


async def test_servers_on_one_state_directory_keep_everything_of_each_other(tmp_path: Path) -> None:
    async with FakeOllama(answer=lambda _: words(ANSWER)) as fake:
        environ = environment(tmp_path, settings(fake.url))
        async with editor(environ) as one, editor(environ) as other:
            for server in (one, other):
                await server.initialize()
            chats = [server.chat("Hi", f"t{number}") for number in range(10) for server in (one, other)]
            made = {result["conversationId"] for result in await asyncio.gather(*chats)}
            assert len(made) == 20
            for server in (one, other):
                listed = (await server.request("ollm/chat/list"))["conversations"]
                assert made <= {one["id"] for one in listed}
            first = min(made)
            await asyncio.gather(
                *(server.request("ollm/chat/delete", {"conversationId": first}) for server in (one, other)),
                return_exceptions=True,
            )
            listed = (await one.request("ollm/chat/list"))["conversations"]
            assert {entry["id"] for entry in listed} == made - {first}


async def test_no_jump_of_the_clock_makes_money_appear(tmp_path: Path) -> None:
    moment = time.time()
    ledger = SqliteLedger(tmp_path / "ledger.db", clock=lambda: moment)
    limits, call = Limits(None, 3_000, None), PaidCall(CallKind.API, "p", "m", "c")
    for jump in (0.0, -86_400 * 400, 86_400 * 4_000):
        moment += jump
        reserved = await ledger.reserve(call, Cost(1_000), limits)
        moment -= 3_600
        await ledger.settle(reserved, Usage(1, 1), Cost(1_000))
    with pytest.raises(BudgetExceeded):
        await ledger.reserve(call, Cost(1), limits)
    lines = await ledger.history()
    await ledger.close()
    assert sum(line.cost.micros for line in lines) == 3_000


async def test_no_jump_of_the_clock_mixes_up_or_loses_conversations(tmp_path: Path) -> None:
    moment = time.time()
    store = SqliteStore(tmp_path / "conversations.db", clock=lambda: moment)
    written: list[str] = []
    for number, jump in enumerate((0.0, -86_400 * 400, 86_400 * 4_000, -3_600.0, -moment, 1e11)):
        moment += jump
        written.append(f"r{number}")
        await store.finish("c", response(f"r{number}"))
        await store.finish(f"c{number}", response(f"other{number}"))
    record = await store.load("c")
    listed = await store.list()
    await store.close()
    assert record is not None
    assert [step.response.id for step in record.responses] == written
    assert {summary.id for summary in listed} == {"c", *(f"c{number}" for number in range(6))}


async def test_a_backend_that_dies_or_fails_between_tool_calls_runs_nothing_twice(tmp_path: Path) -> None:
    work = tmp_path / "work"
    work.mkdir()
    (work / "a.py").write_text("x = 1\n")
    ends = iter([Die(), Fail("it broke"), Say("done")])
    results: list[int] = []

    def answer(body: dict[str, Any]) -> list[Any]:
        told = [message for message in body["messages"] if message["role"] == "tool"]
        results.append(len(told))
        return [next(ends)] if body["messages"][-1]["role"] == "tool" else [Call("read_file", {"path": "a.py"})]

    async with (
        FakeOllama(answer=answer) as fake,
        near_editor(environment(tmp_path, settings(fake.url))) as server,
    ):
        await server.initialize(workspaceFolders=[{"uri": work.as_uri(), "name": "work"}])
        for _ in range(2):
            assert (await refused(server)).data["code"] in KNOWN
        assert (await server.chat("Hi"))["text"].endswith("done")
    assert results == [0, 1] * 3
