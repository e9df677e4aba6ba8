"""A mixed load for minutes, with faults every few seconds: everything answered once, and nothing that grows."""

from __future__ import annotations

import asyncio
import os
import tempfile
import time
from collections import Counter
from contextlib import AbstractAsyncContextManager, asynccontextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeAlias

import psutil

from ollm_lsp.core.foreign_json import object_in, text_in
from tests.support.editor import Editor, Refused, editor, environment
from tests.support.fake_ollama import Call, Die, Fail, FakeOllama, Say, words
from tests.support.fake_vendors import FakeVendors
from tests.support.near_server import near_editor
from tests.support.workspace_client import RICH, WorkspaceClient
from tests.torture.run import Tally

if TYPE_CHECKING:
    import random
    from collections.abc import AsyncGenerator, Callable, Mapping

    from tests.torture.run import Run

USERS = 6
PAUSE = 0.05
FAULT_EVERY = 3.0
PATIENCE = 120.0
MOST_MEMORY = 48 * 2**20
"""What a server may grow by after its warm-up, however long the load goes on."""
ALLOWED = {"handles": 2, "threads": 2, "children": 0, "memory": MOST_MEMORY}
"""How much more than after the warm-up a server may hold when nobody asks."""
TEXT = "def add(a, b):\n    return a - b\n" * 20
Start: TypeAlias = "Callable[[Mapping[str, str]], AbstractAsyncContextManager[Editor]]"


@dataclass
class Office:
    """A window that several people use at once, and the servers behind it."""

    client: WorkspaceClient
    fake: FakeOllama
    settings: Path
    chance: random.Random
    tally: Tally
    sent: Counter[Any] = field(default_factory=Counter[Any])
    numbers: int = 0

    async def work(self, seconds: float) -> None:
        """Everybody works, and something breaks now and then, until the time is over."""
        end = time.monotonic() + seconds
        await asyncio.gather(self._break_things(end), *(self._user(number, end) for number in range(USERS)))

    async def _user(self, number: int, end: float) -> None:
        conversation: str | None = None
        while time.monotonic() < end:
            act = self.chance.choice(
                (self._chat, self._chat, self._cancelled, self._type, self._look, self._act, self._release)
            )
            result = await act(number, conversation)
            known = text_in(object_in(result).get("conversationId"))
            conversation = (known or conversation) if result and self.chance.random() < 0.8 else None
            await asyncio.sleep(PAUSE * self.chance.random())

    async def _ask(self, method: str, params: dict[str, Any], *, cancels: bool = False) -> Any:
        self.numbers += 1
        number = f"soak-{self.numbers}"
        self.sent[number] += 1
        _, answer = self.client.editor.start_request(method, params, number)
        if cancels:
            await asyncio.sleep(self.chance.random() * 0.2)
            self.client.editor.notify("$/cancelRequest", {"id": number})
        try:
            return await asyncio.wait_for(answer, PATIENCE)
        except Refused as refusal:
            self.tally.count(f"refused {refusal.data.get('code', refusal.code)}")
            if refusal.data.get("code") == "internal":
                self.tally.fail(f"{method}: {refusal.message}")
        except TimeoutError:
            self.tally.fail(f"{method}: no answer")
        return None

    async def _chat(self, number: int, conversation: str | None) -> Any:
        known = {"conversationId": conversation} if conversation else {}
        return await self._ask("ollm/chat/send", {"text": "How?", "partialResultToken": f"t{number}", **known})

    async def _cancelled(self, number: int, conversation: str | None) -> Any:
        known = {"conversationId": conversation} if conversation else {}
        params = {"text": "And?", "partialResultToken": f"t{number}", "workDoneToken": f"w{number}", **known}
        return await self._ask("ollm/chat/send", params, cancels=True)

    async def _type(self, number: int, _conversation: str | None) -> Any:
        self.client.replace(f"{number}.py", TEXT)
        return await self._ask("textDocument/codeLens", {"textDocument": {"uri": self._uri(number)}})

    async def _look(self, number: int, _conversation: str | None) -> Any:
        return await self._ask("ollm/context/preview", {"text": "?", "uri": self._uri(number)})

    async def _act(self, number: int, _conversation: str | None) -> Any:
        zero = {"line": 0, "character": 0}
        argument = {"uri": self._uri(number), "range": {"start": zero, "end": {"line": 2, "character": 0}}}
        command = self.chance.choice(("ollm.explain", "ollm.fix", "ollm.document"))
        return await self._ask("workspace/executeCommand", {"command": command, "arguments": [argument]})

    async def _release(self, number: int, _conversation: str | None) -> Any:
        return await self._ask("ollm/kraken/release", {"text": "Think.", "partialResultToken": f"r{number}"})

    async def _break_things(self, end: float) -> None:
        whole = self.settings.read_text()
        while time.monotonic() < end:
            await asyncio.sleep(min(FAULT_EVERY, max(0.0, end - time.monotonic())))
            self.tally.count("faults")
            match self.chance.randrange(3):
                case 0:
                    self.settings.write_text("model: [oops\n")
                    await asyncio.sleep(0.3)
                    self.settings.write_text(whole)
                case 1:
                    for responder in self.fake.http.responders[-3:]:
                        with suppress(OSError):  # it is over already
                            responder.reset()
                case _:
                    self.client.close("0.py")
                    self.client.open("0.py")

    def _uri(self, number: int) -> str:
        return (self.client.folder / f"{number}.py").as_uri()

    def check(self) -> None:
        """Every request has been answered, once."""
        got = Counter(one["id"] for one in self.client.editor.responses if str(one["id"]).startswith("soak-"))
        self.tally.count("requests", self.sent.total())
        if got != self.sent:
            self.tally.fail(
                f"not answered once: {[*(self.sent - got)][:5]}, more than once: {[*(got - self.sent)][:5]}"
            )
        self.sent.clear()
        self.client.editor.responses.clear()
        self.client.editor.progress.clear()
        self.client.editor.notifications.clear()
        self.client.editor.asked.clear()
        self.fake.http.requests.clear()
        self.fake.http.responders.clear()


