"""A small LSP client over a child process."""

from __future__ import annotations

import asyncio
import itertools
import os
import sys
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ollm_lsp import __version__
from ollm_lsp.terminal.errors import ClientError, RequestFailed, ServerDied
from ollm_lsp.terminal.framing import FramingError, encode, read_message
from ollm_lsp.terminal.payload import Payload
from ollm_lsp.terminal.replies import reply
from ollm_lsp.terminal.server_process import PATIENCE, ServerProcess

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Generator, Sequence

SERVER_COMMAND = (sys.executable, "-I", "-m", "ollm_lsp")
_START_TIME = 60.0
_CANCEL_TIME = 5.0
_REQUEST_CANCELLED = -32800
_INTERNAL_ERROR = -32603
_CAPABILITIES = {
    "general": {"positionEncodings": ["utf-8"]},
    "window": {"workDoneProgress": True},
    "experimental": {"ollm": {"status": True}},
}
_EDITING = {
    **_CAPABILITIES,
    "workspace": {
        "applyEdit": True,
        "workspaceEdit": {"documentChanges": True, "resourceOperations": ["create", "rename", "delete"]},
        "workspaceFolders": True,
    },
    "experimental": {"ollm": {"status": True, "permission": True}},
}
"""What a client has beyond that whose user can be asked, and whose files can be changed."""


