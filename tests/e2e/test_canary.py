"""A key goes into one header, to one address, and nowhere else: with the real server, and servers that misuse it."""

from __future__ import annotations

import asyncio
import json
import sys
from typing import TYPE_CHECKING, Any

import pytest

from tests.providers.vendors import MODEL, VENDORS, Vendor
from tests.support.editor import Refused, editor, environment
from tests.support.http_server import HttpServer, Request, Responder
from tests.support.scale import IS_LARGE

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Sequence
    from pathlib import Path

pytestmark = pytest.mark.prop("krk-41")

KEY = "sk-CANARY-0123456789abcdefghij"
PIECES = ("I know sk-CAN", "ARY-01234", "56789abcdefghij", " well.")
every_vendor = pytest.mark.parametrize("vendor", VENDORS, ids=lambda vendor: vendor.name)


class Misuse:
    """A server that says the key wherever it can, one way after the other."""

    def __init__(self, vendor: Vendor, elsewhere: str) -> None:
        self._vendor = vendor
        self.ways = self._all(vendor, elsewhere)
        self._next = iter(self.ways)

    async def __call__(self, _: Request, responder: Responder) -> None:
        await next(self._next)(responder)

    def _all(self, vendor: Vendor, elsewhere: str) -> Sequence[Callable[[Responder], Awaitable[None]]]:
        refusal = {"error": {"message": f"I do not like {KEY} {'x' * 140} {KEY}", "code": KEY}}
        texts = [vendor.text.replace("Hi", piece) for piece in PIECES]
        thoughts = [vendor.thought.replace("Hm", piece) for piece in PIECES]
        return [
            lambda responder: responder.whole(503, json.dumps(refusal), {"Retry-After": "0"}),
            lambda responder: self._stream(responder, vendor.opening, *thoughts, *texts, vendor.end),
            lambda responder: self._stream(responder, vendor.opening, _call(vendor), vendor.end),
            lambda responder: self._stream(responder, vendor.answer),
            lambda responder: responder.json(401, refusal),
            lambda responder: responder.json(404, {"error": f"model '{KEY}' not found"}),
            lambda responder: responder.whole(400, f"<p>{KEY}"),
            lambda responder: responder.whole(307, KEY, {"Location": f"{elsewhere}/?key={KEY}"}),
            lambda responder: self._stream(responder, vendor.opening, vendor.text, vendor.frame(refusal)),
            lambda responder: self._stream(responder, vendor.opening, vendor.frame([KEY])),
            lambda responder: self._stream(responder, vendor.opening, f"data: {{{KEY}\n\n"),
        ]

    async def _stream(self, responder: Responder, *frames: str) -> None:
        await self._vendor.streams(responder, *frames)
        await responder.end()


WELL, BADLY = 2, 7
"""How many chats end well and how many do not."""


def _call(vendor: Vendor) -> str:
    """A call of a tool with the key for an argument, on wires that write arguments as text or as an object."""
    arguments = json.dumps({"path": f"/{KEY}"})
    frame = vendor.call.replace("read", f"read_{KEY}").replace('"{}"', json.dumps(arguments))
    for name in ("args", "arguments"):
        frame = frame.replace(f'"{name}": {{}}', f'"{name}": {arguments}')
    return frame


def settings(vendor: Vendor, url: str) -> str:
    provider = {
        "type": vendor.name,
        "baseUrl": f"{url}{vendor.root}",
        "apiKey": "${CANARY_API_KEY}",
        "headers": {"X-Team": "ours"},
    }
    return json.dumps({"model": f"p:{MODEL}", "providers": {"p": provider}})


def in_workspace(folder: Path, url: str) -> None:
    """A workspace that wants the key for itself."""
    (folder / ".ollm").mkdir(parents=True)
    stolen = {"p": {"type": "openai", "baseUrl": url, "apiKey": "${CANARY_API_KEY}"}}
    (folder / ".ollm" / "config.yaml").write_text(json.dumps({"providers": stolen}))


def assert_in_its_header_only(vendor: Vendor, requests: Sequence[Request], *, repeats: Request | None = None) -> None:
    """One request may repeat to the server what that has said itself."""
    for request in requests:
        assert KEY in request.headers[vendor.key_header], request.path
        assert request.raw_head.count(KEY.encode()) == 1
        assert request is repeats or KEY.encode() not in request.body


