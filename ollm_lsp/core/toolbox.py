"""The tools of a chat: calls run side by side, and whatever goes wrong becomes a result that the model can read."""

from __future__ import annotations

import asyncio
from contextlib import contextmanager
from dataclasses import replace
from difflib import get_close_matches
from typing import TYPE_CHECKING, Any

from ollm_lsp.core.errors import OllmError
from ollm_lsp.core.events import ToolChanged
from ollm_lsp.core.fit import any_object
from ollm_lsp.core.image import Image
from ollm_lsp.core.tool import Location, ToolKind, ToolOutcome, ToolResult, ToolStatus

if TYPE_CHECKING:
    from collections.abc import Callable, Generator, Iterable, Sequence

    from ollm_lsp.core.ports import Fits, Tool
    from ollm_lsp.core.tool import ToolCall, ToolSpec

TIME_LIMIT = 60.0
GRACE = 0.1
"""Seconds that a tool has to clean up after it was stopped. Nobody waits for it longer."""
MAX_RESULT = 100_000
"""Characters of one result, whatever the size of the model's context."""


class Toolbox:
    """Some tools, by name."""

    def __init__(
        self,
        tools: Iterable[Tool] = (),
        *,
        fits: Fits = any_object,
        time_limit: float = TIME_LIMIT,
        grace: float = GRACE,
    ) -> None:
        self._tools = {tool.spec.name: tool for tool in tools}
        self.fits = fits
        self._time_limit = time_limit
        self._grace = grace
        self._running: set[asyncio.Task[Any]] = set()
        """Also those that go on although they were stopped: somebody has to hold them until they end."""

    @property
    def specs(self) -> tuple[ToolSpec, ...]:
        return tuple(tool.spec for tool in self._tools.values())

    def announced(self, event_id: str, call: ToolCall) -> ToolChanged:
        """A call that was just made, as it is shown."""
        tool = self._tools.get(call.name)
        kind = tool.kind if tool else ToolKind.OTHER
        title, locations = _shown(tool, call)
        return ToolChanged(event_id, call, kind, title, locations, ToolStatus.PENDING)

    async def run_all(
        self, announced: Sequence[ToolChanged], tell: Callable[[ToolChanged], None], *, max_chars: int = MAX_RESULT
    ) -> None:
        """Run all calls at once and tell of each how far it has come, until it is settled and has a result.

        Who cancels waits for no tool longer than the grace. Calls that were not settled by then stay so.
        """
        tasks = [asyncio.create_task(self._run(change, tell, max_chars)) for change in announced]
        if not tasks:
            return
        try:
            await asyncio.gather(*tasks)
        finally:
            for task in tasks:
                task.cancel()
            await asyncio.wait(tasks)

    async def _run(self, change: ToolChanged, tell: Callable[[ToolChanged], None], max_chars: int) -> None:
        outcome = _readable(await self._outcome(change, tell), change.call.name, max_chars)
        call, is_error = change.call, outcome.status is not ToolStatus.COMPLETED
        images = () if is_error else outcome.images
        result = ToolResult(call.id, call.name, outcome.text, is_error, images)
        tell(replace(change, status=outcome.status, result=result))

    async def _outcome(self, change: ToolChanged, tell: Callable[[ToolChanged], None]) -> ToolOutcome:
        call = change.call
        tool = self._tools.get(call.name)
        if tool is None:
            return _failure(_unknown(call.name, self._tools))
        if reason := self._misfit(tool, call):
            return _failure(f"The arguments of '{call.name}' do not fit: {reason}. Call it again with better ones.")
        run = _Run(change, tell, self._time_limit)
        run.show(ToolStatus.RUNNING)
        task = asyncio.create_task(_call(tool, call, run))
        self._running.add(task)
        task.add_done_callback(self._forget)
        try:
            async with asyncio.timeout(self._time_limit) as run.limit:
                await asyncio.wait([task])
        except TimeoutError:
            if not task.done():
                limit = f"{self._time_limit:g} s"
                return _failure(f"The tool '{call.name}' had not finished after {limit} and was stopped.")
        finally:
            run.is_over = True
            if not task.done():
                task.cancel()
                # A tool that does not end when it is told to is left alone.
                await asyncio.wait([task], timeout=self._grace)
        if task.cancelled():
            return _failure(f"The tool '{call.name}' stopped before it had a result.")
        if (error := task.exception()) is not None:
            return _failure(f"The tool '{call.name}' failed. {_words(error)}")
        return task.result()

    def _misfit(self, tool: Tool, call: ToolCall) -> str | None:
        try:
            return self.fits(tool.spec.parameters, call.arguments)
        except Exception as error:  # noqa: BLE001 (schemas and arguments are other people's)
            return f"they cannot be checked ({_words(error)})"

    def _forget(self, task: asyncio.Task[Any]) -> None:
        self._running.discard(task)
        if not task.cancelled():
            task.exception()  # looked at, or asyncio complains that nobody did


