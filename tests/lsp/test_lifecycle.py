"""Starting, refusing, cancelling and leaving, over the real standard input and output."""

from __future__ import annotations

import asyncio
import json
import os
import sys
from typing import TYPE_CHECKING, Any

import psutil
import pytest

from ollm_lsp.lsp.handlers.lifecycle import is_running, watch_parent
from tests.support.editor import SERVER, Refused, editor, environment

if TYPE_CHECKING:
    from pathlib import Path


@pytest.mark.threat("F30")
async def test_a_request_before_initialize_is_refused_and_a_notification_dropped(tmp_path: Path) -> None:
    async with editor(environment(tmp_path)) as server:
        server.open("file:///early.py", "x = 1\n")
        with pytest.raises(Refused) as refusal:
            await server.request("ollm/models/list", {})
        assert refusal.value.code == -32002
        assert (await server.initialize())["serverInfo"]["name"] == "ollm-lsp"


async def test_initialize_announces_what_the_server_can_do(tmp_path: Path) -> None:
    async with editor(environment(tmp_path)) as server:
        result = await server.initialize(capabilities={"general": {"positionEncodings": ["utf-16", "utf-8"]}})
        assert result["capabilities"]["positionEncoding"] == "utf-8"
        assert result["capabilities"]["textDocumentSync"]["change"] == 2
        assert result["capabilities"]["experimental"] == {"ollm": {"version": 1}}


@pytest.mark.threat("F30")
async def test_a_second_initialize_is_refused(tmp_path: Path) -> None:
    async with editor(environment(tmp_path)) as server:
        await server.initialize()
        with pytest.raises(Refused) as refusal:
            await server.request("initialize", {"capabilities": {}})
        assert refusal.value.code == -32600


@pytest.mark.threat("F30")
async def test_after_shutdown_every_request_is_refused_and_exit_gives_status_0(tmp_path: Path) -> None:
    async with editor(environment(tmp_path)) as server:
        await server.initialize()
        assert await server.request("shutdown") is None
        with pytest.raises(Refused) as refusal:
            await server.chat("too late")
        assert refusal.value.code == -32600
        server.notify("exit")
        assert await server.wait() == 0


@pytest.mark.threat("F30")
@pytest.mark.parametrize("initialized", [True, False])
async def test_exit_without_shutdown_gives_status_1(tmp_path: Path, initialized: bool) -> None:
    async with editor(environment(tmp_path)) as server:
        if initialized:
            await server.initialize()
        server.notify("exit")
        assert await server.wait() == 1


@pytest.mark.threat("F41")
@pytest.mark.parametrize("initialized", [True, False])
async def test_the_server_ends_when_its_input_ends(tmp_path: Path, initialized: bool) -> None:
    async with editor(environment(tmp_path)) as server:
        if initialized:
            await server.initialize()
        assert server.process.stdin is not None
        server.process.stdin.close()
        assert await server.wait() == 1


@pytest.mark.threat("F41")
async def test_the_server_ends_when_its_editor_is_gone_although_the_pipe_is_open(tmp_path: Path) -> None:
    stranger = await asyncio.create_subprocess_exec(sys.executable, "-c", "input()", stdin=asyncio.subprocess.PIPE)
    async with editor(environment(tmp_path)) as server:
        await server.initialize(processId=stranger.pid)
        stranger.kill()
        await stranger.wait()
        assert await server.wait() == 1


@pytest.mark.threat("F41")
async def test_a_process_id_of_another_container_is_not_watched() -> None:
    unused = next(pid for pid in range(400_000, 4_000_000) if not psutil.pid_exists(pid))
    assert not is_running(unused)
    assert not is_running(-1)
    assert is_running(os.getpid())
    leaving = asyncio.Event()
    await watch_parent(leaving, unused)
    assert leaving.is_set()


async def test_input_from_a_device_or_file_works_as_a_pipe_does(tmp_path: Path) -> None:
    body = json.dumps({"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": {"capabilities": {}}}).encode()
    script = tmp_path / "input"
    script.write_bytes(b"Content-Length: %d\r\n\r\n%b" % (len(body), body))
    output = tmp_path / "output"
    with script.open("rb") as stdin, output.open("wb") as stdout:
        process = await asyncio.create_subprocess_exec(*SERVER, stdin=stdin, stdout=stdout, env=environment(tmp_path))
        assert await process.wait() == 1
    assert b"positionEncoding" in output.read_bytes()


