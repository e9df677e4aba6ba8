"""Servers that are killed while an agent, a model and a command run: seconds later nobody of them is left."""

from __future__ import annotations

import asyncio
import os
import tempfile
import time
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any

import psutil

from ollm_lsp.processes import family
from ollm_lsp.providers import model_file
from tests.support.agents import RecordedStage, recorded
from tests.support.editor import Refused, editor, environment
from tests.support.fake_ollama import Call, FakeOllama, Say
from tests.support.real_model import fetch
from tests.torture.run import Tally

if TYPE_CHECKING:
    import random

    from tests.support.editor import Editor
    from tests.torture.run import Run

PATIENCE = 180.0
OVER = 60.0
"""Seconds after which whoever is left will stay."""
COMMAND = ["/bin/sh", "-c", "setsid sleep 3600 & sleep 3600"]
ANSWERS: dict[str, Any] = {"ollm/permission": {"result": {"optionId": "allow_once"}}}
LONG = "Count from one to five hundred in words, one number per line."


def _settings(fake: FakeOllama) -> str:
    return f"""
model: "ollama:smollm2:135m"
providers: {{ ollama: {{ type: ollama, baseUrl: "{fake.url}", maxRetries: 0 }}, embedded: {{ type: embedded }} }}
tools: {{ runCommand: true }}
kraken:
  enabled: true
  policies: {{ confirmBeforeRelease: false }}
  cliProviders: {{ claude: {{ tool: claude, defaultModel: claude-sonnet-4-5 }} }}
"""


def _calling(request: dict[str, Any]) -> list[Any]:
    has_result = any(message["role"] == "tool" for message in request["messages"])
    return [Say("done")] if has_result else [Call("run_command", {"argv": COMMAND})]


class Household:
    """A home, by which every process that began in it is known, wherever it went."""

    def __init__(self, folder: Path, model: Path) -> None:
        self.folder = folder
        self.stage = RecordedStage("claude", folder / "stage")
        part = recorded("claude", "sigterm-stream")
        self.stage.play(
            type(part)(part.stdout, part.stderr, hangs=True, has_descendants=True, login='{"loggedIn": true}')
        )
        models = folder / "state" / "models"
        models.mkdir(parents=True)
        os.link(model, models / model_file.FILE_NAME)
        (folder / "work").mkdir()

    def processes(self) -> list[psutil.Process]:
        """All that live, and are not yet ended."""
        found: list[psutil.Process] = []
        for process in psutil.process_iter():
            with suppress(psutil.Error):
                environ = process.environ()
                is_ours = str(self.folder) in (
                    environ.get("HOME", ""),
                    environ.get("OLLM_STATE_DIR", "")[: len(str(self.folder))],
                )
                if is_ours and process.status() != psutil.STATUS_ZOMBIE:
                    found.append(process)
        return found


async def _begin(server: Editor, chance: random.Random) -> int:
    """Start some of the three, wait for some of them; how many were waited for."""
    works = {
        "agent": ("ollm/kraken/release", {"text": "Hi", "provider": "claude", "partialResultToken": "agent"}),
        "model": ("ollm/chat/send", {"text": LONG, "model": "embedded:smollm2", "partialResultToken": "model"}),
        "command": ("ollm/chat/send", {"text": "Run it.", "partialResultToken": "command"}),
    }
    waited = chance.choice((0, 1, 2, 3, 3, 3))
    for number, (token, (method, params)) in enumerate(chance.sample([*works.items()], 3)):
        _, answer = server.start_request(method, params)
        answer.add_done_callback(lambda done: done.cancelled() or done.exception())
        if number < waited:
            kind = {"agent": "text", "model": "text", "command": "toolCall"}[token]

            def seen(token: str = token, kind: str = kind) -> bool:
                return any(event["type"] == kind for event in server.progress[token])

            await asyncio.wait_for(server.until(lambda seen=seen, answer=answer: seen() or answer.done()), PATIENCE)
            if answer.done() and not seen():
                answer.result()
    await asyncio.sleep(chance.random())
    return waited


async def _gone_after(house: Household, killed: float) -> tuple[float, list[psutil.Process]]:
    """The seconds from the kill to the first look that found nobody; and who is left when there is no such look."""
    while True:
        looked = time.monotonic() - killed
        left = await asyncio.to_thread(house.processes)
        if not left or looked > OVER:
            return looked, left
        await asyncio.sleep(0.02)


async def _kill_one(run: Run, chance: random.Random, model: Path, tally: Tally) -> float:
    """Seconds until nobody was left."""
    with tempfile.TemporaryDirectory(prefix="torture-", ignore_cleanup_errors=True) as name:
        house = Household(Path(name), model)
        async with FakeOllama(answer=_calling) as fake:
            environ = environment(
                house.folder, _settings(fake), PATH=house.stage.environment["PATH"], ANTHROPIC_API_KEY="dummy"
            )
            async with editor(environ) as server:
                server.answer |= {method: lambda _, answer=answer: answer for method, answer in ANSWERS.items()}
                where = [{"uri": (house.folder / "work").as_uri(), "name": "work"}]
                capabilities = {"experimental": {"ollm": {"permission": True}}}
                await server.initialize(capabilities=capabilities, workspaceFolders=where)
                try:
                    await _begin(server, chance)
                except Refused as refusal:
                    tally.fail(f"not everything ran: {refusal}")
                before = await asyncio.to_thread(house.processes)
                killed = time.monotonic()
                await server.kill()
                tally.count("kills")
                tally.count("processes with them", len(before) - 1)
                seconds, left = await _gone_after(house, killed)
                tally.count("left", len(left))
                for process in left:
                    with suppress(psutil.Error):
                        tally.fail(f"left: {process.pid} {process.cmdline()[:6]}")
                        process.kill()
                if seconds > run.size.family_seconds:
                    tally.fail(f"{len(before) - 1} processes had gone only {seconds:.1f} s after the kill")
    return seconds


async def _kill(run: Run) -> Tally:
    tally, chance, model = Tally("families"), run.chance("families"), await asyncio.to_thread(fetch)
    seconds = sorted([await _kill_one(run, chance, model, tally) for _ in range(run.size.family_kills)])
    tally.count("ms until the last had gone (median)", round(1000 * seconds[len(seconds) // 2]))
    tally.count("ms (slowest)", round(1000 * seconds[-1]))
    return tally


def kill_families(run: Run) -> Tally:
    """All servers of a run."""
    assert family.MARK
    return asyncio.run(_kill(run))
