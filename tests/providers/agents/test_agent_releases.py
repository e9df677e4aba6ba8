"""A release to a CLI agent over LSP, real or recorded: asked for, streamed, paid, and home again."""

from __future__ import annotations

import asyncio
import os
import sqlite3
from contextlib import asynccontextmanager, closing
from typing import TYPE_CHECKING, Any

import psutil
import pytest

from ollm_lsp.core.usage import Usage
from ollm_lsp.providers.agents.catalogue import AGENTS
from tests.support.agents import KEYS, MODELS, Scene
from tests.support.booby_traps import booby_trap
from tests.support.editor import Refused, editor
from tests.support.fake_vendors import ANSWER
from tests.support.http_server import HttpServer
from tests.support.kraken import KEY, kraken_window
from tests.support.near_server import near_editor

if TYPE_CHECKING:
    from collections.abc import AsyncGenerator
    from pathlib import Path

    from tests.support.agents import Stage
    from tests.support.http_server import Request, Responder
    from tests.support.kraken import KrakenWindow

USAGES = {"claude": Usage(1600, 42, 300, 100), "gemini": Usage(1500, 49, 300), "codex": Usage(1500, 42, 300)}
COSTS = {"claude": 4695, "gemini": 492, "codex": 1958}
"""Micro-dollars by the vendors' price lists."""
NO_ANSWER = -32800


