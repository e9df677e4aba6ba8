"""One run of a CLI agent: its prompt in, its events out, and nothing left behind."""

from __future__ import annotations

import asyncio
from collections import deque
from contextlib import aclosing, suppress
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from ollm_lsp.core.errors import (
    ConnectionFailed,
    MalformedAnswer,
    ProgramNotFound,
    ProviderError,
    TimedOut,
    UnreadableFile,
)
from ollm_lsp.core.events import Finished
from ollm_lsp.processes.child import exited, started
from ollm_lsp.providers.agents.diagnosis import Remains, diagnosed
from ollm_lsp.providers.framing import NdjsonFramer
from ollm_lsp.providers.wire.codec import Answer
from ollm_lsp.providers.wire.faults import incomplete

if TYPE_CHECKING:
    from asyncio import StreamReader
    from asyncio.subprocess import Process
    from collections.abc import AsyncGenerator, Mapping
    from pathlib import Path

    from ollm_lsp.core.events import ProviderEvent
    from ollm_lsp.providers.agents.description import Description
    from ollm_lsp.providers.wire.agent_lines import AgentLines

MAX_ANSWER = 16 * 1024 * 1024
"""Bound for what an agent says and does, in characters and acts."""
MAX_STDERR = 16 * 1024
"""Bytes that are kept of what it writes to stderr, from the end."""
LAST_WORDS = 5.0
"""Seconds for an agent that has said everything to end by itself."""
_PIECE = 1 << 16


@dataclass(frozen=True, slots=True)
class Limits:
    """Seconds: in which an agent has to get on, and in which it has to be done."""

    idle: float
    total: float


@dataclass(frozen=True, slots=True)
class Command:
    """What is started: everything that decides what happens."""

    agent: Description
    argv: tuple[str, ...]
    cwd: Path
    environment: Mapping[str, str] = field(repr=False)
    prompt: bytes = field(repr=False)
    limits: Limits
    key: str | None = None
    """The variable with the key that it runs with, if any."""


class Run:
    """A run that can be stopped from outside."""

    def __init__(self, command: Command, decoder: AgentLines) -> None:
        self._command = command
        self._decoder = decoder
        self._answer = Answer(NdjsonFramer(), decoder)
        self._stdout: StreamReader | None = None
        self._stderr = _Tail()
        self._is_stopped = False
        self.ended = asyncio.Event()

    def stop(self) -> None:
        """End it soon; who reads the events gets an error."""
        self._is_stopped = True
        if self._stdout:
            self._stdout.set_exception(ConnectionAbortedError())

    async def events(self) -> AsyncGenerator[ProviderEvent]:
        """What the agent says and does, up to `Finished`, which comes when the process has ended well."""
        command = self._command
        try:
            async with started(
                command.argv, cwd=command.cwd, env=command.environment, feed=command.prompt, wide=True
            ) as process:
                if process.stderr is None:
                    raise AssertionError("this pipe was asked for")
                listening = asyncio.create_task(self._stderr.take(process.stderr))
                try:
                    async with aclosing(self._events(process)) as events:
                        async for event in events:
                            yield event
                except ProviderError as error:
                    await asyncio.wait([listening], timeout=LAST_WORDS if process.returncode is not None else 0.1)
                    remains = Remains(process.returncode, self._stderr.text)
                    raise diagnosed(command.agent, error, remains, command.key) from None
                finally:
                    listening.cancel()
                    await asyncio.gather(listening, return_exceptions=True)
        except UnreadableFile as error:
            raise ProgramNotFound(error.message, remedy=command.agent.install) from None
        finally:
            self.ended.set()

    async def _events(self, process: Process) -> AsyncGenerator[ProviderEvent]:
        if process.stdout is None:
            raise AssertionError("this pipe was asked for")
        self._stdout = process.stdout
        if self._is_stopped:
            self.stop()
        end: Finished | None = None
        clock = asyncio.get_running_loop().time
        last = clock() + self._command.limits.total
        deadline = min(clock() + self._command.limits.idle, last)
        size = 0
        while end is None:
            chunk = await self._read(self._stdout, deadline, last)
            if not chunk:
                await _ended(process)
            for event in self._answer.feed(chunk) if chunk else self._answer.close():
                if isinstance(event, Finished):
                    end = event
                else:
                    yield event
            if self._answer.size > size:
                size = self._answer.size
                deadline = min(clock() + self._command.limits.idle, last)
            if size > MAX_ANSWER:
                raise MalformedAnswer(
                    f"{self._command.agent.title} said more than {MAX_ANSWER:,} characters, which is the limit.",
                    remedy="Ask for a shorter answer.",
                )
        # The verdict is the last event together with the status: some agents end with 0 also when they are killed.
        if await _ended(process) not in (0, None):
            raise incomplete()
        yield end

    async def _read(self, stdout: StreamReader, deadline: float, last: float) -> bytes:
        """More bytes, or none at the end."""
        agent, limits = self._command.agent, self._command.limits
        try:
            async with asyncio.timeout_at(deadline):
                return await stdout.read(_PIECE)
        except TimeoutError:
            if self._decoder.trouble:
                raise self._decoder.trouble from None
            late = (
                f"was not done after {limits.total:g} s" if deadline >= last else f"did nothing for {limits.idle:g} s"
            )
            raise TimedOut(
                f"{agent.title} {late} and was ended.",
                remedy="Ask for less at once, or raise its timeout in the settings.",
            ) from None
        except ConnectionAbortedError:
            raise ConnectionFailed(
                f"{agent.title} was ended, because ollm-lsp is closing it.", remedy="Ask again."
            ) from None


async def _ended(process: Process) -> int | None:
    """The status of a process that is about to end; nothing when it does not."""
    with suppress(TimeoutError):
        async with asyncio.timeout(LAST_WORDS):
            return await exited(process)
    return None


class _Tail:
    """The end of what a process writes to stderr."""

    def __init__(self) -> None:
        self._pieces: deque[bytes] = deque()
        self._size = 0

    async def take(self, stream: StreamReader) -> None:
        while piece := await stream.read(_PIECE):
            self._pieces.append(piece)
            self._size += len(piece)
            while self._size - len(self._pieces[0]) >= MAX_STDERR:
                self._size -= len(self._pieces.popleft())

    @property
    def text(self) -> str:
        return b"".join(self._pieces)[-MAX_STDERR:].decode(errors="replace")