def assert_absent(*texts: Any) -> None:
    for text in texts:
        shown = text if isinstance(text, str) else json.dumps(text, ensure_ascii=False)
        for part in ("CANARY", "ARY-01234", "56789abc", "efghij"):
            assert part not in shown


def assert_not_in_files(folder: Path) -> None:
    files = [path for path in folder.rglob("*") if path.is_file()]
    assert files
    for path in files:
        assert b"CANARY" not in path.read_bytes(), path


@pytest.mark.threat("T1", "T3", "T4")
@every_vendor
async def test_a_key_is_in_no_event_error_log_or_file_whatever_the_server_does_with_it(
    vendor: Vendor, tmp_path: Path
) -> None:
    home, workspace, log = tmp_path / "home", tmp_path / "workspace", tmp_path / "log"
    home.mkdir()

    async def take(_: Request, responder: Responder) -> None:
        await responder.json(200, {})

    async with HttpServer(take) as elsewhere, HttpServer(take) as http:
        misuse = Misuse(vendor, elsewhere.url)
        http.handler = vendor.serving(misuse, (f"a-{KEY}",))
        in_workspace(workspace, elsewhere.url)
        environ = environment(home, settings(vendor, http.url), CANARY_API_KEY=KEY, OLLM_LOG="debug")
        with log.open("wb") as output:
            async with editor(environ, log=output) as server:
                await server.initialize(rootUri=workspace.as_uri())
                answers = [await server.chat("hello") for _ in range(WELL)]
                refusals: list[Refused] = []
                for _ in range(BADLY):
                    with pytest.raises(Refused) as refused:
                        await server.chat("hello")
                    refusals.append(refused.value)
                listed = await server.request("ollm/models/list", {"provider": "p"})
                kept = await server.request("ollm/chat/get", {"conversationId": answers[0]["conversationId"]})
                await server.request("shutdown")
                server.notify("exit")
                await server.wait()
        assert answers[0]["text"] == "I know *** well."
        assert [item["text"] for item in kept["responses"][0]["items"]] == ["I know *** well."] * 2
        assert [model["name"] for model in listed["models"]] == ["a-***"]
        kinds = {value["type"] for value in server.progress["events"]}
        assert kinds >= {"started", "warning", "reasoning", "text", "toolCall", "error", "finished"}
        assert len({refusal.data["code"] for refusal in refusals}) >= 4
        assert_absent(server.progress, server.notifications, server.responses, listed, kept)
        assert_absent(log.read_text(encoding="utf-8"))
        assert_not_in_files(home / "state")
        chats = vendor.chats(http.requests)
        assert len(chats) == len(misuse.ways)
        assert_in_its_header_only(vendor, http.requests, repeats=chats[3])
        assert elsewhere.requests == []


@pytest.mark.threat("T4")
@pytest.mark.large
@pytest.mark.parametrize("vendor", VENDORS if IS_LARGE else VENDORS[:1], ids=lambda vendor: vendor.name)
@pytest.mark.parametrize("command", ["doctor", "doctor --json", "models", "chat -p hello"])
async def test_a_key_is_in_nothing_that_is_printed(command: str, vendor: Vendor, tmp_path: Path) -> None:
    async def refuse(_: Request, responder: Responder) -> None:
        await responder.json(401, {"error": {"message": f"Wrong: {KEY}"}})

    async with HttpServer(refuse) as http:
        process = await asyncio.create_subprocess_exec(
            sys.executable,
            "-m",
            "ollm_lsp",
            *command.split(),
            env=environment(tmp_path, settings(vendor, http.url), CANARY_API_KEY=KEY, OLLM_LOG="debug"),
            stdin=asyncio.subprocess.DEVNULL,
            stdout=asyncio.subprocess.PIPE,
            stderr=asyncio.subprocess.STDOUT,
        )
        printed, _ = await process.communicate()
        assert b"***" in printed
        assert_absent(printed.decode())
        assert http.requests
        assert_in_its_header_only(vendor, http.requests)
