"""The client speaks LSP with a child, and knows how the child can fail."""

from __future__ import annotations

import asyncio
import os
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from ollm_lsp.terminal.client import LspClient
from ollm_lsp.terminal.errors import RequestFailed, ServerDied

if TYPE_CHECKING:
    from tests.terminal.conftest import Runner

SEND = {"text": "Why?", "workDoneToken": "work", "partialResultToken": "chat"}


async def test_the_handshake_tells_who_we_are(runner: Runner) -> None:
    client = await LspClient.start(runner.server())
    await client.close()
    [params] = runner.received("initialize")
    assert params["processId"] == os.getpid()
    assert params["rootUri"] == Path.cwd().as_uri()
    assert params["capabilities"] == {
        "general": {"positionEncodings": ["utf-8"]},
        "window": {"workDoneProgress": True},
        "experimental": {"ollm": {"status": True}},
    }
    assert [message["method"] for message in runner.messages] == [
        "initialize",
        "initialized",
        "shutdown",
        "exit",
    ]
    assert "params" not in runner.messages[-1]


async def test_progress_arrives_by_token_and_in_order(runner: Runner) -> None:
    client = await LspClient.start(
        runner.server([["text", "a"], ["work", {"kind": "begin", "title": "w"}], ["text", "b"], ["result", {}]])
    )
    events: list[Any] = []
    work: list[Any] = []
    with client.progress("chat", events.append), client.progress("work", work.append):
        result = await client.request("ollm/chat/send", SEND)
    await client.close()
    assert result["conversationId"] == "c1"
    assert [event["type"] for event in events] == ["started", "text", "text", "finished"]
    assert work == [{"kind": "begin", "title": "w"}]


async def test_an_error_keeps_its_code_message_and_data(runner: Runner) -> None:
    data = {"code": "connection", "remedy": "Start it."}
    client = await LspClient.start(
        runner.server([["error", {"code": -32803, "message": "Nobody answers.", "data": data}]])
    )
    with pytest.raises(RequestFailed) as raised:
        await client.request("ollm/chat/send", SEND)
    await client.close()
    assert (raised.value.code, raised.value.message, raised.value.data) == (-32803, "Nobody answers.", data)
    assert raised.value.remedy == "Start it."


async def test_a_cancelled_request_waits_for_the_servers_answer(runner: Runner) -> None:
    client = await LspClient.start(runner.server([["text", "a"], ["await_cancel"]], [["result", {}]]))
    events: list[Any] = []
    started = asyncio.Event()

    def receive(event: Any) -> None:
        events.append(event)
        if event["type"] == "text":
            started.set()

    with client.progress("chat", receive):
        task = asyncio.create_task(client.request("ollm/chat/send", SEND))
        await started.wait()
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task
        assert events[-1] == {"type": "finished", "reason": "cancelled"}
        await client.request("ollm/chat/send", SEND)
    await client.close()


async def test_a_second_cancellation_does_not_wait(runner: Runner) -> None:
    client = await LspClient.start(runner.server([["text", "a"], ["ignore_cancel"]]))
    seen: asyncio.Queue[str] = asyncio.Queue()

    def receive(event: Any) -> None:
        seen.put_nowait(event.get("text", ""))

    with client.progress("chat", receive):
        task = asyncio.create_task(client.request("ollm/chat/send", SEND))
        while await seen.get() != "a":
            pass
        task.cancel()
        while await seen.get() != "(ignored)":
            pass
        assert not task.done()
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task
    await client.close(patience=0.1)


async def test_the_servers_requests_are_answered(runner: Runner) -> None:
    own: list[Any] = []
    steps: list[list[Any]] = [
        ["request", "window/workDoneProgress/create", {"token": "t"}],
        ["notify", "$/progress", {"token": "t", "value": {"kind": "begin", "title": "index"}}],
        ["request", "window/showMessageRequest", {"type": 3, "message": "?", "actions": []}],
        ["request", "workspace/configuration", {"items": [{"section": "a"}, {"section": "b"}]}],
        ["request", "workspace/applyEdit", {"edit": {}}],
        ["request", "ollm/permission", {}],
        ["result", {}],
    ]
    client = await LspClient.start(runner.server(steps))
    client.on_server_progress = own.append
    await client.request("ollm/chat/send", SEND)
    await client.close()
    answers = {message["id"]: message for message in runner.messages if str(message.get("id")).startswith("s-")}
    assert answers["s-window/workDoneProgress/create"]["result"] is None
    assert answers["s-window/showMessageRequest"]["result"] is None
    assert answers["s-workspace/configuration"]["result"] == [None, None]
    assert answers["s-workspace/applyEdit"]["result"]["applied"] is False
    assert answers["s-ollm/permission"]["error"]["code"] == -32601
    assert own == [{"kind": "begin", "title": "index"}]


async def test_notifications_reach_their_handlers(runner: Runner) -> None:
    status: list[Any] = []
    client = await LspClient.start(
        runner.server(
            [
                ["notify", "ollm/status", {"busy": True}],
                ["notify", "window/logMessage", {"type": 3, "message": "x"}],
                ["result", {}],
            ]
        )
    )
    client.on["ollm/status"] = status.append
    await client.request("ollm/chat/send", SEND)
    await client.close()
    assert status == [{"busy": True}]


async def test_a_dying_server_leaves_its_last_words(runner: Runner) -> None:
    client = await LspClient.start(runner.server([["text", "a"], ["die", 7, "Segmentation fault"]]))
    with pytest.raises(ServerDied, match=r"ended with status 7\.\n  Segmentation fault"):
        await client.request("ollm/chat/send", SEND)
    with pytest.raises(ServerDied):
        await client.request("ollm/chat/send", SEND)
    await client.close()


async def test_a_server_that_does_not_speak_lsp_is_reported(runner: Runner) -> None:
    client = await LspClient.start(runner.server([["raw", "print was left in\n"], ["hang"]]))
    with pytest.raises(ServerDied, match="not LSP: 'print was left in'"):
        await client.request("ollm/chat/send", SEND)
    await client.close()


async def test_a_server_that_cannot_be_started_is_reported(tmp_path: Path) -> None:
    with pytest.raises(ServerDied, match="cannot be started"):
        await LspClient.start([str(tmp_path / "missing")])


async def test_a_server_that_dies_at_its_start_is_reported(runner: Runner) -> None:
    with pytest.raises(ServerDied, match="no module named ollm"):
        await LspClient.start(runner.server(start="die"))


async def test_a_failing_handler_fails_the_request_that_waits(runner: Runner) -> None:
    def fail(_: Any) -> None:
        raise BrokenPipeError

    client = await LspClient.start(runner.server([["text", "a"], ["hang"]]))
    with client.progress("chat", fail), pytest.raises(BrokenPipeError):
        await client.request("ollm/chat/send", SEND)
    await client.close()


async def test_a_server_that_hangs_is_ended(runner: Runner) -> None:
    client = await LspClient.start(runner.server([["text", "a"], ["hang"]]))
    request = asyncio.create_task(client.request("ollm/chat/send", SEND))
    seen = asyncio.Event()
    with client.progress("chat", lambda _: seen.set()):
        await seen.wait()
    await client.close(patience=0.1)
    with pytest.raises(ServerDied):
        await request
