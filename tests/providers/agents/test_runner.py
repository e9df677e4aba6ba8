"""The one runner: what an agent is given, how long it may take, and that nothing of it stays."""

from __future__ import annotations

import asyncio
import json
import os
import re
import subprocess
import sys
import time
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import psutil
import pytest

from ollm_lsp.core.agent_session import AgentSession
from ollm_lsp.core.errors import (
    ConnectionFailed,
    IncompleteAnswer,
    MalformedAnswer,
    ModelNotFound,
    ProgramNotFound,
    ProviderError,
    RateLimited,
    TimedOut,
    Unsupported,
)
from ollm_lsp.core.events import Finished, FinishReason, TextDelta, Warned
from ollm_lsp.core.messages import Image, Message
from ollm_lsp.core.request import ChatRequest
from ollm_lsp.processes import child, family
from ollm_lsp.processes.environment import PASSED_ON
from ollm_lsp.providers.agents.catalogue import AGENTS
from ollm_lsp.providers.agents.cli_agent import AgentSettings, CliAgent, Workplace
from ollm_lsp.providers.agents.description import NETWORK, spelt
from tests.support.agents import MODELS, Part, RecordedStage, recorded

if TYPE_CHECKING:
    from ollm_lsp.core.events import ProviderEvent

SESSION = AgentSession("11111111-2222-4333-8444-555555555555")
HI = (Message.user("Hi"),)
tools = pytest.mark.parametrize("tool", AGENTS)

ARGV = {
    "claude": (
        "-p --output-format stream-json --verbose --include-partial-messages --tools Read,Grep,Glob"
        " --strict-mcp-config --setting-sources  --model M --resume S"
    ),
    "gemini": "-o stream-json --approval-mode plan -m M --include-directories W --resume S",
    "codex": "exec --json --skip-git-repo-check --ignore-rules -s read-only -m M resume S -",
}
"""What is run, word by word. docs/providers/cli-agents.md shows the same."""


async def run(stage: RecordedStage, part: Part | None = None, **settings: Any) -> list[ProviderEvent]:
    agent = stage.agent(**settings)
    if part:
        stage.play(part)
    return [event async for event in agent.stream(ChatRequest(MODELS[stage.tool], HI))]


@pytest.mark.threat("T15")
@pytest.mark.prop("krk-1")
@tools
async def test_an_agent_is_run_with_exactly_these_arguments(tool: str, tmp_path: Path) -> None:
    stage = RecordedStage(tool, tmp_path)
    agent = stage.agent()
    async for _ in agent.stream(ChatRequest(MODELS[tool], HI), SESSION):
        pass
    program, *argv = stage.argv
    words = {"M": MODELS[tool], "W": str(stage.work), "S": SESSION.id}
    assert program == str(stage.programs / tool)
    assert argv == [words.get(word, word) for word in ARGV[tool].split(" ")]
    assert stage.received == "Hi"


@tools
def test_the_page_shows_what_is_run(tool: str) -> None:
    page = (Path(__file__).parents[3] / "docs" / "providers" / "cli-agents.md").read_text()
    words = {"M": "MODEL", "W": "WORKSPACE", "": '""', "--resume": None, "resume": None, "S": None}
    argv = [words.get(word, word) for word in ARGV[tool].split(" ")]
    assert f"`{tool} {' '.join(filter(None, argv))}`" in page
    assert spelt(AGENTS[tool].minimum) in page
    assert all(f"`{name}`" in page for name in (*AGENTS[tool].keys, *AGENTS[tool].passed_on))


@pytest.mark.threat("T16")
@tools
def test_no_option_that_lets_an_agent_write_is_ever_given(tool: str) -> None:
    """Threat T16."""
    given = " ".join(AGENTS[tool].argv("m", folder="/w", session=SESSION))
    assert not any(word in given for word in ("yolo", "danger", "bypass", "workspace-write", "accept", "auto", "Edit"))


@tools
async def test_an_agent_may_choose_its_model(tool: str, tmp_path: Path) -> None:
    stage = RecordedStage(tool, tmp_path)
    await stage.agent().complete(ChatRequest("default", HI))
    assert not {"-m", "--model", "default"} & set(stage.argv)