class _Run:
    """One call while it runs, as its tool sees it."""

    def __init__(self, change: ToolChanged, tell: Callable[[ToolChanged], None], time_limit: float) -> None:
        self.is_over = False
        self.limit: asyncio.Timeout | None = None
        self._change = change
        self._tell = tell
        self._time_limit = time_limit

    @property
    def id(self) -> str:
        return self._change.id

    def show(self, status: ToolStatus) -> None:
        self._tell(replace(self._change, status=status))

    @contextmanager
    def asking(self) -> Generator[None]:
        if self.is_over:
            raise asyncio.CancelledError  # a tool that was stopped must not ask for anything
        self._limit_to(None)
        self.show(ToolStatus.AWAITING_PERMISSION)
        try:
            yield
        finally:
            if not self.is_over:
                self._limit_to(self._time_limit)
                self.show(ToolStatus.RUNNING)

    def _limit_to(self, seconds: float | None) -> None:
        """Give the tool that many seconds from now on. There is no clock here, but a time limit knows when it ends."""
        if self.limit is not None and not self.limit.expired():
            self.limit.reschedule(asyncio.timeout(seconds).when())


def _shown(tool: Tool | None, call: ToolCall) -> tuple[str, tuple[Location, ...]]:
    if tool is None:
        return call.name, ()
    try:
        title, locations = str(tool.title(call.arguments)), tuple(tool.locations(call.arguments))
    except Exception:  # noqa: BLE001 (the arguments are a model's, and nothing has looked at them yet)
        return call.name, ()
    return title or call.name, locations


async def _call(tool: Tool, call: ToolCall, run: _Run) -> ToolOutcome:
    return _outcome_of(await tool.run(call.arguments, run), call.name)


def _outcome_of(value: Any, name: str) -> ToolOutcome:
    """What a tool returned, if it is what a tool returns."""
    outcome = ToolOutcome(value) if isinstance(value, str) else value
    if isinstance(outcome, ToolOutcome) and _is_text(outcome.text) and outcome.status.is_settled:
        return outcome if _are_images(outcome.images) else replace(outcome, images=())
    return _failure(f"The tool '{name}' returned something that is no result ({type(value).__name__}).")


def _is_text(value: object) -> bool:
    return isinstance(value, str)


def _are_images(values: tuple[object, ...]) -> bool:
    return all(isinstance(value, Image) for value in values)


def _readable(outcome: ToolOutcome, name: str, max_chars: int) -> ToolOutcome:
    """The outcome as a model can read it: whole characters, and not too many of them."""
    text, status = outcome.text, outcome.status
    if len(text) > max_chars:
        text = f"{text[:max_chars]}\n[Cut off: these are {max_chars:,} of {len(text):,} characters. Ask for less.]"
    try:
        text.encode()
    except UnicodeEncodeError:
        readable = text.encode(errors="replace").decode()
        text, status = f"The tool '{name}' returned broken text. What can be read of it:\n{readable}", ToolStatus.FAILED
    return replace(outcome, text=text, status=status)


def _failure(text: str) -> ToolOutcome:
    return ToolOutcome(text, ToolStatus.FAILED)


def _unknown(name: str, known: Iterable[str]) -> str:
    names = sorted(known)
    if not names:
        return f"There is no tool '{name}', and no other one either. Answer without tools."
    folded = {known.casefold(): known for known in names}
    near = [folded[match] for match in get_close_matches(name.casefold(), folded, cutoff=0.5)]
    hint = f"Did you mean {' or '.join(near)}?" if near else f"The tools are {', '.join(names)}."
    return f"There is no tool '{name}'. {hint}"


def _words(error: BaseException) -> str:
    if isinstance(error, OllmError):
        return str(error)
    try:
        text = str(error)
    except Exception:  # noqa: BLE001 (a tool may raise anything, even what cannot be shown)
        text = ""
    return f"{type(error).__name__}: {text}" if text else f"{type(error).__name__}."
