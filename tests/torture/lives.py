"""Whole lives of a server, by a model of its phases: what comes too early, twice, too late, or cannot be framed."""

from __future__ import annotations

import asyncio
import json
from contextlib import suppress
from typing import TYPE_CHECKING, Any

from tests.support.kraken import LocalModel
from tests.torture.client_words import DOCUMENTS
from tests.torture.messages import PATIENCE, Victim, victim
from tests.torture.run import Tally

if TYPE_CHECKING:
    import random

    from tests.torture.run import Run

NOT_INITIALIZED, INVALID = -32002, -32600
FATAL = (
    b"Content-Length: -1\r\n\r\n",
    b"Content-Length: x\r\n\r\n",
    b"Content-Length: 99999999999999999999\r\n\r\n",
    b"Content-Length: 000000000000999999999999\r\n\r\n",
    b"Content-Length: " + b"9" * 5_000 + b"\r\n\r\n",
    b"X: y\r\n\r\n",
    b"\r\n\r\n",
    b"GET / HTTP/1.1\r\nHost: x\r\n\r\n",
    b"x" * 200_000,
    b"Content-Length: 1_0\r\n\r\n",
    "Content-Length: ١٢\r\n\r\n".encode(),
)
"""After these nobody knows where the next message begins, so the server leaves."""


class Life:
    """One server and what it has to answer in its phase."""

    def __init__(self, target: Victim, chance: random.Random) -> None:
        self._target = target
        self._chance = chance
        self._phase = "started"
        self.troubles: list[str] = []

    async def live(self) -> None:
        for _ in range(self._chance.randint(1, 12)):
            await self._step()
        if self._chance.random() < 0.5:
            await self._leave()
        else:
            await self._break()

    async def _step(self) -> None:
        server = self._target.server
        match self._chance.choice(("initialize", "initialize", "request", "request", "note", "shutdown")):
            case "initialize":
                await self._ask("initialize", {"capabilities": {}}, None if self._phase == "started" else INVALID)
                if self._phase == "started":
                    self._phase = "initialized"
            case "request":
                method = self._chance.choice(("ollm/chat/list", "ollm/kraken/status", "textDocument/codeLens"))
                params = {"textDocument": {"uri": DOCUMENTS[0]}}
                await self._ask(
                    method, params, {"started": NOT_INITIALIZED, "initialized": None, "down": INVALID}[self._phase]
                )
            case "note":
                server.open(DOCUMENTS[0], "x = 1\n")
                server.notify("$/cancelRequest", {"id": 1})
            case _:
                wanted = {"started": NOT_INITIALIZED, "initialized": None, "down": INVALID}[self._phase]
                # A whole life ends seldom, or nothing else would be tried.
                if self._chance.random() < 0.3:
                    await self._ask("shutdown", None, wanted)
                    self._phase = "down" if self._phase == "initialized" else self._phase

    async def _ask(self, method: str, params: Any, wanted: int | None) -> None:
        number = f"life-{self._chance.random()}"
        server = self._target.server
        server.responses.clear()
        server.send({"jsonrpc": "2.0", "id": number, "method": method, "params": params})
        try:
            await asyncio.wait_for(server.until(lambda: self._of(number)), PATIENCE)
        except (TimeoutError, asyncio.CancelledError):
            self.troubles.append(f"{method}, {self._phase}: no answer")
            return
        (answer,) = self._of(number)
        code = answer.get("error", {}).get("code")
        if code != wanted:
            self.troubles.append(f"{method}, {self._phase}: {code} instead of {wanted}")

    def _of(self, number: str) -> list[dict[str, Any]]:
        return [one for one in self._target.server.responses if one["id"] == number]

    async def _leave(self) -> None:
        """By `exit`, by the end of the input, or in the middle of a message."""
        server = self._target.server
        assert server.process.stdin is not None
        match self._chance.randrange(3):
            case 0:
                server.notify("exit")
                await self._ends(0 if self._phase == "down" else 1)
            case 1:
                server.process.stdin.close()
                await self._ends(1)
            case _:
                server.send_bytes(b"Content-Length: 100\r\n\r\n" + json.dumps({"jsonrpc": "2.0"}).encode())
                server.process.stdin.close()
                await self._ends(1)

    async def _break(self) -> None:
        self._target.server.send_bytes(self._chance.choice(FATAL))
        await self._ends(1)

    async def _ends(self, status: int) -> None:
        try:
            found = await asyncio.wait_for(self._target.server.process.wait(), PATIENCE)
        except TimeoutError:
            self.troubles.append("the server did not leave")
            await self._target.server.kill()
            return
        if found != status:
            self.troubles.append(f"the server ended with {found} instead of {status}")


async def _fuzz(run: Run) -> Tally:
    tally, chance = Tally("lives"), run.chance("lives")
    async with LocalModel() as model:
        for _ in range(run.size.lives):
            async with victim(model, chance, starts=False) as target:
                life = Life(target, chance)
                with suppress(ConnectionError):
                    await life.live()
                tally.count("lives")
                for trouble in life.troubles:
                    tally.fail(trouble)
                if b"Traceback" in target.log.read_bytes():
                    tally.fail(f"crash: {target.log.read_text(errors='replace')[-300:]}")
    return tally


def fuzz(run: Run) -> Tally:
    """All lives of a run."""
    return asyncio.run(_fuzz(run))
