"""Places to run CLI agents in: the real ones against a fake of their vendors, or programs that play recordings."""

from __future__ import annotations

import json
import os
from abc import ABC, abstractmethod
from dataclasses import dataclass, replace
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar, cast

from ollm_lsp.providers.agents.catalogue import AGENTS
from ollm_lsp.providers.agents.cli_agent import AgentSettings, CliAgent, Workplace
from ollm_lsp.providers.agents.description import AskTheTool

if TYPE_CHECKING:
    from tests.support.fake_vendors import FakeVendors

RECORDINGS = Path(__file__).parents[1] / "recordings" / "agents"
MODELS = {"claude": "claude-sonnet-4-5", "gemini": "gemini-2.5-flash", "codex": "gpt-5-codex"}
VERSIONS = {"claude": "2.1.325 (Claude Code)", "gemini": "0.61.0", "codex": "codex-cli 0.166.0"}


class Scene(StrEnum):
    """What happens to an agent."""

    ANSWER = "answer"
    READ = "read"
    SLOW = "slow"
    NO_LOGIN = "no_login"
    BAD_KEY = "bad_key"
    RESUMED = "resumed"


@dataclass(frozen=True)
class Part:
    """What a program in the place of an agent does."""

    stdout: str = ""
    stderr: str = ""
    status: int = 0
    hangs: bool = False
    ignores_signals: bool = False
    has_descendants: bool = False
    version: str | None = None
    version_takes: float = 0.0
    login: str = ""
    login_status: int = 0


def recorded(tool: str, name: str, *, status: int = 0) -> Part:
    """A part as it was recorded."""
    stdout, stderr = (RECORDINGS / tool / f"{name}.{ending}" for ending in ("ndjson", "stderr"))
    lines, remarks = (path.read_text() if path.exists() else "" for path in (stdout, stderr))
    return Part(lines, remarks, status)


def _cut(part: Part) -> Part:
    *lines, _ = part.stdout.splitlines(keepends=True)
    return Part("".join(lines), part.stderr, hangs=True)


ANSWERS = {"claude": "stream-json", "gemini": "stream-json", "codex": "json"}
SCENES: dict[tuple[str, Scene], Part] = {
    **{(tool, Scene.ANSWER): recorded(tool, name) for tool, name in ANSWERS.items()},
    **{(tool, Scene.SLOW): _cut(recorded(tool, name)) for tool, name in ANSWERS.items()},
    ("claude", Scene.RESUMED): recorded("claude", "resume"),
    ("gemini", Scene.RESUMED): recorded("gemini", "stream-json"),
    ("codex", Scene.RESUMED): recorded("codex", "resume"),
    **{(tool, Scene.READ): recorded(tool, "tool-read") for tool in AGENTS},
    ("claude", Scene.NO_LOGIN): recorded("claude", "noauth-stream", status=1),
    ("gemini", Scene.NO_LOGIN): recorded("gemini", "noauth-stream", status=41),
    ("codex", Scene.NO_LOGIN): recorded("codex", "noauth-envkey", status=1),
    ("claude", Scene.BAD_KEY): recorded("claude", "badkey-noretry", status=1),
    ("gemini", Scene.BAD_KEY): recorded("gemini", "badkey-stream", status=145),
    ("codex", Scene.BAD_KEY): recorded("codex", "badkey-json", status=1),
}
KEYS = {Scene.NO_LOGIN: None, Scene.BAD_KEY: "bad"}


class Stage(ABC):
    """A home, a workspace and an environment for one agent."""

    is_real: ClassVar[bool]

    def __init__(self, tool: str, folder: Path) -> None:
        self.tool = tool
        self.home = folder / "home"
        self.work = folder / "work"
        self.state = folder / "state"
        for one in (self.home, self.work):
            one.mkdir(parents=True)
        self.environment = {"HOME": str(self.home), "PATH": f"{self.programs}:/usr/bin:/bin", "LANG": "C.UTF-8"}

    @property
    @abstractmethod
    def programs(self) -> Path: ...

    @abstractmethod
    def prepare(self, scene: Scene) -> None: ...

    @property
    @abstractmethod
    def received(self) -> str:
        """All that has reached the agent, or its vendor."""

    def agent(self, scene: Scene = Scene.ANSWER, exclude: tuple[str, ...] = (), **settings: Any) -> CliAgent:
        """The agent, for which that will happen."""
        self.prepare(scene)
        if key := KEYS.get(scene, "dummy"):
            self.environment |= dict.fromkeys(("ANTHROPIC_API_KEY", "GEMINI_API_KEY", "CODEX_API_KEY"), key)
        workplace = Workplace((self.work,), self.state, is_trusted=True, exclude=exclude)
        return CliAgent(AgentSettings(self.tool, self.tool, **settings), workplace, self.environment)

    def prompt(self, scene: Scene) -> str:
        """What to ask for that to happen."""
        (self.work / "a.txt").write_text("hello disk\n")
        return {Scene.READ: f"Please MOCK:read={self.work}/a.txt", Scene.SLOW: "MOCK:slow"}.get(scene, "What is 2+2?")


