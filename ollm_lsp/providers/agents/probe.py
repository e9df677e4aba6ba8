"""The health check of a CLI agent: its version and its login, asked of the program itself, and remembered."""

from __future__ import annotations

import asyncio
import re
import time
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

from ollm_lsp.core.errors import OllmError, ProgramNotFound, TimedOut
from ollm_lsp.processes.child import exited, started
from ollm_lsp.providers.agents.description import AskTheTool, LookForFiles, spelt, version_in
from ollm_lsp.providers.agents.health import AgentHealth
from ollm_lsp.providers.wire.faults import excerpt

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from ollm_lsp.providers.agents.description import Description
    from ollm_lsp.providers.agents.discovery import Program

FRESH = 60.0
"""Seconds for which a login is believed in: a user may log in or out meanwhile."""
_MAX_OUTPUT = 64 * 1024


@dataclass(frozen=True, slots=True)
class _Said:
    status: int
    text: str


@dataclass(slots=True)
class Probe:
    """Checks one agent. Answers are kept: the version as long as the program stays the same, the login for a minute."""

    agent: Description
    clock: Callable[[], float] = time.monotonic
    _versions: dict[tuple[str, float], tuple[int, int, int]] = field(
        default_factory=dict[tuple[str, float], tuple[int, int, int]]
    )
    _login: tuple[float, bool] | None = None
    _turn: asyncio.Lock = field(default_factory=asyncio.Lock)

    async def health(self, program: Program | None, environment: Mapping[str, str]) -> AgentHealth:
        """All that can be known without a request to the vendor."""
        try:
            program = self.present(program)
            version = spelt(await self.version(program, environment))
        except (ProgramNotFound, TimedOut) as error:
            return AgentHealth(available=False, error=error.message, remedy=error.remedy, code=error.code)
        if await self._is_logged_in(program, environment):
            return AgentHealth(available=True, version=version)
        error = f"{self.agent.title} is not logged in."
        return AgentHealth(available=False, version=version, auth_required=True, error=error, remedy=self.agent.login)

    def present(self, program: Program | None) -> Program:
        """The program, or what to do to have one."""
        if program is None:
            raise ProgramNotFound(
                f"{self.agent.title} is not there: no program `{self.agent.command}` outside the workspace.",
                remedy=self.agent.install,
            )
        return program

    async def version(self, program: Program, environment: Mapping[str, str]) -> tuple[int, int, int]:
        """The version of a program that may be used."""
        key = (program.path, await asyncio.to_thread(_changed, program.path))
        async with self._turn:
            if key not in self._versions:
                self._versions[key] = await self._ask_version(program, environment)
        found = self._versions[key]
        if found < self.agent.minimum:
            raise ProgramNotFound(
                f"{self.agent.title} {spelt(found)} is too old; {spelt(self.agent.minimum)} is needed.",
                remedy=self.agent.install,
            )
        return found

    async def _ask_version(self, program: Program, environment: Mapping[str, str]) -> tuple[int, int, int]:
        said = await self._ask(program, ("--version",), environment)
        if said and said.status == 0 and (version := version_in(said.text)):
            return version
        if said is None:
            raise TimedOut(
                f"{program.path} did not tell its version in {self.agent.probe_limit:g} s.",
                remedy=f"Try again when the machine is less busy; see whether `{self.agent.command} --version` works.",
            )
        what = excerpt(said.text)
        raise ProgramNotFound(f"{program.path} cannot be used; it says: {what}", remedy=self.agent.install)

    async def _is_logged_in(self, program: Program, environment: Mapping[str, str]) -> bool:
        if any(environment.get(key) for key in self.agent.keys):
            return True
        now = self.clock()
        if self._login is None or now - self._login[0] > FRESH:
            self._login = (now, await self._ask_login(program, environment))
        return self._login[1]

    async def _ask_login(self, program: Program, environment: Mapping[str, str]) -> bool:
        match self.agent.probe:
            case AskTheTool(arguments, words):
                said = await self._ask(program, arguments, environment)
                if said is None:
                    return True  # in doubt, the run itself will tell
                return said.status == 0 if words is None else re.search(words, said.text) is not None
            case LookForFiles(files):
                home = Path(environment.get("HOME") or environment.get("USERPROFILE") or "/")
                return await asyncio.to_thread(lambda: any((home / name).is_file() for name in files))

    async def _ask(self, program: Program, arguments: Sequence[str], environment: Mapping[str, str]) -> _Said | None:
        """What the program prints and how it ends; nothing when it takes too long."""
        argv = (program.path, *arguments)
        try:
            # In the folder of the program, for it may obey what lies in the one that it runs in.
            async with (
                asyncio.timeout(self.agent.probe_limit),
                started(argv, cwd=Path(program.path).parent, env=environment, joined=True) as process,
            ):
                if process.stdout is None:
                    raise AssertionError("this pipe was asked for")
                text = (await process.stdout.read(_MAX_OUTPUT)).decode(errors="replace")
                while len(text) < _MAX_OUTPUT and (more := await process.stdout.read(_MAX_OUTPUT)):
                    text += more.decode(errors="replace")
                return _Said(await exited(process), text)
        except TimeoutError:
            return None
        except OllmError as error:
            return _Said(-1, error.message)


def _changed(path: str) -> float:
    """When a program was changed, its links followed."""
    try:
        return Path(path).stat().st_mtime
    except OSError:
        return 0.0