def _answering(chance: random.Random) -> Callable[[dict[str, Any]], list[Any]]:
    def answer(request: dict[str, Any]) -> list[Any]:
        if request["messages"][-1]["role"] == "tool":
            return words("That is what it says .")
        if request.get("tools") and chance.random() < 0.3:
            edit = {"path": "1.py", "edits": [{"old": "a - b", "new": "a + b"}]}
            return [chance.choice((Call("read_file", {"path": "2.py"}), Call("edit_file", edit), Call("nothing", {})))]
        broken = chance.random()
        if broken < 0.05:
            return [Say("I "), Die()]
        if broken < 0.1:
            return [Say("I "), Fail("it broke")]
        return words("```python\ndef add(a, b):\n    return a + b\n```\nIt adds two numbers .")

    return answer


@asynccontextmanager
async def _office(folder: Path, chance: random.Random, tally: Tally, start: Start) -> AsyncGenerator[Office]:
    work = folder / "work"
    work.mkdir(exist_ok=True)
    for number in range(USERS):
        (work / f"{number}.py").write_text(TEXT)
    os.environ["VENDOR_KEY"] = "key-of-the-vendor"
    async with FakeOllama(answer=_answering(chance)) as fake, FakeVendors() as vendor:
        environ = environment(folder, _settings(fake, vendor))
        async with start(environ) as server:
            client = WorkspaceClient(server, work, RICH)
            await client.start()
            for number in range(USERS):
                client.open(f"{number}.py")
            yield Office(client, fake, folder / "config.yaml", chance, tally)


def _settings(fake: FakeOllama, vendor: FakeVendors) -> str:
    return f"""
model: "ollama:smollm2:135m"
providers: {{ ollama: {{ type: ollama, baseUrl: "{fake.url}", maxRetries: 0 }} }}
kraken:
  enabled: true
  maxCostPerSession: 1000000
  maxCostPerDay: 1000000
  policies: {{ confirmBeforeRelease: false }}
  apiProviders:
    big: {{ provider: anthropic, baseUrl: "{vendor.url}", apiKey: "${{VENDOR_KEY}}", model: claude-x, maxRetries: 0 }}
  prices: {{ "claude-x": {{ input: 1, output: 1 }} }}
"""


async def _in_this_process(run: Run, tally: Tally, folder: Path) -> None:
    """A short load on a server whose tasks can be counted."""
    async with _office(folder, run.chance("soak here"), tally, near_editor) as office:
        await office.work(run.size.soak_seconds / 10)
        office.check()
        before = await _fewest_tasks(len(asyncio.all_tasks()))
        await office.work(run.size.soak_seconds / 10)
        office.check()
        after = await _fewest_tasks(before)
        if after > before:
            names = [str(task.get_coro()) for task in asyncio.all_tasks()]
            tally.fail(f"{after - before} more tasks: {names}"[:1500])


async def _fewest_tasks(enough: int) -> int:
    """How many tasks are left when everything has had its time."""
    fewest = len(asyncio.all_tasks())
    end = time.monotonic() + 20
    while fewest > enough and time.monotonic() < end:
        await asyncio.sleep(0.1)
        fewest = min(fewest, len(asyncio.all_tasks()))
    return fewest


async def _in_its_own(run: Run, tally: Tally, folder: Path) -> None:
    """The whole load on a server whose handles, threads, children and memory are counted."""
    async with _office(folder, run.chance("soak"), tally, editor) as office:
        process = psutil.Process(office.client.editor.process.pid)
        await office.work(run.size.soak_seconds / 3)
        office.check()
        before = await _quiet(process, folder, None)
        await office.work(run.size.soak_seconds * 2 / 3)
        office.check()
        after = await _quiet(process, folder, before)
        tally.count("MB grown", max(0, after["memory"] - before["memory"]) // 2**20)
        for what, allowed in ALLOWED.items():
            if after[what] > before[what] + allowed:
                children = [child.cmdline()[:6] for child in process.children(recursive=True)]
                tally.fail(f"{what}: {before[what]:,} and later {after[what]:,}; children: {children}")


def _handles(process: psutil.Process, folder: Path) -> int:
    """All but one for each file of its own: on a busy machine a database may be needed for the first time late."""
    own = [file.path for file in process.open_files() if Path(file.path).is_relative_to(folder)]
    return process.num_fds() - len(set(own))


async def _quiet(process: psutil.Process, folder: Path, enough: dict[str, int] | None) -> dict[str, int]:
    """What the server holds when nobody asks; it may take a while to let go."""
    end = time.monotonic() + 20
    while True:
        await asyncio.sleep(1)
        held = {
            "handles": _handles(process, folder),
            "threads": process.num_threads(),
            "children": len(process.children(recursive=True)),
            "memory": process.memory_info().rss,
        }
        if time.monotonic() > end or (
            enough and all(held[what] <= enough[what] + more for what, more in ALLOWED.items())
        ):
            return held
        if enough is None and time.monotonic() > end - 15:
            return held


async def _soak(run: Run) -> Tally:
    tally = Tally("soak")
    for part in (_in_this_process, _in_its_own):
        with tempfile.TemporaryDirectory(prefix="torture-") as folder:
            await part(run, tally, Path(folder))
    return tally


def soak(run: Run) -> Tally:
    """The whole soak of a run."""
    return asyncio.run(_soak(run))
