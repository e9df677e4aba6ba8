"""Messages of every kind against the running server: each request answered once, and the server lives."""

from __future__ import annotations

import asyncio
import json
import tempfile
from collections import Counter
from contextlib import asynccontextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

import psutil

from tests.support.editor import editor, environment
from tests.support.kraken import LocalModel
from tests.torture.client_words import Client, Said, answers
from tests.torture.mutations import JUNK
from tests.torture.run import Tally
from tests.torture.shrink import shrink

if TYPE_CHECKING:
    import random
    from collections.abc import AsyncGenerator, Sequence

    from tests.support.editor import Editor
    from tests.torture.run import Run

BATCH = 250
PATIENCE = 120.0
"""Seconds without an answer that are a hang."""
WARM = 5_000
"""So many messages until the memory is looked at for the first time."""
GROWTH = 96 * 1024 * 1024
"""More memory than this, over all later messages, is a leak. A large document alone takes a part of it."""
SHRINKING = 40
ASKED = ("ollm/permission", "window/showMessageRequest", "window/showDocument", "workspace/applyEdit",
         "workspace/configuration", "client/registerCapability", "window/workDoneProgress/create")  # fmt: skip


class Victim:
    """A running server, what it said to its log, and how much memory it has."""

    def __init__(self, server: Editor, log: Path) -> None:
        self.server = server
        self.log = log
        self.expected: Counter[str] = Counter()

    @property
    def memory(self) -> int:
        return psutil.Process(self.server.process.pid).memory_info().rss

    @property
    def answered(self) -> Counter[str]:
        return Counter(json.dumps(response["id"]) for response in self.server.responses)

    async def take(self, said: Sequence[Said]) -> str | None:
        """Say all of it, wait for the answers, and tell what is wrong with them."""
        self.server.responses.clear()
        for one in said:
            self.server.send_bytes(one.raw)
        wanted = answers(list(said))
        wanted['"end"'] += 1
        self.server.send({"jsonrpc": "2.0", "id": "end", "method": "torture/end"})
        try:
            await asyncio.wait_for(self.server.until(lambda: self._is_over(wanted)), PATIENCE)
        except TimeoutError:
            missing = wanted - self.answered
            return f"hang: no answer to {[*missing][:5]}"
        except asyncio.CancelledError:
            return "the server died"
        if self.server.process.returncode is not None:
            return f"the server died ({self.server.process.returncode})"
        if extra := self.answered - wanted:
            return f"answered more than once: {[*extra][:5]}"
        return self._crash()

    def _is_over(self, wanted: Counter[str]) -> bool:
        # The sum first: it is cheap, and asked after every message.
        is_all = len(self.server.responses) >= wanted.total() and not wanted - self.answered
        return is_all or self.server.process.returncode is not None

    def _crash(self) -> str | None:
        for response in self.server.responses:
            error: Any = response.get("error") or {}
            if str(error.get("message", "")).startswith("Unexpected "):
                return f"crash: {self._last_words()}"
        if b"Traceback" in self.log.read_bytes():
            return f"crash: {self._last_words()}"
        return None

    def _last_words(self) -> str:
        return " | ".join(self.log.read_text(errors="replace").strip().splitlines()[-4:])


@asynccontextmanager
async def victim(model: LocalModel, chance: random.Random, *, starts: bool = True) -> AsyncGenerator[Victim]:
    """A server with a small local model, whose client answers anything to whatever it is asked."""
    settings = (
        f"model: 'local:m'\nproviders:\n  local: {{type: openai, baseUrl: '{model.url}/v1', maxRetries: 0}}\n"
        "  ollama: {type: ollama, baseUrl: 'http://127.0.0.1:9', maxRetries: 0}\n"
    )

    def answer(_params: Any) -> dict[str, Any]:
        return {chance.choice(("result", "result", "error")): chance.choice(JUNK)}

    with tempfile.TemporaryDirectory(prefix="torture-") as folder:
        log = Path(folder) / "log"
        environ = environment(Path(folder), settings, PIP_INDEX_URL="http://127.0.0.1:9/", PIP_NO_INDEX="1")
        with log.open("wb") as file:
            async with editor(environ, log=file) as server:
                server.answer |= dict.fromkeys(ASKED, answer)
                if starts:
                    await server.initialize(workspaceFolders=None, capabilities={"workspace": {"configuration": True}})
                yield Victim(server, log)


async def _fuzz(run: Run) -> Tally:
    tally, chance = Tally("messages"), run.chance("messages")
    async with LocalModel() as model:
        while tally.counts.get("messages", 0) < run.size.messages and not tally.is_enough:
            await _one_server(run, tally, chance, model)
    return tally


async def _one_server(run: Run, tally: Tally, chance: random.Random, model: LocalModel) -> None:
    """As many messages as are left, or until one of them does harm."""
    client, warm, sent = Client(chance), 0, 0
    async with victim(model, chance) as target:
        while (done := tally.counts.get("messages", 0)) < run.size.messages:
            batch = [client.say() for _ in range(min(BATCH, run.size.messages - done))]
            why = await target.take(batch)
            client.conversations += [
                result["conversationId"]
                for response in target.server.responses
                if isinstance(result := response.get("result"), dict) and "conversationId" in result
            ]
            sent += len(batch)
            tally.count("messages", len(batch))
            tally.count("responses", len(target.server.responses))
            target.server.progress.clear()
            target.server.notifications.clear()
            target.server.asked.clear()
            model.requests.clear()
            model.responders.clear()
            if why:
                small = await _smaller(batch, chance, model)
                path = run.keep("messages", {"messages": [one.raw.decode("latin-1") for one in small]})
                tally.fail(f"({path.name}, {len(small)} messages) {why}")
                await target.server.kill()
                return
            if not warm and sent >= WARM:
                warm = target.memory
        if warm:
            growth = target.memory - warm
            tally.count("MB grown", growth // 2**20)
            if growth > GROWTH:
                tally.fail(f"the server grew by {growth >> 20} MB")
        await target.server.request("shutdown")
        target.server.notify("exit")
        if status := await target.server.wait():
            tally.fail(f"the server ended with {status}")


async def _smaller(batch: Sequence[Said], chance: random.Random, model: LocalModel) -> list[Said]:
    """A part of the messages that does the same to a new server; all of them when that cannot be found."""
    loop, tries = asyncio.get_running_loop(), 0

    async def fails(some: Sequence[Said]) -> bool:
        async with victim(model, chance) as target:
            why = await target.take(some)
            if why:
                await target.server.kill()
            return bool(why)

    def is_bad(some: list[Said]) -> bool:
        nonlocal tries
        tries += 1
        if tries > SHRINKING:
            return False
        return asyncio.run_coroutine_threadsafe(fails(some), loop).result()

    return await asyncio.to_thread(shrink, batch, is_bad)


def fuzz(run: Run) -> Tally:
    """All messages of a run."""
    return asyncio.run(_fuzz(run))


async def replay(case: dict[str, Any], chance: random.Random) -> str | None:
    """Say the messages of a kept case once more."""
    from tests.torture.client_words import expected  # noqa: PLC0415 (only cases need it)

    raws = [raw.encode("latin-1") for raw in case["messages"]]
    said = [Said(raw, expected(raw.partition(b"\r\n\r\n")[2])) for raw in raws]
    async with LocalModel() as model, victim(model, chance) as target:
        why = await target.take(said)
        if why:
            await target.server.kill()
        return why
