"""The state of one editor session, and what the outer layer hands to it."""

from __future__ import annotations

import asyncio
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, Protocol, TypeVar
from uuid import uuid4

from ollm_lsp.lsp import protocol
from ollm_lsp.lsp.capabilities import ClientCapabilities
from ollm_lsp.lsp.documents import Documents
from ollm_lsp.lsp.progress import WorkDone
from ollm_lsp.lsp.published import Published
from ollm_lsp.lsp.virtual import VirtualDocuments

if TYPE_CHECKING:
    from collections.abc import AsyncGenerator, Callable, Coroutine, Generator, Mapping, Sequence
    from contextlib import AbstractAsyncContextManager
    from pathlib import Path

    from ollm_lsp.core.conversation import Conversations
    from ollm_lsp.core.events import Warned
    from ollm_lsp.core.finding import Finding
    from ollm_lsp.core.ports import Fits, GrantStore, Kraken, Ledger, ProposalStore, Provider, ResponseStore, Sink
    from ollm_lsp.kraken.hooks import Hooks
    from ollm_lsp.lsp.ai_hints import AiHints
    from ollm_lsp.lsp.chat_stream import ChatStream
    from ollm_lsp.lsp.place import Place
    from ollm_lsp.lsp.proposals import Proposals
    from ollm_lsp.lsp.rpc import Rpc
    from ollm_lsp.lsp.standard import Token
    from ollm_lsp.lsp.stdio import Writer
    from ollm_lsp.settings.problems import Problem
    from ollm_lsp.settings.resolve import Resolution
    from ollm_lsp.settings.resolved import Settings
    from ollm_lsp.tools.toolset import Toolset

Made = TypeVar("Made")


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

    async def kraken(self) -> Kraken:
        """The external providers."""
        ...

    def external(self, name: str, *, is_trusted: bool) -> AbstractAsyncContextManager[Provider]:
        """An external provider by its name in the settings; whoever asks has the user's consent."""
        ...

    async def ledger(self) -> Ledger:
        """Where calls to external providers are paid."""
        ...

    async def hooks(self) -> Hooks:
        """The programs of the user that are told of releases."""
        ...

    async def grants(self) -> GrantStore:
        """Where answers of the user are kept that stand for good."""
        ...

    async def settings_file(self) -> str:
        """The address of the user's settings file, which is made where there is none."""
        ...

    def examine(self) -> AsyncGenerator[Finding]:
        """Look at settings, providers and the rest, telling each finding as it is made."""
        ...

    async def keep_chat(self, text: str) -> str:
        """Keep a new chat document; the result is its address."""
        ...

    async def fits(self) -> Fits:
        """The check of tool calls against the schemas of their tools."""
        ...

    async def sweep(self) -> None:
        """End and remove what killed servers left behind."""
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
        self.conversation_id: str | None = None
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
        self.published = Published(rpc)
        self.folders: list[str] = []
        self.editor_options: dict[str, Any] = {}
        """As `initialize` brought them; what the editor tells later goes over them."""
        self.told_options: dict[str, Any] = {}
        self.leaving = asyncio.Event()
        self.exit_status = 1
        self.narrowing: asyncio.Task[None] | None = None
        self.away: dict[str, str] = {}
        """The external provider that a conversation stays with, by the conversation's id."""
        self.releases = 0
        """How many are under way."""
        self._working: list[Work] = []
        self._tasks: set[asyncio.Task[Any]] = set()
        self._conversations: Conversations | None = None
        self._proposals: Proposals | None = None
        self.diagnostics: dict[str, list[dict[str, Any]]] = {}
        """What code action requests told of other language servers, by document."""
        self.last_settings: Settings | None = None
        """As they were when somebody last asked for them, for those who cannot wait."""
        self.place: Place | None = None
        """Where the user was when the editor last asked for code actions."""
        self._ai_hints: AiHints | None = None
        self.followers: list[Callable[[str, str], None]] = []
        """Who wants to hear of renamed files and folders: the old address, then the new one."""
        self.streams: dict[str, ChatStream] = {}
        """The answers that are on their way into chat documents, by the key of the document."""
        self.checks: dict[str, asyncio.Task[None]] = {}
        """The looks at chat documents that are due, by the key of the document."""
        self.virtual = VirtualDocuments()
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

    @property
    def ai_hints(self) -> AiHints:
        if self._ai_hints is None:
            from ollm_lsp.lsp.ai_hints import AiHints  # noqa: PLC0415 (start-up time)

            self._ai_hints = AiHints(self)
        return self._ai_hints

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
        if resolution.settings is not self.last_settings:
            before, self.last_settings = self.last_settings, resolution.settings
            self._tell_settings(before, resolution.settings)
        return resolution

    def renew_settings(self) -> None:
        """Read the settings again in the background, so that `last_settings` is not older than one question."""
        self.spawn(self.settings())

    def _tell_settings(self, before: Settings | None, now: Settings) -> None:
        """Tell the client what follows from other settings."""
        self.tell_status(model=str(now.model))
        if now.kraken.enabled or (before and before.kraken.enabled):
            from ollm_lsp.lsp.kraken_status import tell_kraken  # noqa: PLC0415 (most have none)

            self.spawn(tell_kraken(self))

    async def usable_settings(self) -> Settings:
        """Settings that are the user's: the defaults may name another server than the one they mean."""
        resolution = await self.settings()
        if resolution.broken is not None:
            from ollm_lsp.core.errors import SettingsError  # noqa: PLC0415 (start-up time)

            raise SettingsError(resolution.broken.finding, remedy=resolution.broken.remedy)
        return resolution.settings

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

    def stop(self, token: Token | None = None, conversation_id: str | None = None) -> int:
        """Stop what has that token and belongs to that conversation, as far as they are given; how much that is."""
        stopped = [
            work
            for work in self._working
            if token in {None, work.token} and conversation_id in {None, work.conversation_id}
        ]
        for work in stopped:
            work.stop()
        return len(stopped)

    def spawn(self, coroutine: Coroutine[Any, Any, Made]) -> asyncio.Task[Made]:
        """Run something in the background until the session ends."""
        task = asyncio.ensure_future(coroutine)
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)
        return task

    def tell_status(self, **news: Any) -> None:
        """Tell the client what is going on, if it wants to know and if it has changed."""
        known = {"kraken": "none", "spent": 0, **self._status, **news, "busy": bool(self._working)}
        status = {name: value for name, value in known.items() if value is not None}
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
