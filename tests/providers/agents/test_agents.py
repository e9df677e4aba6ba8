"""The three CLI agents, real or recorded: what they say, what they take, what they leave behind."""

from __future__ import annotations

import asyncio
from contextlib import aclosing
from typing import TYPE_CHECKING, Any

import psutil
import pytest

from ollm_lsp.core.errors import AuthenticationFailed, LoginRequired, ProviderError, TimedOut
from ollm_lsp.core.events import (
    Finished,
    FinishReason,
    SessionReported,
    TextDelta,
    ToolChanged,
    UsageReported,
)
from ollm_lsp.core.messages import Message
from ollm_lsp.core.request import ChatRequest
from ollm_lsp.core.tool import ToolKind, ToolStatus
from ollm_lsp.core.usage import FREE, Cost, Usage
from tests.support.agents import MODELS, Scene
from tests.support.booby_traps import booby_trap
from tests.support.fake_vendors import ANSWER
from tests.support.http_server import HttpServer

if TYPE_CHECKING:
    from pathlib import Path

    from ollm_lsp.core.agent_session import AgentSession
    from ollm_lsp.core.events import ProviderEvent
    from tests.support.agents import Stage
    from tests.support.http_server import Request, Responder

USAGES = {"claude": Usage(1600, 42, 300, 100), "gemini": Usage(1500, 49, 300), "codex": Usage(1500, 42, 300)}


def question(stage: Stage, text: str) -> ChatRequest:
    return ChatRequest(MODELS[stage.tool], (Message.user(text),))


async def ask(
    stage: Stage, scene: Scene = Scene.ANSWER, text: str | None = None, **settings: Any
) -> list[ProviderEvent]:
    agent = stage.agent(scene, **settings)
    return [event async for event in agent.stream(question(stage, text or stage.prompt(scene)))]


def family() -> set[int]:
    """All processes below this one."""
    return {child.pid for child in psutil.Process().children(recursive=True)}


def living(pids: set[int]) -> set[int]:
    """Those of them that are still there; one that waits to be buried is not."""
    found: set[int] = set()
    for pid in pids:
        try:
            if psutil.Process(pid).status() != psutil.STATUS_ZOMBIE:
                found.add(pid)
        except psutil.NoSuchProcess:
            pass
    return found


@pytest.mark.prop("krk-1")
@pytest.mark.prop("krk-2")
async def test_an_answer_is_streamed_with_its_usage_and_leaves_no_process(stage: Stage) -> None:
    before = family()
    events = await ask(stage)
    assert "".join(event.text for event in events if isinstance(event, TextDelta)) == ANSWER
    assert events[-1] == Finished(FinishReason.STOP)
    (report,) = [event for event in events if isinstance(event, UsageReported)]
    assert report.usage == USAGES[stage.tool]
    assert report.cost == (Cost(4695) if stage.tool == "claude" else None)
    assert [event.session.counted for event in events if isinstance(event, SessionReported)][-1] == report.usage
    assert family() == before


@pytest.mark.prop("krk-2")
async def test_what_an_agent_does_is_told(stage: Stage) -> None:
    events = await ask(stage, Scene.READ)
    begun, ended = (event for event in events if isinstance(event, ToolChanged))
    assert (begun.status, ended.status) == (ToolStatus.RUNNING, ToolStatus.COMPLETED)
    assert begun.kind is (ToolKind.EXECUTE if stage.tool == "codex" else ToolKind.READ)
    assert "a.txt" in begun.title
    assert ended.result
    assert stage.tool == "gemini" or "hello disk" in ended.result.text
    assert stage.tool == "codex" or ended.locations[0].uri.endswith("/a.txt")
    assert events[-1] == Finished(FinishReason.STOP)


@pytest.mark.prop("krk-3")
@pytest.mark.prop("krk-11")
async def test_who_is_not_logged_in_is_told_how(stage: Stage) -> None:
    agent = stage.agent(Scene.NO_LOGIN)
    health = await agent.health()
    assert (health.available, health.auth_required, health.remedy) == (False, True, agent.agent.login)
    assert health.error == f"{agent.agent.title} is not logged in."
    with pytest.raises(LoginRequired) as caught:
        await agent.complete(question(stage, stage.prompt(Scene.NO_LOGIN)))
    assert caught.value.remedy == agent.agent.login
    assert caught.value.code == "auth_required"


@pytest.mark.prop("krk-3")
async def test_a_key_that_is_refused_is_named(stage: Stage) -> None:
    with pytest.raises(AuthenticationFailed) as caught:
        await ask(stage, Scene.BAD_KEY)
    assert f"Check the key in {stage.agent().agent.keys[0]}." in caught.value.remedy


@pytest.mark.prop("krk-9")
@pytest.mark.prop("krk-10")
async def test_a_healthy_agent_has_a_version_that_is_new_enough(stage: Stage) -> None:
    agent = stage.agent()
    health = await agent.health()
    assert (health.available, health.auth_required, health.error) == (True, False, None)
    assert health.version
    assert tuple(map(int, health.version.split("."))) >= agent.agent.minimum