@pytest.mark.threat("T15")
@pytest.mark.prop("krk-1")
@tools
@pytest.mark.parametrize("name", ["--yolo", "-s", "a b", "a;b", "$(x)", "a\nb", "é", "x" * 300, "a&b", '"', "%PATH%"])
def test_names_that_are_no_names_never_become_arguments(tool: str, name: str) -> None:
    """Threat T15."""
    with pytest.raises(ModelNotFound):
        AGENTS[tool].argv(name, folder="/w")
    with pytest.raises(Unsupported):
        AGENTS[tool].argv("m", folder="/w", session=AgentSession(name))


@pytest.mark.threat("T16", "T17")
@pytest.mark.prop("krk-41")
@tools
async def test_the_environment_has_the_keys_of_no_other_vendor(tool: str, tmp_path: Path) -> None:
    """Threats T16 and T17."""
    stage = RecordedStage(tool, tmp_path)
    hostile = ("LD_PRELOAD", "NODE_OPTIONS", "PYTHONPATH", "BASH_ENV", "GIT_SSH_COMMAND", "OPENAI_API_KEY", "GH_TOKEN")
    stage.environment |= dict.fromkeys((*hostile, "AWS_SECRET_ACCESS_KEY", "DYLD_INSERT_LIBRARIES"), "hostile")
    stage.environment |= {"HTTPS_PROXY": "http://proxy", "PATH": f".:{stage.work}:{stage.environment['PATH']}"}
    await run(stage)
    agent = AGENTS[tool]
    given = stage.given
    allowed = {
        *PASSED_ON,
        *NETWORK,
        *agent.passed_on,
        *agent.keys,
        *agent.fixed,
        "PATH",
        "TERM",
        "NO_COLOR",
        family.MARK,
    }
    assert set(given) <= allowed
    assert "hostile" not in given.values()
    assert {key for key in given if key.endswith("_API_KEY")} == {key for key in agent.keys if key in stage.environment}
    assert given["PATH"].split(":") == [str(stage.programs), "/usr/bin", "/bin"]
    assert given["HTTPS_PROXY"] == "http://proxy"


@tools
async def test_an_agent_works_in_the_workspace_or_where_nothing_is(tool: str, tmp_path: Path) -> None:
    stage = RecordedStage(tool, tmp_path)
    await run(stage)
    cwd = Path(stage.note("cwd").strip())
    assert cwd == (stage.state / "agents" / "empty" if tool == "gemini" else stage.work)
    assert os.listdir(cwd) == []  # noqa: PTH208 (short, and nobody waits)


@pytest.mark.threat("T16")
@tools
async def test_without_trust_nothing_is_started(tool: str, tmp_path: Path) -> None:
    stage = RecordedStage(tool, tmp_path)
    stage.agent()
    for folders, is_trusted in (((stage.work,), False), ((), True)):
        workplace = Workplace(folders, stage.state, is_trusted=is_trusted)
        agent = CliAgent(AgentSettings(tool, tool), workplace, stage.environment)
        with pytest.raises(Unsupported, match="trust"):
            await agent.complete(ChatRequest("default", HI))
    assert stage.note("versions") + stage.note("argv") == ""


@pytest.mark.prop("krk-3")
@tools
async def test_an_agent_that_is_not_there_is_told_with_how_to_install_it(tool: str, tmp_path: Path) -> None:
    stage = RecordedStage(tool, tmp_path)
    agent = stage.agent()
    (stage.programs / tool).rename(stage.work / tool)
    stage.environment["PATH"] = f"{stage.work}:."
    if (health := await agent.health()).version is None:  # else this machine has a real one
        assert (health.available, health.remedy) == (False, AGENTS[tool].install)
        with pytest.raises(ProgramNotFound) as caught:
            await agent.complete(ChatRequest("default", HI))
        assert caught.value.code == "cli_not_found"
        assert "npm install -g" in caught.value.remedy


async def test_a_program_that_cannot_be_started_is_told(tmp_path: Path) -> None:
    stage = RecordedStage("codex", tmp_path)
    agent = stage.agent()
    (stage.programs / "codex").write_text("#!/no/such/interpreter\n")
    with pytest.raises(ProgramNotFound, match="cannot be"):
        await agent.complete(ChatRequest("default", HI))