@pytest.mark.parametrize(
    "params",
    [
        {},
        {"text": 5},
        {"text": "   "},
        {"text": "x", "context": []},
        {"text": "x", "context": {"uri": 1}},
        {"text": "x", "context": {"range": {"start": {"line": "0", "character": 0}, "end": {}}}},
        {"text": "x", "conversationId": True},
        {"text": "x", "partialResultToken": 1.5},
        "not an object",
        [1],
    ],
)
async def test_malformed_params_get_an_error_response_that_names_the_field(tmp_path: Path, params: Any) -> None:
    async with editor(environment(tmp_path)) as server:
        await server.initialize()
        with pytest.raises(Refused) as refusal:
            await server.request("ollm/chat/send", params)
        assert refusal.value.code == -32602
        assert "params" in refusal.value.message
        assert refusal.value.data["remedy"]


async def test_malformed_notifications_are_dropped_and_the_server_goes_on(tmp_path: Path) -> None:
    async with editor(environment(tmp_path)) as server:
        await server.initialize()
        for params in (None, 3, {}, {"textDocument": {"uri": 1}}, {"textDocument": {"uri": "x"}, "contentChanges": 1}):
            for method in ("textDocument/didOpen", "textDocument/didChange", "textDocument/didClose"):
                server.notify(method, params)
        assert await server.request("shutdown") is None


@pytest.mark.threat("F32")
@pytest.mark.parametrize(
    ("body", "code"),
    [
        (b"{", -32700),
        (b"\xff\xfe", -32700),
        (b"[" * 100_000, -32700),
        (b"[]", -32600),
        (b"5", -32600),
        (b'{"jsonrpc":"2.0","id":null,"method":"shutdown"}', -32600),
        (b'{"jsonrpc":"2.0","id":1.5,"method":"shutdown"}', -32600),
        (b'{"jsonrpc":"2.0","id":7}', -32600),
        (b'{"jsonrpc":"2.0","id":7,"method":3}', -32600),
        (b'{"jsonrpc":"2.0","id":7,"method":"no/such"}', -32601),
    ],
)
async def test_bad_messages_are_answered_and_the_server_goes_on(tmp_path: Path, body: bytes, code: int) -> None:
    async with editor(environment(tmp_path)) as server:
        await server.initialize()
        before = len(server.responses)
        server.send_bytes(b"Content-Length: %d\r\n\r\n%b" % (len(body), body))
        await server.until(lambda: len(server.responses) > before)
        assert server.responses[-1]["error"]["code"] == code
        assert await server.request("shutdown") is None


@pytest.mark.threat("F32")
@pytest.mark.parametrize(
    "header",
    [
        b"Content-Length: x\r\n\r\n",
        b"Nonsense\r\n\r\n",
        b"Content-Length: 99999999999999\r\n\r\n",
        b"Content-Length: 000000000000999999999999\r\n\r\n",
    ],
)
async def test_input_that_is_not_lsp_ends_the_server(tmp_path: Path, header: bytes) -> None:
    async with editor(environment(tmp_path)) as server:
        server.send_bytes(header)
        assert await server.wait() == 1


@pytest.mark.threat("F32")
async def test_headers_may_come_in_any_spelling_and_order(tmp_path: Path) -> None:
    async with editor(environment(tmp_path)) as server:
        body = json.dumps({"jsonrpc": "2.0", "id": 9, "method": "initialize", "params": {"capabilities": {}}}).encode()
        server.send_bytes(b"content-type: x\r\nCONTENT-LENGTH:%d\r\n\r\n%b" % (len(body), body))
        await server.until(lambda: server.responses)
        assert server.responses[0]["id"] == 9


