"""The health check: what it finds, what it remembers, and how long it may take."""

from __future__ import annotations

import asyncio
import os
from dataclasses import replace
from typing import TYPE_CHECKING

import pytest

from ollm_lsp.providers.agents.catalogue import AGENTS
from ollm_lsp.providers.agents.description import spelt, version_in
from ollm_lsp.providers.agents.discovery import Program
from ollm_lsp.providers.agents.health import AgentHealth
from ollm_lsp.providers.agents.probe import FRESH, Probe
from tests.support.agents import VERSIONS, Part, RecordedStage, Scene

if TYPE_CHECKING:
    from pathlib import Path

tools = pytest.mark.parametrize("tool", AGENTS)


def program(stage: RecordedStage) -> Program:
    return Program(str(stage.programs / stage.tool), ("/usr/bin", "/bin"))


def environment(stage: RecordedStage) -> dict[str, str]:
    return {"HOME": str(stage.home), "PATH": "/usr/bin:/bin"}


@pytest.mark.prop("krk-10")
@tools
def test_the_version_is_read_from_what_the_tool_prints(tool: str) -> None:
    version = version_in(VERSIONS[tool])
    assert version
    assert spelt(version) in VERSIONS[tool]
    assert version_in("no version") is None


@pytest.mark.threat("T16")
@pytest.mark.prop("krk-10")
@tools
async def test_a_version_that_is_too_old_makes_an_agent_unavailable(tool: str, tmp_path: Path) -> None:
    """Threat T16."""
    stage = RecordedStage(tool, tmp_path)
    stage.prepare(Scene.ANSWER)
    major, minor, patch = AGENTS[tool].minimum
    stage.play(Part(version=f"v{major}.{minor}.{patch - 1}"))
    health = await Probe(AGENTS[tool]).health(program(stage), environment(stage))
    assert not health.available
    assert health.error
    assert f"{major}.{minor}.{patch - 1} is too old; {major}.{minor}.{patch} is needed." in health.error
    assert health.remedy == AGENTS[tool].install


@pytest.mark.prop("krk-12")
async def test_a_program_that_is_silent_or_broken_makes_an_agent_unavailable(tmp_path: Path) -> None:
    stage = RecordedStage("codex", tmp_path)
    stage.play(Part(version_takes=3600))
    hasty, patient = (replace(AGENTS["codex"], probe_limit=limit) for limit in (0.2, 100))
    health = await Probe(hasty).health(program(stage), environment(stage))
    assert health.error
    assert "did not tell its version in 0.2 s" in health.error
    assert (health.code, "codex --version" in (health.remedy or "")) == ("timeout", True)
    assert AGENTS["codex"].install not in (health.remedy or "")
    stage.play(Part(version="what?"))
    health = await Probe(patient).health(program(stage), environment(stage))
    assert health.error
    assert health.error.endswith("/bin/codex cannot be used; it says: what?")
    assert not health.available
    health = await Probe(patient).health(None, {})
    assert health == AgentHealth(
        available=False,
        error="Codex is not there: no program `codex` outside the workspace.",
        remedy=AGENTS["codex"].install,
        code="cli_not_found",
    )


@pytest.mark.prop("krk-9")
async def test_a_version_is_asked_once_and_again_when_the_program_changes(tmp_path: Path) -> None:
    stage = RecordedStage("claude", tmp_path)
    stage.prepare(Scene.ANSWER)
    probe = Probe(replace(AGENTS["claude"], probe_limit=100))
    await asyncio.gather(*(probe.health(program(stage), environment(stage)) for _ in range(3)))
    assert stage.note("versions") == "x\n"
    os.utime(program(stage).path, (1, 1))
    await probe.health(program(stage), environment(stage))
    assert stage.note("versions") == "x\nx\n"


@pytest.mark.prop("krk-11")
async def test_a_login_is_believed_in_for_a_minute(tmp_path: Path) -> None:
    now = [0.0]
    stage = RecordedStage("claude", tmp_path)
    stage.prepare(Scene.NO_LOGIN)
    probe = Probe(AGENTS["claude"], clock=lambda: now[0])
    assert (await probe.health(program(stage), environment(stage))).auth_required
    stage.prepare(Scene.ANSWER)
    assert (await probe.health(program(stage), environment(stage))).auth_required
    now[0] = FRESH + 1
    assert (await probe.health(program(stage), environment(stage))).available
    assert stage.note("logins") == "x\nx\n"


@pytest.mark.prop("krk-11")
@tools
async def test_a_key_needs_no_login_and_is_not_asked_for(tool: str, tmp_path: Path) -> None:
    stage = RecordedStage(tool, tmp_path)
    stage.prepare(Scene.NO_LOGIN)
    given = environment(stage) | {AGENTS[tool].keys[0]: "key"}
    assert (await Probe(AGENTS[tool]).health(program(stage), given)).available
    assert stage.note("logins") == ""


@pytest.mark.prop("krk-11")
async def test_the_login_of_gemini_is_known_by_its_file(tmp_path: Path) -> None:
    stage = RecordedStage("gemini", tmp_path)
    stage.prepare(Scene.NO_LOGIN)
    probe = Probe(AGENTS["gemini"])
    assert (await probe.health(program(stage), environment(stage))).auth_required
    (stage.home / ".gemini").mkdir()
    (stage.home / ".gemini" / "oauth_creds.json").write_text("{}")
    assert (await Probe(AGENTS["gemini"]).health(program(stage), environment(stage))).available