PROGRAM = """#!/bin/sh
if [ "$1" = --version ]; then
    echo x >> {folder}/versions
    sleep {version_takes}
    cat {folder}/version
    exit
fi
if [ "$*" = "{login_arguments}" ]; then
    echo x >> {folder}/logins
    cat {folder}/login
    exit {login_status}
fi
printf '%s\\0' "$0" "$@" > {folder}/argv
env -0 > {folder}/env
pwd > {folder}/cwd
cat > {folder}/received
{before}
cat {folder}/stderr >&2
cat {folder}/stdout
{after}
exit {status}
"""
STUBBORN = "trap '' TERM; while :; do sleep 3600; done"
DESCENDANTS = f"""setsid sh -c "{STUBBORN}" &
setsid sh -c 'setsid sh -c "$0" & exit' "{STUBBORN}"
"""


class RecordedStage(Stage):
    """A program in the place of an agent, which writes down what it was given and plays a recording."""

    is_real = False

    def __init__(self, tool: str, folder: Path) -> None:
        self._programs = folder / "bin"
        self._notes = folder / "notes"
        super().__init__(tool, folder)
        self._programs.mkdir()
        self._notes.mkdir()

    @property
    def programs(self) -> Path:
        return self._programs

    def prepare(self, scene: Scene) -> None:
        part = SCENES[self.tool, scene]
        is_in = scene is not Scene.NO_LOGIN
        login = f'{{"loggedIn": {json.dumps(is_in)}}}' if self.tool == "claude" else "Not logged in\n"
        self.play(replace(part, login=login, login_status=int(not is_in)))

    def play(self, part: Part) -> None:
        """From now on the program does this."""
        probe = AGENTS[self.tool].probe
        texts = {"stdout": part.stdout, "stderr": part.stderr, "login": part.login}
        for name, text in (*texts.items(), ("version", part.version or VERSIONS[self.tool])):
            (self._notes / name).write_text(text)
        before = ("trap '' TERM\n" if part.ignores_signals else "") + (DESCENDANTS if part.has_descendants else "")
        program = self._programs / AGENTS[self.tool].command
        program.write_text(
            PROGRAM.format(
                folder=self._notes,
                version_takes=part.version_takes,
                login_arguments=" ".join(probe.arguments) if isinstance(probe, AskTheTool) else "no question",
                login_status=part.login_status,
                before=before,
                after="while :; do sleep 3600; done" if part.hangs else "",
                status=part.status,
            )
        )
        program.chmod(0o755)

    def note(self, name: str) -> str:
        """What the program has written down: argv, env, cwd, received, versions, logins; nothing if it has not."""
        path = self._notes / name
        return path.read_text(encoding="utf-8") if path.exists() else ""

    @property
    def received(self) -> str:
        return self.note("received")

    @property
    def argv(self) -> list[str]:
        return self.note("argv").split("\0")[:-1]

    @property
    def given(self) -> dict[str, str]:
        """The environment that it got; the shell has a variable or two of its own."""
        pairs = (pair.partition("=") for pair in self.note("env").split("\0")[:-1])
        return {name: value for name, _, value in pairs if name not in ("PWD", "OLDPWD", "SHLVL", "_")}


class RealStage(Stage):
    """The real agent, whose vendor is a fake."""

    is_real = True

    def __init__(self, tool: str, folder: Path, programs: Path, vendors: FakeVendors) -> None:
        self._programs = programs
        super().__init__(tool, folder)
        self.vendors = vendors
        (self.home / ".gemini").mkdir()
        (self.home / ".codex").mkdir()
        auth = {"security": {"auth": {"selectedType": "gemini-api-key"}}}
        (self.home / ".gemini" / "settings.json").write_text(json.dumps(auth))
        # A provider of its own, for the built-in one tries another protocol first, which takes seconds.
        (self.home / ".codex" / "config.toml").write_text(
            f'model_provider = "fake"\n[model_providers.fake]\nname = "fake"\nbase_url = "{vendors.url}/v1"\n'
            'wire_api = "responses"\nenv_key = "CODEX_API_KEY"\n'
        )
        self.environment["PATH"] += f":{os.environ['PATH']}"  # where node is
        self.environment |= dict.fromkeys(("ANTHROPIC_BASE_URL", "GOOGLE_GEMINI_BASE_URL"), vendors.url)

    @property
    def programs(self) -> Path:
        return self._programs

    def prepare(self, scene: Scene) -> None:
        pass

    @property
    def times_asked(self) -> int:
        """How often the model was asked."""
        return len(self.vendors.questions)

    @property
    def received(self) -> str:
        return "\n".join(text for request in self.vendors.questions for text in _texts(request.json))


def _texts(value: Any) -> list[str]:
    if isinstance(value, str):
        return [value]
    if isinstance(value, dict):
        value = [*cast("dict[str, Any]", value).values()]
    return [text for one in cast("list[Any]", value) for text in _texts(one)] if isinstance(value, list) else []
