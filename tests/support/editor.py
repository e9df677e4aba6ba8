"""A bare editor for tests: the real server in a process of its own, and every byte under the test's control."""

from __future__ import annotations

import asyncio
import json
import os
import sys
from collections import defaultdict
from contextlib import asynccontextmanager
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import AsyncGenerator, Callable, Mapping
    from pathlib import Path
    from typing import BinaryIO

SERVER = (sys.executable, "-I", "-m", "ollm_lsp")


class Refused(Exception):
    """The server answered a request with an error."""

    def __init__(self, error: dict[str, Any]) -> None:
        super().__init__(error["message"])
        self.code: int = error["code"]
        self.message: str = error["message"]
        self.data: dict[str, Any] = error.get("data") or {}


class Editor:
    """Talks to one server; keeps everything that the server sends."""

    def __init__(self, process: asyncio.subprocess.Process) -> None:
        self.process = process
        self.notifications: list[tuple[str, dict[str, Any]]] = []
        self.progress: dict[Any, list[dict[str, Any]]] = defaultdict(list)
        self.responses: list[dict[str, Any]] = []
        self.answer: dict[str, Callable[[dict[str, Any]], Any]] = {}
        """How requests of the server are answered, by method. All others stay open, and those answered by nothing."""
        self.asked: list[dict[str, Any]] = []
        self._waiting: dict[Any, asyncio.Future[Any]] = {}
        self._is_killed = False
        self._changed = asyncio.Condition()
        self._next_id = 0
        self._reading = asyncio.ensure_future(self._read())

    def send_bytes(self, data: bytes) -> None:
        assert self.process.stdin is not None
        self.process.stdin.write(data)

    def send(self, message: Any) -> None:
        body = json.dumps(message).encode()
        self.send_bytes(b"Content-Length: %d\r\n\r\n%b" % (len(body), body))

    def notify(self, method: str, params: Any = None) -> None:
        self.send({"jsonrpc": "2.0", "method": method, "params": params})

    def start_request(self, method: str, params: Any = None, number: Any = None) -> tuple[Any, asyncio.Future[Any]]:
        """Send a request; its id, and what will be its result."""
        if number is None:
            self._next_id += 1
            number = self._next_id
        future = asyncio.get_running_loop().create_future()
        self._waiting[number] = future
        self.send({"jsonrpc": "2.0", "id": number, "method": method, "params": params})
        return number, future

    async def request(self, method: str, params: Any = None, number: Any = None) -> Any:
        return await self.start_request(method, params, number)[1]

    async def initialize(self, **params: Any) -> dict[str, Any]:
        result = await self.request("initialize", {"processId": os.getpid(), "capabilities": {}, **params})
        self.notify("initialized", {})
        return result

    def open(self, uri: str, text: str, language: str = "python") -> None:
        self.notify(
            "textDocument/didOpen",
            {"textDocument": {"uri": uri, "languageId": language, "version": 1, "text": text}},
        )

    async def chat(self, text: str, token: str = "events", **params: Any) -> dict[str, Any]:
        return await self.request("ollm/chat/send", {"text": text, "partialResultToken": token, **params})

    async def until(self, condition: Callable[[], Any]) -> Any:
        """Wait until something that the server sends makes the condition true."""
        async with self._changed:
            await self._changed.wait_for(condition)
        return condition()

    async def tell(self) -> None:
        """Something has changed on this side: whoever waits looks again."""
        async with self._changed:
            self._changed.notify_all()

    def notified(self, method: str) -> list[dict[str, Any]]:
        return [params for name, params in self.notifications if name == method]

    async def wait(self) -> int:
        """The exit status, once the server has ended and everything it said is read."""
        status = await self.process.wait()
        await self._reading
        return status

    async def kill(self) -> None:
        """End the server without a warning; the last thing it said may be half a message."""
        self._is_killed = True
        self.process.kill()
        await self.wait()

    async def close(self) -> None:
        if self.process.stdin is not None:
            self.process.stdin.close()
        await self.wait()

    async def _read(self) -> None:
        try:
            await self._read_messages()
        except (asyncio.IncompleteReadError, ValueError):
            if not self._is_killed:
                raise
        for future in self._waiting.values():
            future.cancel()
        await self.tell()

    async def _read_messages(self) -> None:
        stdout = self.process.stdout
        assert stdout is not None
        while header := await stdout.readline():
            length = 0
            while header.strip():
                name, _, value = header.partition(b":")
                assert name.isascii(), f"not LSP on stdout: {header!r}"
                length = int(value) if name.lower() == b"content-length" else length
                header = await stdout.readline()
            self._take(json.loads(await stdout.readexactly(length)))
            await self.tell()

    def _take(self, message: dict[str, Any]) -> None:
        method = message.get("method")
        if method is None:
            self.responses.append(message)
            future = self._waiting.pop(message["id"], None)
            if future is None or future.done():
                return
            if "error" in message:
                future.set_exception(Refused(message["error"]))
            else:
                future.set_result(message["result"])
        elif "id" in message:
            self.asked.append(message)
            if method in self.answer:
                answer = self.answer[method](message["params"])
                if answer is not None:
                    self.send({"jsonrpc": "2.0", "id": message["id"], **answer})
        elif method == "$/progress":
            self.progress[message["params"]["token"]].append(message["params"]["value"])
        else:
            self.notifications.append((method, message["params"]))


def environment(tmp_path: Path, settings: str | None = None, **more: str) -> dict[str, str]:
    """The environment of a user who has nothing but these settings."""
    config = tmp_path / "config.yaml"
    if settings is not None:
        config.write_text(settings)
    kept = {key: value for key, value in os.environ.items() if not key.startswith("OLLM_")}
    return kept | {"OLLM_CONFIG": str(config), "OLLM_STATE_DIR": str(tmp_path / "state"), "HOME": str(tmp_path)} | more


@asynccontextmanager
async def editor(
    environ: Mapping[str, str], *, command: tuple[str, ...] = SERVER, log: BinaryIO | None = None
) -> AsyncGenerator[Editor]:
    """A running server that is not initialized yet; it is gone afterwards. Its log may go into a file."""
    process = await asyncio.create_subprocess_exec(
        *command,
        stdin=asyncio.subprocess.PIPE,
        stdout=asyncio.subprocess.PIPE,
        stderr=log,
        env=dict(environ),
        limit=1 << 26,
    )
    running = Editor(process)
    try:
        yield running
    finally:
        await running.close()