@pytest.fixture
async def windows(stage: Stage, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Any:
    """Makes a window whose only agent plays a scene; with a real agent, the server is a process of its own, too."""

    @asynccontextmanager
    async def window(scene: Scene, more: str = "", serve: Any = None) -> AsyncGenerator[KrakenWindow]:
        stage.prepare(scene)
        keys = dict.fromkeys((key for agent in AGENTS.values() for key in agent.keys), "")
        keys[AGENTS[stage.tool].keys[0]] = KEYS.get(scene, "dummy") or ""
        agent = f"cliProviders: {{ agent: {{ tool: {stage.tool}, defaultModel: {MODELS[stage.tool]} }} }}"
        settings = f"  defaultProvider: agent\n  {agent}\n{more}"
        serve = serve or (editor if stage.is_real else near_editor)
        environ = {**stage.environment, **keys}
        async with kraken_window(tmp_path / "window", monkeypatch, settings, environ=environ, serve=serve) as made:
            yield made

    return window


def family(window: KrakenWindow) -> dict[int, float]:
    """All processes below the server, with the times that they were started at."""
    pid = getattr(window.editor.process, "pid", os.getpid())
    found: dict[int, float] = {}
    for child in psutil.Process(pid).children(recursive=True):
        try:
            if child.status() != psutil.STATUS_ZOMBIE:
                found[child.pid] = child.create_time()
        except psutil.NoSuchProcess:
            pass
    return found


def living(processes: dict[int, float]) -> set[int]:
    """Those of them that are still there."""
    found: set[int] = set()
    for pid, began in processes.items():
        try:
            process = psutil.Process(pid)
            if process.create_time() == began and process.status() != psutil.STATUS_ZOMBIE:
                found.add(pid)
        except psutil.NoSuchProcess:
            pass
    return found


def rows(window: KrakenWindow) -> list[tuple[int, int, int]]:
    """Cost in micro-dollars, whether it is known, and whether the call is still open, of all calls in the ledger."""
    with closing(sqlite3.connect(window.folder.parent / "state" / "ledger.db")) as connection:
        return connection.execute("SELECT cost_micros, cost_known, is_open FROM call ORDER BY number").fetchall()


@pytest.mark.prop("krk-1")
@pytest.mark.prop("krk-22")
@pytest.mark.prop("krk-47")
async def test_a_release_is_asked_for_streamed_paid_and_seen_by_the_local_model(stage: Stage, windows: Any) -> None:
    async with windows(Scene.ANSWER) as window:
        first = await window.editor.chat("What is this?")
        place = {"conversationId": first["conversationId"]}
        result = await window.release("Why does it fail?", **place)
        model, usage, cost = MODELS[stage.tool], USAGES[stage.tool], COSTS[stage.tool]
        assert (result["provider"], result["model"]) == ("agent", f"agent:{model}")
        assert result["text"].startswith(f"**agent** · {model}\n\n{ANSWER}\n\n---\n*")
        tokens = f"{usage.input_tokens:,} tokens read, {usage.output_tokens:,} written"
        assert f"*{tokens} · ${cost / 1e6:.6f} · " in result["text"]
        events = window.events()
        assert "".join(event["text"] for event in events if event["type"] == "text") == result["text"]
        assert events[-1] == {"type": "finished", "reason": "stop"}
        (question,) = window.asked
        assert question["title"] == f"Release the Kraken: agent ({model})"
        assert "Why does it fail?" in question["detail"]
        assert "Why does it fail?" in stage.received
        (line,) = await window.history()
        assert (line["provider"], line["kind"], line["success"]) == ("agent", "cli", True)
        assert line["usage"] | {"inputTokens": usage.input_tokens, "outputTokens": usage.output_tokens} == line["usage"]
        budget = (await window.editor.request("ollm/kraken/status", {}))["budget"]
        assert line["cost"]["amount"] == result["cost"]["amount"] == budget["spent"] == cost / 1e6
        assert rows(window) == [(cost, 1, 0)]
        await window.editor.chat("And now?", **place)
        said = [message["content"] for message in window.local.histories[-1]]
        assert any(ANSWER in text for text in said)
        assert any("Why does it fail?" in text for text in said)
        assert family(window) == {}


@pytest.mark.large
@pytest.mark.prop("krk-1")
async def test_a_prompt_of_400_kilobytes_is_released_whole(stage: Stage, windows: Any) -> None:
    text = "--help " + "\n".join(f"{number}: -x é漢😀 $HOME `id` \"'\\ %PATH%" for number in range(10_000))
    assert len(text.encode()) > 400_000
    async with windows(Scene.ANSWER) as window:
        result = await window.release(text, inheritContext=False)
        assert ANSWER in result["text"]
        assert text in stage.received


@pytest.mark.large
@pytest.mark.prop("krk-4")
@pytest.mark.prop("krk-29")
async def test_a_release_that_is_cancelled_leaves_no_process_and_is_never_free(stage: Stage, windows: Any) -> None:
    async with windows(Scene.SLOW) as window:
        prompt = stage.prompt(Scene.SLOW)
        params = {"text": prompt, "partialResultToken": "r", "provider": "agent"}
        number, running = window.editor.start_request("ollm/kraken/release", params)
        while prompt not in stage.received:
            assert not running.done()
            await asyncio.sleep(0.02)
        started = family(window)
        assert started
        window.editor.notify("$/cancelRequest", {"id": number})
        with pytest.raises(Refused) as refused:
            await running
        assert refused.value.code == NO_ANSWER
        assert living(started) == set()
        (line,) = await window.history()
        assert (line["success"], line["error"], line["cost"]["known"]) == (False, "cancelled", False)
        ((micros, _, is_open),) = rows(window)
        assert (line["cost"]["amount"], is_open) == (micros / 1e6, 0)
        assert micros > COSTS[stage.tool]
        assert family(window) == {}


@pytest.mark.large
@pytest.mark.prop("krk-4")
@pytest.mark.prop("krk-27")
async def test_when_the_server_is_killed_the_agent_ends_and_what_was_reserved_stays_spent(
    stage: Stage, windows: Any
) -> None:
    async with windows(Scene.SLOW, serve=editor) as window:
        prompt = stage.prompt(Scene.SLOW)
        _, running = window.editor.start_request("ollm/kraken/release", {"text": prompt, "provider": "agent"})
        while prompt not in stage.received:
            assert not running.done()
            await asyncio.sleep(0.02)
        started = family(window)
        assert started
        await window.editor.kill()
        await asyncio.gather(running, return_exceptions=True)
        while living(started):
            await asyncio.sleep(0.02)
        most = round(window.asked[0]["estimate"]["cost"]["amount"] * 1e6)
        assert rows(window) == [(most, 1, 1)]
        assert most > COSTS[stage.tool]


@pytest.mark.large
@pytest.mark.prop("krk-3")
@pytest.mark.prop("krk-11")
async def test_who_is_not_logged_in_is_told_how_before_anything_is_asked(stage: Stage, windows: Any) -> None:
    async with windows(Scene.NO_LOGIN, "  policies: { allowedProviders: [agent] }") as window:
        for named in ({"provider": "agent"}, {}):
            with pytest.raises(Refused) as refused:
                await window.release(**named)
            assert refused.value.data == {"code": "auth_required", "remedy": AGENTS[stage.tool].login}
        status = await window.editor.request("ollm/kraken/status", {})
        found = next(one for one in status["providers"] if one["name"] == "agent")
        assert (found["available"], found["authRequired"], found["remedy"]) == (False, True, AGENTS[stage.tool].login)
        assert (window.asked, stage.received) == ([], "")


@pytest.mark.prop("krk-40")
@pytest.mark.prop("krk-41")
async def test_a_hostile_workspace_runs_nothing_and_gets_no_key(
    stage: Stage, windows: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Threats T1, T5, T16: the server was even started in it, with a PATH that leads there."""
    canary, folder = tmp_path / "canary", tmp_path / "window" / "project"

    async def take(_: Request, responder: Responder) -> None:
        await responder.json(200, {})

    folder.mkdir(parents=True)
    monkeypatch.chdir(folder)
    stage.environment["PATH"] = f".:bin:{folder}:{folder}/bin:{stage.environment['PATH']}"
    async with HttpServer(take) as thief:
        booby_trap(folder, f"/usr/bin/touch {canary}", thief.url)
        async with windows(Scene.ANSWER) as window:
            await window.editor.chat("What is this?")
            for name in ("agent", "big"):
                assert ANSWER in (await window.release(provider=name))["text"]
            with pytest.raises(Refused):
                await window.release(provider="evil")
            status = await window.editor.request("ollm/kraken/status", {})
            assert {one["name"]: one["available"] for one in status["providers"]} == {"agent": True, "big": True}
            assert [question["title"].partition(" (")[0] for question in window.asked] == [
                "Release the Kraken: agent",
                "Release the Kraken: big",
            ]
            assert [request.headers["x-api-key"] for request in window.vendor.questions] == [KEY]
            assert all(KEY not in str(request.headers) for request in window.local.requests)
            assert all(line["cost"]["amount"] > 0 for line in await window.history())
        assert thief.requests == []
    assert not canary.exists()