@pytest.mark.prop("krk-1")
async def test_a_prompt_of_400_kilobytes_arrives_whole(stage: Stage) -> None:
    lines = (f"{number}: -x --help é漢😀 $HOME `id` \"'\\ %PATH%" for number in range(9000))
    text = "--help " + "\n".join(lines)
    assert len(text.encode()) > 400_000
    events = await ask(stage, text=text)
    assert events[-1] == Finished(FinishReason.STOP)
    assert text in stage.received


@pytest.mark.threat("F35", "F42")
@pytest.mark.prop("krk-4")
async def test_cancelling_leaves_no_process_behind(stage: Stage) -> None:
    agent = stage.agent(Scene.SLOW)
    before = family()
    begun = asyncio.Event()

    async def listen() -> None:
        async with aclosing(agent.stream(question(stage, stage.prompt(Scene.SLOW)))) as events:
            async for _ in events:
                begun.set()

    listening = asyncio.create_task(listen())
    await begun.wait()
    started = family() - before
    assert started
    listening.cancel()
    await asyncio.gather(listening, return_exceptions=True)
    assert listening.cancelled()
    assert living(started) == set()
    assert family() == before


@pytest.mark.threat("F42")
@pytest.mark.prop("krk-4")
async def test_a_time_limit_ends_the_agent_and_leaves_no_process_behind(stage: Stage) -> None:
    before, started = family(), set[int]()

    async def listen(seconds: float) -> None:
        agent = stage.agent(Scene.SLOW, timeout=seconds)
        async for _ in agent.stream(question(stage, stage.prompt(Scene.SLOW))):
            started.update(family() - before)

    limit = 8.0 if stage.is_real else 0.3
    while not started:  # a busy machine needs longer to start anything
        with pytest.raises(TimedOut, match="was not done after"):
            await listen(limit)
        limit *= 2
    assert living(started) == set()
    assert family() == before


@pytest.mark.prop("krk-4")
async def test_closing_the_provider_ends_what_runs(stage: Stage) -> None:
    agent = stage.agent(Scene.SLOW)
    before = family()
    begun = asyncio.Event()

    async def listen() -> None:
        async for _ in agent.stream(question(stage, stage.prompt(Scene.SLOW))):
            begun.set()

    listening = asyncio.create_task(listen())
    await begun.wait()
    await agent.close()
    assert family() == before
    with pytest.raises(ProviderError, match="closing"):
        await listening


@pytest.mark.prop("krk-27")
async def test_a_session_that_goes_on_counts_only_what_is_new(stage: Stage) -> None:
    first = await ask(stage)
    session = _session(first)
    assert session.counted == USAGES[stage.tool]
    agent = stage.agent(Scene.RESUMED)
    second = [event async for event in agent.stream(question(stage, "And 3+3?"), session)]
    (report,) = [event for event in second if isinstance(event, UsageReported)]
    assert report == UsageReported(USAGES[stage.tool])  # and no cost: the tool's is that of both
    assert _session(second).counted == session.counted + report.usage
    assert not stage.is_real or _session(second).id == session.id


def _session(events: list[ProviderEvent]) -> AgentSession:
    return [event.session for event in events if isinstance(event, SessionReported)][-1]


@pytest.mark.threat("T1", "T5", "T16")
@pytest.mark.prop("krk-41")
async def test_nothing_of_a_hostile_workspace_counts(stage: Stage, tmp_path: Path) -> None:
    """Threats T1, T5, T16: its settings, hooks, servers, addresses and programs."""
    canary = tmp_path / "canary"
    touch = f"/usr/bin/touch {canary}"

    async def refuse(_: Request, responder: Responder) -> None:
        await responder.json(500, {})

    async with HttpServer(refuse) as thief:
        booby_trap(stage.work, touch, thief.url)
        stage.environment["PATH"] = f".:bin:{stage.work}:{stage.work}/bin:" + stage.environment["PATH"]
        events = await ask(stage, Scene.READ)
        assert events[-1] == Finished(FinishReason.STOP)
        assert thief.requests == []
    assert not canary.exists()


async def test_an_agent_with_a_key_has_a_price_and_one_with_a_login_has_a_plan(stage: Stage) -> None:
    usage = Usage(1_000_000, 1_000_000)
    assert stage.agent(Scene.NO_LOGIN).cost(MODELS[stage.tool], usage) == FREE
    agent = stage.agent()
    assert not agent.is_paid_by_plan
    cost = agent.cost(MODELS[stage.tool], usage)
    assert cost.known
    assert cost.micros > 1_000_000
    for short, model in agent.agent.priced_as.items():
        assert agent.cost(short, usage) == agent.cost(model, usage), "a short name costs what its dearest model does"
        assert agent.cost(short, usage).known
