"""Threats T5, T18 and T28: opening a hostile repository runs nothing, calls nobody, and opens no door."""

from __future__ import annotations

import asyncio
import sys
from pathlib import Path
from typing import Any

import psutil
import pytest

from tests.support.editor import editor, environment
from tests.support.fake_ollama import Call, FakeOllama, Say
from tests.threats.booby_traps import set_traps
from tests.threats.thief import waiting_thief

COMMAND = str(Path(sys.executable).with_name("ollm-lsp"))
LOOKING = [
    Call("search_text", {"query": "needle"}),
    Call("list_directory", {}),
    Call("find_files", {"pattern": "**"}),
    Call("read_file", {"path": "main.py"}),
]


def looks_around(request: dict[str, Any]) -> list[Any]:
    told = [message for message in request["messages"] if message["role"] == "tool"]
    return [Say("done")] if told else list(LOOKING)


def touched(canary: Path) -> list[str]:
    return sorted(path.name for path in canary.parent.glob(f"{canary.name}*"))


@pytest.mark.threat("T5", "T18", "T28")
async def test_opening_a_hostile_repository_runs_nothing_calls_nobody_and_listens_to_nobody(tmp_path: Path) -> None:
    repository, canary = tmp_path / "repository", tmp_path / "canary"
    repository.mkdir()
    async with waiting_thief() as thief, FakeOllama(answer=looks_around) as ollama:
        set_traps(repository, canary, thief.url)
        settings = f"model: 'ollama:smollm2:135m'\nproviders: {{ollama: {{type: ollama, baseUrl: '{ollama.url}'}}}}\n"
        environ = environment(tmp_path, settings)
        environ["PATH"] = f".:bin::{repository}:{repository}/bin:{environ['PATH']}"
        # As editors do it: inside the folder, by the name of the command.
        command = ("/bin/sh", "-c", f"cd '{repository}' && exec '{COMMAND}'")
        async with editor(environ, command=command) as server:
            folder = {"uri": repository.as_uri(), "name": "repository"}
            await server.initialize(rootUri=repository.as_uri(), workspaceFolders=[folder])
            for name in ("main.py", "AGENTS.md", ".env"):
                server.open((repository / name).as_uri(), (repository / name).read_text())
            result = await server.chat("Look around.", context={"uri": (repository / "main.py").as_uri()})
            assert result["text"] == "done"
            events = [event for event in server.progress["events"] if event["type"] == "toolCall" and "result" in event]
            assert [event["status"] for event in events] == ["completed"] * len(LOOKING)
            process = psutil.Process(server.process.pid)
            assert process.children(recursive=True) == []
            listening = [one for one in process.net_connections() if one.status == psutil.CONN_LISTEN]
            assert listening == []
            await server.request("shutdown")
            server.notify("exit")
            assert await server.wait() == 0
        assert thief.calls == 0
    assert touched(canary) == []


@pytest.mark.threat("T28")
@pytest.mark.parametrize("option", ["--tcp", "--port=4711", "--socket", "--ws"])
async def test_there_is_no_other_way_in_than_standard_input(tmp_path: Path, option: str) -> None:
    process = await asyncio.create_subprocess_exec(
        COMMAND, "serve", option, env=environment(tmp_path), stderr=asyncio.subprocess.DEVNULL
    )
    assert await process.wait() == 2
