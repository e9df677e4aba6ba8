"""A CLI agent as a provider: one process for each answer, which may read the workspace and change nothing."""

from __future__ import annotations

import asyncio
import os
from contextlib import aclosing
from dataclasses import dataclass
from hashlib import sha256
from pathlib import Path
from secrets import token_hex
from typing import TYPE_CHECKING

from ollm_lsp.core.completion import collect
from ollm_lsp.core.errors import Unsupported
from ollm_lsp.core.model import Capabilities
from ollm_lsp.core.usage import FREE
from ollm_lsp.processes.environment import fresh
from ollm_lsp.processes.family import FORCED, POLITE
from ollm_lsp.providers.agents.catalogue import described
from ollm_lsp.providers.agents.description import NETWORK
from ollm_lsp.providers.agents.discovery import discover, is_batch, is_safe_for_batch
from ollm_lsp.providers.agents.here import here
from ollm_lsp.providers.agents.probe import Probe
from ollm_lsp.providers.agents.prompt import prompt
from ollm_lsp.providers.agents.runner import LAST_WORDS, Command, Limits, Run
from ollm_lsp.settings.redactor import redactor

if TYPE_CHECKING:
    from collections.abc import AsyncGenerator, Mapping

    from ollm_lsp.core.agent_session import AgentSession
    from ollm_lsp.core.completion import Completion
    from ollm_lsp.core.events import ProviderEvent
    from ollm_lsp.core.request import ChatRequest
    from ollm_lsp.core.usage import Cost, Usage
    from ollm_lsp.providers.agents.discovery import Program
    from ollm_lsp.providers.agents.health import AgentHealth
    from ollm_lsp.providers.agents.hiding import Hiding


@dataclass(frozen=True, slots=True)
class AgentSettings:
    """One CLI agent as the user wants it. All of it is from the user's own file, for it decides what is started."""

    name: str
    tool: str
    executable: str | None = None
    """An absolute path; without one the program is looked for."""
    timeout: float = 600.0
    """Seconds for a whole answer."""
    idle: float | None = None
    """Seconds in which it has to get on; without it, those of the tool."""
    context_window: int | None = None


@dataclass(frozen=True, slots=True)
class Workplace:
    """Where an agent works: in the first folder, which the user trusts. Nothing in any of them is started."""

    folders: tuple[Path, ...]
    state: Path
    """The directory for our own files."""
    is_trusted: bool = False
    exclude: tuple[str, ...] = ()
    """Patterns of files that no model is shown. The agents that can do so are kept from reading them."""