class LspClient:
    """One connection. Handlers for notifications are kept by method in `on`, for progress by token."""

    def __init__(self, server: ServerProcess) -> None:
        self._server = server
        self._ids = itertools.count(1)
        self._pending: dict[int, asyncio.Future[Any]] = {}
        self._progress: dict[str | int, Callable[[Any], None]] = {}
        self._failure: Exception | None = None
        self.on: dict[str, Callable[[Any], None]] = {}
        self.answers: dict[str, Callable[[Any], Awaitable[Any]]] = {}
        """Who answers the server's requests, by method. All others have one answer for ever."""
        self._answering: dict[str | int, asyncio.Task[None]] = {}
        self.on_server_progress: Callable[[Any], None] = lambda _: None
        self._reader = asyncio.create_task(self._read())

    @classmethod
    async def start(cls, command: Sequence[str], *, edits: bool = False) -> LspClient:
        """Start the server and shake hands with it. With `edits` it may ask for changes of files."""
        try:
            server = await ServerProcess.start(command)
        except OSError as error:
            raise ServerDied(f"The language server cannot be started: {error}.") from None
        client = cls(server)
        try:
            await client._initialize(_EDITING if edits else _CAPABILITIES)
        except BaseException:
            await client._end(PATIENCE)
            raise
        return client

    async def request(self, method: str, params: Any = None) -> Any:
        """Ask and wait for the result. When cancelled, the server is told and its answer is awaited."""
        number, future = self._ask(method, params)
        try:
            return await asyncio.shield(future)
        except asyncio.CancelledError:
            if not future.done():
                self.notify("$/cancelRequest", {"id": number})
                await asyncio.wait([future], timeout=_CANCEL_TIME)
            raise

    def notify(self, method: str, params: Any = None) -> None:
        self._send({"method": method, **_with(params)})

    @contextmanager
    def progress(self, token: str | int, handler: Callable[[Any], None]) -> Generator[str | int]:
        """Hand the values of `$/progress` on that token to the handler."""
        self._progress[token] = handler
        try:
            yield token
        finally:
            del self._progress[token]

    async def close(self, patience: float = PATIENCE) -> None:
        """Say goodbye as LSP wants it; a server that does not listen is ended all the same."""
        try:
            if not self._failure:
                async with asyncio.timeout(patience):
                    await self._ask("shutdown", None)[1]
                    self.notify("exit")
                    await self._server.wait()
        except (TimeoutError, ClientError):
            pass
        finally:
            await self._end(patience)

    async def _initialize(self, capabilities: dict[str, Any]) -> None:
        folder = Path.cwd()
        params = {
            "processId": os.getpid(),
            "clientInfo": {"name": "ollm-lsp chat", "version": __version__},
            "rootUri": folder.as_uri(),
            "workspaceFolders": [{"uri": folder.as_uri(), "name": folder.name}],
            "capabilities": capabilities,
        }
        try:
            async with asyncio.timeout(_START_TIME):
                await self._ask("initialize", params)[1]
        except TimeoutError:
            raise ServerDied(f"The language server did not start within {_START_TIME:.0f} s.") from None
        self.notify("initialized", {})

    def _ask(self, method: str, params: Any) -> tuple[int, asyncio.Future[Any]]:
        number = next(self._ids)
        future: asyncio.Future[Any] = asyncio.get_running_loop().create_future()
        future.add_done_callback(_acknowledge)
        if self._failure:
            future.set_exception(self._failure)
        else:
            self._pending[number] = future
            self._send({"id": number, "method": method, **_with(params)})
        return number, future

    def _send(self, message: dict[str, Any]) -> None:
        if not self._server.stdin.is_closing():
            self._server.stdin.write(encode(message))

    async def _read(self) -> None:
        """Take in messages until the server ends; whoever still waits then learns why."""
        try:
            while (message := await read_message(self._server.stdout)) is not None:
                self._dispatch(message)
        except FramingError as error:
            self._fail(ServerDied(f"The language server wrote something that is not LSP: {error}."))
        except Exception as error:  # noqa: BLE001 (a handler failed; its error belongs to who waits, not to this task)
            self._fail(error)
        else:
            how = await self._server.end()
            self._fail(ServerDied("\n  ".join([f"The language server {how}.", *self._server.last_words])))

    def _fail(self, failure: Exception) -> None:
        self._failure = failure
        for future in self._pending.values():
            if not future.done():
                future.set_exception(failure)
        self._pending.clear()

    def _dispatch(self, message: dict[str, Any]) -> None:
        method = message.get("method")
        if not isinstance(method, str):
            self._settle(message)
        elif "id" in message:
            params = message.get("params")
            if method == "window/workDoneProgress/create":
                self._progress[Payload(params).token("token")] = self.on_server_progress
            if method in self.answers:
                self._answer(message["id"], self.answers[method], params)
            else:
                self._send({"id": message["id"], **reply(method, params)})
        elif method == "$/cancelRequest":
            if task := self._answering.get(Payload(message.get("params")).token("id")):
                task.cancel()
        elif method == "$/progress":
            progress = Payload(message.get("params"))
            if handler := self._progress.get(progress.token("token")):
                handler(progress.get("value"))
        elif handler := self.on.get(method):
            handler(message.get("params"))

    def _answer(self, number: str | int, answer: Callable[[Any], Awaitable[Any]], params: Any) -> None:
        """Answer when the user has; the server may withdraw its question."""

        async def work() -> None:
            try:
                self._send({"id": number, "result": await answer(params)})
            except asyncio.CancelledError:
                self._send({"id": number, "error": {"code": _REQUEST_CANCELLED, "message": "withdrawn"}})
                raise
            except Exception as error:  # noqa: BLE001 (the server must not wait for an answer that never comes)
                self._send({"id": number, "error": {"code": _INTERNAL_ERROR, "message": str(error)}})
            finally:
                del self._answering[number]

        self._answering[number] = asyncio.create_task(work())

    def _settle(self, message: dict[str, Any]) -> None:
        number = message.get("id")
        future = self._pending.pop(number, None) if isinstance(number, int) else None
        if future is None or future.done():
            return
        if (error := message.get("error")) is None:
            future.set_result(message.get("result"))
        else:
            failure = Payload(error)
            code = failure.number("code")
            future.set_exception(RequestFailed(int(code or 0), failure.text("message"), failure.get("data")))

    async def _end(self, patience: float) -> None:
        tasks = [self._reader, *self._answering.values()]
        for task in tasks:
            task.cancel()
        await asyncio.wait(tasks)
        self._fail(ServerDied("The connection to the language server is closed."))
        await self._server.end(patience)


def _with(params: Any) -> dict[str, Any]:
    """JSON-RPC has no `null` for params; without any, the member is left out."""
    return {} if params is None else {"params": params}


def _acknowledge(future: asyncio.Future[Any]) -> None:
    """Mark a failure as seen: the one who asked may have been cancelled and gone."""
    if not future.cancelled():
        future.exception()