async def silence(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    """A server that accepts and says nothing until the client is gone."""
    await reader.read()
    await reader.read()
    writer.close()


@pytest.mark.threat("F33")
async def test_a_request_id_in_use_is_refused(tmp_path: Path) -> None:
    settings = "model: slow:m\nproviders: {slow: {type: openai, baseUrl: 'http://127.0.0.1:%d/v1'}}\n"
    silent = await asyncio.start_server(silence, "127.0.0.1", 0)
    port = silent.sockets[0].getsockname()[1]
    async with silent, editor(environment(tmp_path, settings % port)) as server:
        await server.initialize()
        number, first = server.start_request("ollm/chat/send", {"text": "hello"})
        server.send({"jsonrpc": "2.0", "id": number, "method": "ollm/models/list", "params": {}})
        await server.until(lambda: server.responses[1:])
        assert server.responses[-1]["error"]["code"] == -32600
        first.cancel()


@pytest.mark.threat("F33")
async def test_answers_to_what_was_never_asked_are_dropped_even_with_the_id_of_a_running_request(
    tmp_path: Path,
) -> None:
    settings = "model: slow:m\nproviders: {slow: {type: openai, baseUrl: 'http://127.0.0.1:%d/v1'}}\n"
    silent = await asyncio.start_server(silence, "127.0.0.1", 0)
    port = silent.sockets[0].getsockname()[1]
    async with silent, editor(environment(tmp_path, settings % port)) as server:
        await server.initialize()
        number, answer = server.start_request("ollm/chat/send", {"text": "hello"})
        for stray in (number, "ollm-1", "never"):
            server.send({"jsonrpc": "2.0", "id": stray, "result": None})
            server.send({"jsonrpc": "2.0", "id": stray, "error": "odd"})
        server.notify("$/cancelRequest", {"id": number})
        with pytest.raises(Refused) as refusal:
            await answer
        assert refusal.value.code == -32800
        assert await server.request("shutdown") is None


@pytest.mark.threat("F34")
async def test_what_libraries_print_never_reaches_the_protocol(tmp_path: Path) -> None:
    noisy = (
        "import os, subprocess, sys\n"
        "from ollm_lsp.lsp import stdio\n"
        "take_over = stdio.take_over\n"
        "def noisy():\n"
        "    both = take_over()\n"
        "    print('python prints', flush=True); os.write(1, b'C prints')\n"
        "    subprocess.run([sys.executable, '-c', 'print(\"a child prints\")'])\n"
        "    return both\n"
        "stdio.take_over = noisy\n"
        "from ollm_lsp.cli import main\n"
        "sys.exit(main(['--stdio']))\n"
    )
    async with editor(environment(tmp_path), command=(sys.executable, "-c", noisy)) as server:
        await server.initialize()
        assert await server.request("shutdown") is None


async def test_start_up_imports_only_what_initialize_needs(tmp_path: Path) -> None:
    listing = tmp_path / "modules.json"
    command = (
        "import atexit, json, sys\n"
        f"atexit.register(lambda: json.dump(sorted(sys.modules), open({str(listing)!r}, 'w')))\n"
        "from ollm_lsp.cli import main\n"
        "sys.exit(main([]))\n"
    )
    async with editor(environment(tmp_path), command=(sys.executable, "-c", command)) as server:
        await server.request("initialize", {"processId": os.getpid(), "capabilities": {}})
        server.notify("exit")
        await server.wait()
    modules = set(json.loads(listing.read_text()))
    assert "ollm_lsp.lsp.server" in modules
    late = {"aiohttp", "yarl", "pydantic", "yaml", "sqlite3", "argparse", "xllamacpp", "platformdirs"}
    assert not modules & late
    assert not {name for name in modules if name.startswith(("ollm_lsp.providers", "ollm_lsp.terminal"))}
    assert not {name for name in modules if name.startswith("ollm_lsp.core") and name.endswith(("chat", "events"))}


async def test_settings_are_asked_for_where_the_client_can_and_problems_are_shown_once(tmp_path: Path) -> None:
    async with editor(environment(tmp_path, "chat: {sistemPrompt: x}\n")) as server:
        server.answer["workspace/configuration"] = lambda _: {"result": [{"providers": {"evil": {"type": "ollama"}}}]}
        capabilities = {"workspace": {"configuration": True}, "experimental": {"ollm": {"status": True}}}
        await server.initialize(capabilities=capabilities)
        await server.until(lambda: server.notified("ollm/status"))
        shown = [message["message"] for message in server.notified("window/showMessage")]
        assert any("sistemPrompt" in message and "systemPrompt" in message for message in shown)
        assert any("providers" in message and "editor settings" in message for message in shown)
        server.notify("workspace/didChangeConfiguration", {"settings": None})
        await server.request("ollm/models/list", {"provider": "embedded"})
        assert len(server.notified("window/showMessage")) == len(shown)


@pytest.mark.threat("F36")
async def test_a_client_that_never_answers_does_not_hold_up_the_chat(tmp_path: Path) -> None:
    async with editor(environment(tmp_path, "model: none:x\n")) as server:
        capabilities = {"window": {"workDoneProgress": True}, "workspace": {"configuration": True}}
        await server.initialize(capabilities=capabilities)
        with pytest.raises(Refused) as refusal:
            await server.chat("hello")
        assert refusal.value.data["code"] == "settings"