class CliAgent:
    """Claude Code, Gemini CLI or Codex as a provider."""

    def __init__(
        self, settings: AgentSettings, workplace: Workplace, environment: Mapping[str, str] = os.environ
    ) -> None:
        self.name = settings.name
        self.agent = described(settings.tool)
        self._settings = settings
        self._workplace = workplace
        self._source = environment
        self._probe = Probe(self.agent)
        self._runs: set[Run] = set()

    async def stream(self, request: ChatRequest, session: AgentSession | None = None) -> AsyncGenerator[ProviderEvent]:
        """Run the agent once. With a session it goes on with that one, of which it knows what was said before."""
        request.check(await self.capabilities(request.model))
        command = await self._command(request, session)
        folder = self._workplace.folders[0]
        run = Run(command, self.agent.decoder(lambda path: Path(folder, path).as_uri(), session))
        self._runs.add(run)
        try:
            async with aclosing(run.events()) as events:
                async for event in events:
                    yield event
        finally:
            self._runs.discard(run)

    async def complete(self, request: ChatRequest) -> Completion:
        return await collect(self.stream(request))

    async def capabilities(self, model: str) -> Capabilities:  # noqa: ARG002 (those of its models are the same)
        """It has tools of its own and takes none of ours."""
        window = self._settings.context_window or self.agent.context_window
        return Capabilities(reasoning=True, context_window=window, extensions=("agent",))

    @property
    def is_paid_by_plan(self) -> bool:
        """Whether a login pays for it, and not a key whose tokens have a price."""
        return self._key is None

    def cost(self, model: str, usage: Usage) -> Cost:
        if self.is_paid_by_plan:
            return FREE
        from ollm_lsp.providers.prices import cost_at  # noqa: PLC0415 (the prices of all vendors take long to import)

        return cost_at(self.agent.vendor, self.agent.priced_as.get(model, model), usage)

    async def health(self) -> AgentHealth:
        """Whether it can be used. This may take seconds, and nobody should wait for it who wants to chat."""
        program = await self._program()
        return await self._probe.health(program, self._environment(program) if program else {})

    async def close(self) -> None:
        """End every run, and wait until that is done."""
        runs = [*self._runs]
        for run in runs:
            run.stop()
        if runs:
            ends = [asyncio.create_task(run.ended.wait()) for run in runs]
            await asyncio.wait(ends, timeout=POLITE + FORCED + LAST_WORDS)
            for end in ends:
                end.cancel()

    async def _command(self, request: ChatRequest, session: AgentSession | None) -> Command:
        work = self._workplace
        if not work.is_trusted or not work.folders:
            raise Unsupported(
                f"{self.agent.title} does not run in a workspace that you do not trust.",
                remedy="Open a folder and trust it in your editor, or choose another provider.",
            )
        program = self._probe.present(await self._program())
        environment = self._environment(program)
        hiding = await self._hiding(program, await self._probe.version(program, environment))
        folder = str(work.folders[0])
        argv = [program.path, *self.agent.argv(request.model, folder=folder, session=session, hiding=hiding)]
        if is_batch(program.path) and not all(map(is_safe_for_batch, argv)):
            raise Unsupported(
                f"The path of the workspace holds characters that {program.path} would misread.",
                remedy=f"Rename the folder, or install {self.agent.title} as an .exe.",
            )
        for key in self.agent.keys:
            redactor.add(environment.get(key, ""))
        idle = self.agent.idle_limit if self._settings.idle is None else self._settings.idle
        cwd = await asyncio.to_thread(self._empty_folder) if self.agent.folder_option else work.folders[0]
        limits = Limits(idle, self._settings.timeout)
        return Command(self.agent, tuple(argv), cwd, environment, prompt(request.messages), limits, self._key)

    async def _hiding(self, program: Program, version: tuple[int, int, int]) -> list[str] | None:
        """The arguments that keep excluded files from it; nothing where there are none, or it cannot be kept."""
        if not self._workplace.exclude or version < self.agent.hides_since:
            return None
        hiding = self.agent.hide(self._workplace.exclude)
        path = await asyncio.to_thread(self._written, hiding) if hiding.text else ""
        arguments = [path if argument == "{}" else argument for argument in hiding.arguments]
        # A batch file misreads quotes, without which some cannot be told.
        return None if is_batch(program.path) and not all(map(is_safe_for_batch, arguments)) else arguments

    async def _program(self) -> Program | None:
        folders = [str(folder) for folder in self._workplace.folders]
        return await asyncio.to_thread(discover, self.agent, here(self._source), folders, self._settings.executable)

    def _environment(self, program: Program) -> dict[str, str]:
        also = (*NETWORK, *self.agent.passed_on, *self.agent.keys)
        return {**fresh(self._source, program.path_folders, also), **self.agent.fixed}

    @property
    def _key(self) -> str | None:
        return next((key for key in self.agent.keys if self._source.get(key)), None)

    def _empty_folder(self) -> Path:
        return self._folder("empty")

    def _folder(self, name: str) -> Path:
        folder = self._workplace.state / "agents" / name
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        return folder

    def _written(self, hiding: Hiding) -> str:
        """The path of a file with that text. Runs side by side may need different ones."""
        text = hiding.text.encode()
        path = self._folder("hiding") / f"{sha256(text).hexdigest()[:32]}{hiding.ending}"
        if not path.is_file() or path.read_bytes() != text:
            new = path.with_name(f"{path.name}.{token_hex(8)}")
            new.write_bytes(text)
            new.replace(path)
        return str(path)
