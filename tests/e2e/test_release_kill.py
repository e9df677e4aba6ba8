"""kill -9 of the server in the middle of a release: what was reserved stays spent, and all who tell of it agree."""

from __future__ import annotations

import asyncio
import json
import sqlite3
from contextlib import asynccontextmanager, closing
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import pytest

from tests.support.editor import Refused, editor, environment
from tests.support.fake_vendors import FakeVendors
from tests.support.kraken import KEY, RICH, LocalModel, settings

if TYPE_CHECKING:
    from collections.abc import AsyncGenerator
    from pathlib import Path

    from tests.support.editor import Editor
    from tests.support.http_server import Request, Responder

pytestmark = pytest.mark.torture

MICROS = 1_000_000
LIMIT = 30_000
"""Micro-dollars of a day: enough for three of these releases."""


@dataclass
class SlowVendor:
    """Holds back the rest of an answer after so many of its frames."""

    frames: int
    reached: asyncio.Event = field(default_factory=asyncio.Event)

    async def __call__(self, request: Request, responder: Responder) -> None:
        if request.method != "POST":
            await responder.json(200, {"data": []})
            return
        usage = {"input_tokens": 1200, "output_tokens": 1}
        start: dict[str, Any] = {"type": "message_start", "message": {"id": "m", "model": "claude-x", "usage": usage}}
        text: dict[str, Any] = {
            "type": "content_block_start",
            "index": 0,
            "content_block": {"type": "text", "text": ""},
        }
        deltas = [
            {"type": "content_block_delta", "index": 0, "delta": {"type": "text_delta", "text": word}}
            for word in ("One ", "two ", "three.")
        ]
        stop = {"type": "message_delta", "delta": {"stop_reason": "end_turn"}, "usage": {"output_tokens": 42}}
        frames = [start, text, *deltas, {"type": "content_block_stop", "index": 0}, stop]
        if self.frames:
            await responder.head(200, {"Content-Type": "text/event-stream"})
        for frame in frames[: self.frames]:
            await responder.write(f"event: {frame['type']}\ndata: {json.dumps(frame)}\n\n")
        self.reached.set()
        await responder.stall()


NOTHING, ALL_TOKENS, ALL_BUT_THE_END = 0, 5, 7


@asynccontextmanager
async def window(environ: dict[str, str], folder: Path) -> AsyncGenerator[Editor]:
    async with editor(environ) as server:
        server.answer["ollm/permission"] = lambda _: {"result": {"optionId": "allow_once"}}
        await server.initialize(capabilities=RICH, workspaceFolders=[{"uri": folder.as_uri(), "name": "project"}])
        yield server


def release(server: Editor) -> asyncio.Future[Any]:
    return server.start_request("ollm/kraken/release", {"text": "Think.", "tools": False, "partialResultToken": "r"})[1]


async def die(server: Editor, running: asyncio.Future[Any]) -> None:
    await server.kill()
    await asyncio.gather(running, return_exceptions=True)
    assert running.cancelled()


def calls(folder: Path) -> list[tuple[int, int]]:
    """Micro-dollars of each call in the ledger, and whether it is open."""
    file = folder / "state" / "ledger.db"
    if not file.exists():
        return []
    with closing(sqlite3.connect(file)) as connection:
        assert connection.execute("PRAGMA integrity_check").fetchall() == [("ok",)]
        if not connection.execute("SELECT 1 FROM sqlite_master WHERE name = 'call'").fetchall():
            return []  # the server is just about to make it
        return connection.execute("SELECT cost_micros, is_open FROM call ORDER BY number").fetchall()


@pytest.mark.prop("krk-27")
@pytest.mark.prop("krk-29")
async def test_whenever_the_server_is_killed_the_reserved_money_is_accounted_for(tmp_path: Path) -> None:
    project = tmp_path / "project"
    project.mkdir()
    async with FakeVendors() as vendor, LocalModel() as local:
        config = settings(local, vendor, f"  maxCostPerDay: {LIMIT / MICROS}\n")
        environ = environment(tmp_path, config, VENDOR_KEY=KEY)
        # As soon as it is reserved, whether the request has left or not.
        async with window(environ, project) as server:
            vendor.handler = SlowVendor(NOTHING)
            running = release(server)
            while not calls(tmp_path):
                await asyncio.sleep(0.002)
            await die(server, running)
            (question,) = [one["params"] for one in server.asked if one["method"] == "ollm/permission"]
            most = round(question["estimate"]["cost"]["amount"] * MICROS)
        assert calls(tmp_path) == [(most, 1)]
        for number, frames in enumerate((ALL_TOKENS, ALL_BUT_THE_END), 2):
            async with window(environ, project) as server:
                vendor.handler = slow = SlowVendor(frames)
                running = release(server)
                await slow.reached.wait()
                await server.until(lambda: "three." in str(server.progress["r"]))
                await die(server, running)
            assert calls(tmp_path) == [(most, 1)] * number
        async with window(environ, project) as server:
            status = await server.request("ollm/kraken/status", {})
            history = (await server.request("ollm/kraken/history", {}))["releases"]
            assert [round(line["cost"]["amount"] * MICROS) for line in history] == [most] * 3
            assert all((line["settled"], line["success"]) == (False, False) for line in history)
            sums = ("limit", "spent", "reserved", "remaining")
            budget = {name: round(status["budget"][name] * MICROS) for name in sums}
            assert budget == {"limit": LIMIT, "spent": 3 * most, "reserved": 0, "remaining": LIMIT - 3 * most}
            # There is not enough left for a fourth.
            asked = len(vendor.questions)
            with pytest.raises(Refused) as refused:
                await release(server)
            assert refused.value.data["code"] == "budget_exceeded"
            assert len(vendor.questions) == asked
        assert calls(tmp_path) == [(most, 1)] * 3
