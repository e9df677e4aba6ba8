"""The state of one editor session, and what the outer layer hands to it."""

from __future__ import annotations

import asyncio
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, Protocol
from uuid import uuid4

from ollm_lsp.lsp import protocol
from ollm_lsp.lsp.capabilities import ClientCapabilities
from ollm_lsp.lsp.documents import Documents
from ollm_lsp.lsp.progress import WorkDone

if TYPE_CHECKING:
    from collections.abc import Generator, Mapping, Sequence
    from contextlib import AbstractAsyncContextManager
    from pathlib import Path

    from ollm_lsp.core.conversation import Conversations
    from ollm_lsp.core.events import Warned
    from ollm_lsp.core.ports import Fits, ProposalStore, Provider, ResponseStore, Sink
    from ollm_lsp.lsp.proposals import Proposals
    from ollm_lsp.lsp.protocol import Token
    from ollm_lsp.lsp.rpc import Rpc
    from ollm_lsp.lsp.stdio import Writer
    from ollm_lsp.settings.problems import Problem
    from ollm_lsp.settings.resolve import Resolution
    from ollm_lsp.tools.toolset import Toolset


class Services(Protocol):
    """What the composition root gives to the session."""

    def narrow(self, editor: Mapping[str, Any], folders: Sequence[Path]) -> None:
        """Take note of the editor's settings and folders, which may narrow the user's own settings."""
        ...

    async def settings(self) -> Resolution:
        """The settings as they are now; changed files are read again."""
        ...

    def provider(self, name: str) -> AbstractAsyncContextManager[Provider]: ...

    async def store(self, *, is_kept: bool) -> ResponseStore:
        """Where conversations are kept, or, if they are not, where they are until the process ends."""
        ...

    async def toolset(self) -> Toolset:
        """The tools that models may call."""
        ...

    async def proposals(self) -> ProposalStore:
        """Where accepted proposals are kept, to be taken back."""
        ...

    async def keep_text(self, text: str) -> str:
        """Keep a text where the editor can open it; the result is its address."""
        ...

    async def fits(self) -> Fits:
        """The check of tool calls against the schemas of their tools."""
        ...

    async def close(self) -> None: ...


class Work:
    """Something that runs for a request and that the user can stop by the progress' cancel button."""

    def __init__(self, token: Token | None) -> None:
        task = asyncio.current_task()
        if task is None:
            raise AssertionError("work is done by a task")
        self.token = token
        self.task = task
        self._stopped = False

    def stop(self) -> None:
        self._stopped = True
        self.task.cancel()

    def resume(self) -> bool:
        """After `CancelledError`: whether only the button was pressed, so that the request still wants its answer."""
        return self._stopped and self.task.uncancel() == 0


class Session:
    """Everything that lives as long as the connection to the editor."""

    def __init__(self, rpc: Rpc, writer: Writer, services: Services) -> None:
        self.rpc = rpc
        self.writer = writer
        self.services = services
        self.client = ClientCapabilities()
        self.documents = Documents(self.client.encoding)
        self.folders: list[str] = []
        self.editor_options: dict[str, Any] = {}
        """As `initialize` brought them; what the editor is asked for later goes over them."""
        self.leaving = asyncio.Event()
        self.exit_status = 1
        self.narrowing: asyncio.Task[None] | None = None
        self._working: list[Work] = []
        self._tasks: set[asyncio.Task[Any]] = set()
        self._conversations: Conversations | None = None
        self._proposals: Proposals | None = None
        self.diagnostics: dict[str, list[dict[str, Any]]] = {}
        """What code action requests told of other language servers, by document."""
        self._told: tuple[Problem, ...] = ()
        self._store_warning: Warned | None = None
        self._status: dict[str, Any] = {}

    @property
    def conversations(self) -> Conversations:
        if self._conversations is None:
            from ollm_lsp.core.conversation import Conversations  # noqa: PLC0415 (start-up time)

            self._conversations = Conversations(new_id)
        return self._conversations

    @property
    def proposals(self) -> Proposals:
        if self._proposals is None:
            from ollm_lsp.lsp.proposals import Proposals  # noqa: PLC0415 (start-up time)

            self._proposals = Proposals(self)
        return self._proposals

    async def settings(self) -> Resolution:
        """The settings as they are now. New problems are shown to the user once."""
        if self.narrowing is not None:
            # What the editor is about to narrow must not be used before.
            await asyncio.wait([self.narrowing])
        resolution = await self.services.settings()
        for problem in resolution.problems:
            # Of a file that cannot be read at all, the chat itself tells.
            if problem not in self._told and problem != resolution.broken:
                self.rpc.notify("window/showMessage", {"type": 2, "message": f"ollm: {problem}"})
        self._told = resolution.problems
        return resolution

    async def store(self) -> ResponseStore:
        """Where conversations are kept, if the settings say so."""
        settings = (await self.settings()).settings
        return await self.services.store(is_kept=settings.chat.keep_conversations)

    def warn_of_store(self, warning: Warned, sink: Sink) -> None:
        """Tell in a chat that it is not kept; once, as long as it is for the same reason."""
        if warning != self._store_warning:
            self._store_warning = warning
            sink.emit(warning)

    @contextmanager
    def work(self, token: Token | None) -> Generator[tuple[WorkDone, Work]]:
        """Run something that takes time: it has a progress, it can be stopped, and the status shows it."""
        progress = WorkDone(self.rpc, token, may_create=self.client.progress)
        work = Work(progress.token)
        self._working.append(work)
        self.tell_status()
        try:
            yield progress, work
        finally:
            self._working.remove(work)
            self.tell_status()

    def stop(self, token: Token) -> None:
        """The cancel button of a progress was pressed."""
        for work in self._working:
            if work.token == token:
                work.stop()

    def spawn(self, coroutine: Any) -> None:
        """Run something in the background until the session ends."""
        task = asyncio.ensure_future(coroutine)
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)

    def tell_status(self, **news: Any) -> None:
        """Tell the client what is going on, if it wants to know and if it has changed."""
        status = {"kraken": "none", "spent": 0, **self._status, **news, "busy": bool(self._working)}
        if self.client.status and "model" in status and status != self._status:
            self.rpc.notify(protocol.STATUS, status)
        self._status = status

    async def stop_all(self) -> None:
        """End everything that runs, and wait until its resources are released."""
        current = asyncio.current_task()
        tasks = [task for task in (*self.rpc.tasks(), *self._tasks) if task is not current]
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)


def new_id() -> str:
    """An id that nobody else has."""
    return uuid4().hex
