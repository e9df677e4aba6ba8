"""The fixture that runs commands against the fake server, through pipes or at a terminal."""

from __future__ import annotations

import importlib
import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

ROOT = Path(__file__).parents[2]
FAKE_SERVER = Path(__file__).with_name("fake_server.py")
_pexpect: Any = importlib.import_module("pexpect")  # it has no types
_TIME_LIMIT = 30


class Runner:
    """Plays a scenario; `received` is what the server was sent."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self._record = folder / "record"

    def server(self, *answers: list[list[Any]], **scenario: Any) -> list[str]:
        """The command of a server that gives these answers."""
        script = self.folder / "scenario"
        script.write_text(json.dumps({"answers": answers, **scenario}))
        return [sys.executable, str(FAKE_SERVER), str(script), str(self._record)]

    def received(self, method: str) -> list[Any]:
        return [message.get("params") for message in self.messages if message.get("method") == method]

    @property
    def has_started(self) -> bool:
        return self._record.exists()

    @property
    def messages(self) -> list[dict[str, Any]]:
        return [json.loads(line) for line in self._record.read_text().splitlines()]

    def run(self, name: str, arguments: dict[str, Any], stdin: str | None = None) -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            _command(name, arguments),
            input=stdin,
            stdin=subprocess.DEVNULL if stdin is None else None,
            capture_output=True,
            text=True,
            env=_environment(),
            cwd=self.folder,
            timeout=_TIME_LIMIT,
            check=False,
        )

    def chat(
        self, server: list[str], prompt: str | None = "Why?", files: tuple[str, ...] = (), **more: Any
    ) -> subprocess.CompletedProcess[str]:
        return self.run("chat", _chat_arguments(server, prompt, files), **more)

    def start_chat(self, server: list[str], prompt: str | None = "Why?") -> subprocess.Popen[str]:
        return subprocess.Popen(
            _command("chat", _chat_arguments(server, prompt)),
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            env=_environment(),
            cwd=self.folder,
        )

    def chat_at_terminal(self, server: list[str], prompt: str | None = "Why?", **environ: str) -> AtTerminal:
        return self.at_terminal("chat", _chat_arguments(server, prompt), **environ)

    def at_terminal(self, name: str, arguments: dict[str, Any], **environ: str) -> AtTerminal:
        return AtTerminal(_command(name, arguments), self.folder, environ)

    def resume_at_terminal(self, server: list[str]) -> AtTerminal:
        return AtTerminal(_command("chat", {**_chat_arguments(server, prompt=None), "resume": ""}), self.folder, {})

    def chat_in_shell(self, server: list[str], script: str) -> AtTerminal:
        """An interactive chat started by a shell script at a terminal, as `"$@"`."""
        command = _command("chat", _chat_arguments(server, prompt=None))
        return AtTerminal(["/bin/sh", "-c", script, "sh", *command], self.folder, {})


class AtTerminal:
    """A command at a real pseudoterminal."""

    def __init__(self, command: list[str], folder: Path, environ: dict[str, str]) -> None:
        self._child = _pexpect.spawn(
            command[0],
            command[1:],
            env=_environment(**{"TERM": "xterm", **environ}),
            cwd=str(folder),
            encoding="utf-8",
            timeout=_TIME_LIMIT,
            dimensions=(24, 80),
        )
        self.output = ""

    def expect(self, text: str) -> None:
        self._child.expect_exact(text)
        self.output += self._child.before + self._child.after

    def send(self, text: str) -> None:
        self._child.send(text)

    def press_ctrl_c(self) -> None:
        self._child.send("\x03")

    def send_signal(self, number: int) -> None:
        self._child.kill(number)

    def wait(self) -> int:
        """The exit status."""
        self._child.expect(_pexpect.EOF)
        self.output += self._child.before
        self._child.close()
        return self._child.exitstatus


def _command(name: str, arguments: dict[str, Any]) -> list[str]:
    return [sys.executable, "-m", "tests.terminal.command_line", name, json.dumps(arguments)]


def _chat_arguments(server: list[str], prompt: str | None, files: tuple[str, ...] = ()) -> dict[str, Any]:
    return {"files": files, "prompt": prompt, "model": None, "server_command": server}


def _environment(**more: str) -> dict[str, str]:
    unset = {"NO_COLOR", "COLUMNS", "PYTHONUNBUFFERED"}  # they would hide what users see
    kept = {name: value for name, value in os.environ.items() if name not in unset}
    return {**kept, "PYTHONPATH": str(ROOT), "INPUTRC": os.devnull, "LC_ALL": "C.UTF-8", **more}


@pytest.fixture
def runner(tmp_path: Path) -> Runner:
    return Runner(tmp_path)
