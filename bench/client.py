"""A small LSP client that reads as fast as it can and notes when each answer came."""

import asyncio
import json
import os
from asyncio.subprocess import PIPE, Process
from collections.abc import AsyncGenerator, Callable
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from tempfile import TemporaryFile
from time import monotonic
from typing import Any

from bench.meter import settle
from bench.program import Program

LIMIT = 1 << 24
EXIT_TIME = 10.0
NONE = "ollm/bench/none"
"""A method that no server knows: it is refused at once, after everything that was sent before it."""


@dataclass(frozen=True)
class Answer:
    """The answer to a request, and when it came."""

    message: dict[str, Any]
    arrived: float

    @property
    def code(self) -> int | None:
        """That of the error, if it is one."""
        return self.message.get("error", {}).get("code")


class Client:
    """One connection to a server that was started for it."""

    def __init__(self, process: Process, began: float) -> None:
        assert process.stdin
        assert process.stdout
        self.pid = process.pid
        self.began = began
        self.heard: Callable[[Any, Any, float], None] = lambda _token, _value, _arrived: None
        """Called with the token and the value of each `$/progress`, and its time."""
        self._output = process.stdin
        self._input = process.stdout
        self._waiting: dict[int, asyncio.Future[Answer]] = {}
        self._number = 0
        self._reading = asyncio.ensure_future(self._read())

    def post(self, method: str, params: Any = None) -> tuple[int, asyncio.Future[Answer]]:
        """Send a request without waiting for its answer."""
        self._number += 1
        future = self._waiting[self._number] = asyncio.get_running_loop().create_future()
        self._write({"id": self._number, "method": method, "params": params})
        return self._number, future

    async def ask(self, method: str, params: Any = None) -> Answer:
        return await self.post(method, params)[1]

    def chat(self, model: str, name: str = "stream") -> tuple[int, asyncio.Future[Answer]]:
        """Ask a model; its events come on the token of that name."""
        return self.post("ollm/chat/send", {"text": "Count.", "model": model, "partialResultToken": name})

    async def answer(self, model: str) -> str:
        """The whole answer of a model."""
        answer = await self.chat(model)[1]
        assert "result" in answer.message, answer
        return answer.message["result"]["text"]

    def notify(self, method: str, params: Any) -> None:
        self._write({"method": method, "params": params})

    async def barrier(self) -> Answer:
        """Wait until the server has handled everything that was sent."""
        answer = await self.ask(NONE)
        assert answer.code == -32601, answer
        return answer

    async def begin(self) -> None:
        """Initialize, and wait until the server has come to rest."""
        await self.initialize()
        self.initialized()
        await settle(self.pid)

    async def initialize(self) -> Answer:
        answer = await self.ask("initialize", {"processId": os.getpid(), "rootUri": None, **_capabilities()})
        assert "result" in answer.message, answer
        return answer

    def initialized(self) -> None:
        self.notify("initialized", {})

    async def leave(self) -> None:
        await self.ask("shutdown")
        self.notify("exit", None)
        await self._reading

    def close(self) -> None:
        self._reading.cancel()
        self._output.close()

    def _write(self, message: dict[str, Any]) -> None:
        body = json.dumps({"jsonrpc": "2.0", **message}).encode()
        self._output.write(b"Content-Length: %d\r\n\r\n%b" % (len(body), body))

    async def _read(self) -> None:
        try:
            while True:
                header = await self._input.readuntil(b"\r\n\r\n")
                length = next(line for line in header.split(b"\r\n") if line.lower().startswith(b"content-length:"))
                body = await self._input.readexactly(int(length.partition(b":")[2]))
                self._take(json.loads(body), monotonic())
        except asyncio.IncompleteReadError:
            for future in self._waiting.values():
                if not future.done():
                    future.set_exception(EOFError("the server has ended"))

    def _take(self, message: dict[str, Any], arrived: float) -> None:
        method = message.get("method")
        if method is None:
            future = self._waiting.pop(message["id"])
            if not future.done():
                future.set_result(Answer(message, arrived))
        elif method == "$/progress":
            self.heard(message["params"]["token"], message["params"]["value"], arrived)
        elif "id" in message:
            configuration = method == "workspace/configuration"
            result = [None for _ in message["params"]["items"]] if configuration else None
            self._write({"id": message["id"], "result": result})


@asynccontextmanager
async def running(program: Program) -> AsyncGenerator[Client]:
    """Start a server; it is gone at the end, and what it logged is shown when something went wrong."""
    with TemporaryFile() as log:
        began = monotonic()
        process = await asyncio.create_subprocess_exec(
            *program.command, stdin=PIPE, stdout=PIPE, stderr=log, limit=LIMIT, env=program.environment
        )
        client = Client(process, began)
        try:
            yield client
            with suppress(TimeoutError):  # some peers are slow to leave, and are not measured by that
                await asyncio.wait_for(client.leave(), EXIT_TIME)
        except BaseException:
            log.seek(0)
            print(f"{program.name} logged:\n{log.read().decode(errors='replace')}")
            raise
        finally:
            client.close()
            try:
                await asyncio.wait_for(process.wait(), EXIT_TIME)
            except TimeoutError:
                process.kill()
                await process.wait()


@cache
def _capabilities() -> dict[str, Any]:
    """What VS Code says of itself, as pytest-lsp recorded it."""
    recordings = files("pytest_lsp.clients").iterdir()
    newest = max(
        (file for file in recordings if file.name.startswith("visual_studio_code_")), key=lambda file: file.name
    )
    return json.loads(newest.read_text())