async def test_what_an_agent_cannot_do_starts_nothing(tmp_path: Path) -> None:
    stage = RecordedStage("claude", tmp_path)
    with pytest.raises(Unsupported, match="images"):
        await stage.agent().complete(ChatRequest("sonnet", (Message.user("See", Image("image/png", b"x")),)))
    assert stage.note("versions") + stage.note("argv") == ""


@pytest.mark.threat("F42")
@pytest.mark.prop("krk-4")
async def test_the_whole_family_is_ended_also_those_who_left_and_those_who_do_not_listen(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Threat F42."""
    monkeypatch.setattr(child, "POLITE", 0.2)
    stage = RecordedStage("claude", tmp_path)
    agent = stage.agent()
    slow = recorded("claude", "sigterm-stream")
    stage.play(replace(slow, hangs=True, ignores_signals=True, has_descendants=True))
    events = agent.stream(ChatRequest("default", HI))
    await anext(events)
    assert len(marked(stage.home)) >= 3
    await events.aclose()
    assert marked(stage.home) == set()


def marked(home: Path) -> set[int]:
    """All processes that an agent with this home has started, wherever they are."""
    found: set[int] = set()
    for process in psutil.process_iter(["pid", "status"]):
        try:
            environ = process.environ()
            is_ours = family.MARK in environ and environ.get("HOME") == str(home)
            if process.status() != psutil.STATUS_ZOMBIE and is_ours:
                found.add(process.pid)
        except (psutil.NoSuchProcess, psutil.AccessDenied):
            pass
    return found


SERVER = """
import asyncio, json, sys
from pathlib import Path
from ollm_lsp.processes.child import started

async def main():
    async with started(json.loads(sys.argv[1]), cwd=Path("/"), env={"HOME": sys.argv[2]}) as process:
        await process.stdout.read(1)
        print("ready", flush=True)
        await asyncio.sleep(3600)

asyncio.run(main())
"""


@pytest.mark.threat("F42")
@pytest.mark.prop("krk-4")
def test_a_server_that_is_killed_takes_its_agents_along(tmp_path: Path) -> None:
    """Threat F42: a guardian notices."""
    nested = (
        "import subprocess, sys, time; subprocess.Popen([sys.executable, '-IS', '-c', 'import time; time.sleep(3600)'],"
    )
    nested += " start_new_session=True); print(flush=True); time.sleep(3600)"
    argv = json.dumps([sys.executable, "-IS", "-c", nested])
    root = Path(__file__).parents[3]
    with subprocess.Popen(
        [sys.executable, "-c", SERVER, argv, str(tmp_path)], stdout=subprocess.PIPE, cwd=root
    ) as server:
        assert server.stdout
        assert server.stdout.readline() == b"ready\n"
        guards = psutil.Process(server.pid).children()
        while len(marked(tmp_path)) < 2:
            time.sleep(0.02)
        server.kill()
    while marked(tmp_path) or any(guard.is_running() for guard in guards):
        time.sleep(0.02)


@pytest.mark.parametrize(
    ("tool", "name", "error", "words"),
    [
        ("codex", "netfail-json", ConnectionFailed, "waiting for network"),
        ("gemini", "http429-stream", RateLimited, r"did nothing for .* s and was ended\. It says: Attempt 1 failed"),
        ("gemini", "netfail-stream", ConnectionFailed, "fetch failed"),
    ],
)
async def test_an_agent_that_does_not_get_on_is_ended_with_what_it_said_about_it(
    tool: str, name: str, error: type[ProviderError], words: str, tmp_path: Path
) -> None:
    stage = RecordedStage(tool, tmp_path)
    limit = 0.2
    while True:
        with pytest.raises(ProviderError) as caught:
            await run(stage, replace(recorded(tool, name), hangs=True), idle=limit)
        if type(caught.value) is not TimedOut:
            break
        assert "did nothing for" in caught.value.message
        limit *= 2  # a busy machine has not even started it
    assert type(caught.value) is error
    assert re.search(words, caught.value.message)


async def test_an_agent_that_gets_on_is_not_idle(tmp_path: Path) -> None:
    """Only the silence counts, not the whole time."""
    stage = RecordedStage("gemini", tmp_path)
    agent = stage.agent(idle=30.0)
    events = agent.stream(ChatRequest("default", HI))
    heard: list[ProviderEvent] = []
    async for event in events:
        heard.append(event)
        await asyncio.sleep(0.01)
    assert heard[-1] == Finished(FinishReason.STOP)


@pytest.mark.parametrize(
    ("tool", "part", "error", "words"),
    [
        ("claude", recorded("claude", "resume-missing", status=1), Unsupported, "No conversation found"),
        ("gemini", recorded("gemini", "resume-missing", status=42), Unsupported, "Invalid session identifier"),
        ("codex", recorded("codex", "resume-missing", status=1), Unsupported, "no rollout found"),
        ("gemini", recorded("gemini", "badmodel-stream", status=1), ModelNotFound, "no-such-model"),
        ("codex", recorded("codex", "badmodel-json", status=1), ModelNotFound, "no-such-model"),
        (
            "gemini",
            recorded("gemini", "untrusted-stream-json", status=55),
            IncompleteAnswer,
            "not running in a trusted",
        ),
        ("gemini", recorded("gemini", "sigterm-group"), IncompleteAnswer, "with status 0 before"),
        ("claude", recorded("claude", "stream-json", status=1), IncompleteAnswer, "with status 1 before"),
        ("codex", Part(stderr="env: 'node': No such file or directory\n", status=127), ProgramNotFound, "node"),
        ("codex", Part(stderr="error: unexpected argument '--x' found\n", status=2), ProgramNotFound, "unexpected"),
        ("claude", Part(stdout='{"type": broken\n', status=0), MalformedAnswer, "broken"),
        (
            "claude",
            Part(stderr="\x1b[31mIt\x07 broke\x1b[0m\n", status=3),
            IncompleteAnswer,
            "status 3 before .*: It broke",
        ),
    ],
)
async def test_every_way_to_fail_has_its_error(
    tool: str, part: Part, error: type[ProviderError], words: str, tmp_path: Path
) -> None:
    stage = RecordedStage(tool, tmp_path)
    with pytest.raises(error, match=words) as caught:
        await run(stage, part)
    assert caught.value.remedy
    assert "\x1b" not in caught.value.message


@pytest.mark.threat("T4")
async def test_keys_are_in_no_error(tmp_path: Path) -> None:
    """Threat T4."""
    stage = RecordedStage("claude", tmp_path)
    agent = stage.agent()
    stage.environment["ANTHROPIC_API_KEY"] = "sk-canary-0815-4711"
    stage.play(Part(stderr="refused: sk-canary-0815-4711\n", status=1))
    with pytest.raises(IncompleteAnswer) as caught:
        await agent.complete(ChatRequest("default", HI))
    assert "canary" not in str(caught.value)
    assert "refused: ***" in caught.value.message


@pytest.mark.threat("F10")
async def test_long_lines_and_a_flood_of_remarks_are_taken(tmp_path: Path) -> None:
    """Threat F10."""
    stage = RecordedStage("gemini", tmp_path)
    long = json.dumps({"type": "message", "role": "assistant", "content": "x" * 300_000})
    end = json.dumps({"type": "result", "status": "success"})
    events = await run(stage, Part(f"{long}\n{end}\n", "noise\n" * 100_000))
    assert [len(event.text) for event in events if isinstance(event, TextDelta)] == [300_000]
    assert events[-1] == Finished(FinishReason.STOP)


async def test_an_agent_that_said_everything_and_does_not_end_has_answered(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("ollm_lsp.providers.agents.runner.LAST_WORDS", 0.2)
    stage = RecordedStage("codex", tmp_path)
    events = await run(stage, replace(recorded("codex", "json"), hangs=True))
    assert events[-1] == Finished(FinishReason.STOP)
    assert any(isinstance(event, Warned) for event in events)


async def test_an_agent_that_never_reads_its_prompt_is_no_trouble(tmp_path: Path) -> None:
    stage = RecordedStage("codex", tmp_path)
    agent = stage.agent()
    (stage.programs / "codex").write_text("#!/bin/sh\n[ $1 = --version ] && echo 0.166.0 && exit\nexit 3\n")
    with pytest.raises(IncompleteAnswer, match="status 3"):
        await agent.complete(ChatRequest("default", (Message.user("x" * 1_000_000),)))
