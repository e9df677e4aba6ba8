"""code-server, which is VS Code for a browser: installed from npm into a folder of ours, run with a profile of its own.

Its own installer compiles everything, for which a new machine lacks a library; here only what a workbench needs is
compiled. It wants another Node than the system may have, which also comes from npm, with its headers.
"""

from __future__ import annotations

import asyncio
import fcntl
import json
import os
import platform
import shutil
import signal
import socket
import subprocess
import sys
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from tests.editors.debian import FOLDER, Unavailable

if TYPE_CHECKING:
    from collections.abc import AsyncGenerator, Mapping
    from pathlib import Path

VERSION = "4.139.1"
NODE_VERSION = "24.21.0"
NATIVE = ("@parcel/watcher", "@vscode/native-watchdog", "@vscode/spdlog", "@vscode/sqlite3", "node-pty")
"""What is compiled; without one of these VS Code does not start, or not without an error."""
SETTINGS = {
    "workbench.startupEditor": "none",
    "workbench.tips.enabled": False,
    "workbench.welcomePage.walkthroughs.openOnInstall": False,
    "telemetry.telemetryLevel": "off",
    "extensions.autoUpdate": False,
    "extensions.autoCheckUpdates": False,
    "update.mode": "none",
    "files.autoSave": "off",
    "files.simpleDialog.enable": True,
    "git.enabled": False,
    "workbench.secondarySideBar.defaultVisibility": "hidden",
}
"""Nothing but what is tested."""


@dataclass(frozen=True)
class CodeServer:
    """An installed code-server."""

    folder: Path

    @property
    def node(self) -> Path:
        return _node(self.folder)

    @property
    def entry(self) -> Path:
        return self.folder / "node_modules" / "code-server" / "out" / "node" / "entry.js"

    def command(self, profile: Path, *arguments: str) -> list[str]:
        """Without all of these it writes into the user's home."""
        flags = ["--config", str(profile / "config.yaml"), "--user-data-dir", str(profile / "user")]
        return [str(self.node), str(self.entry), *flags, "--extensions-dir", str(profile / "extensions"), *arguments]


def install() -> CodeServer:
    """Install it on first use, by one process at a time."""
    missing = [tool for tool in ("npm", "gcc", "g++", "make", "python3") if shutil.which(tool) is None]
    if missing:
        raise Unavailable(f"{' and '.join(missing)} not found, so code-server cannot be installed")
    folder = FOLDER / f"code-server-{VERSION}"
    FOLDER.mkdir(parents=True, exist_ok=True)
    with (FOLDER / ".code-server.lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if not (folder / ".installed").exists():
            shutil.rmtree(folder, ignore_errors=True)
            _install(folder)
            (folder / ".installed").touch()
    return CodeServer(folder)


def _install(folder: Path) -> None:
    sys.stderr.write("Installing code-server, which takes some minutes …\n")
    folder.mkdir()
    (folder / "package.json").write_text('{ "private": true }\n')
    log = FOLDER / "code-server.log"
    machine = {"x86_64": "x64", "aarch64": "arm64"}.get(platform.machine(), platform.machine())
    wanted = (f"code-server@{VERSION}", f"node-linux-{machine}@{NODE_VERSION}")
    _npm(log, folder, {}, "install", "--ignore-scripts", *wanted)
    vscode = folder / "node_modules" / "code-server" / "lib" / "vscode"
    node = _node(folder)
    build = {
        "PATH": f"{node.parent}:{os.environ['PATH']}",
        # The headers are beside the program, so that nobody fetches them.
        "npm_config_nodedir": str(node.parents[1]),
        # To optimise takes longer than all the tests could gain.
        **dict.fromkeys(("CFLAGS", "CXXFLAGS"), "-O0 -g0 -w"),
        "JOBS": "max",
    }
    _npm(log, vscode, build, "install", "--ignore-scripts", "--omit=dev")
    _npm(log, vscode, build, "rebuild", "--foreground-scripts", *NATIVE)
    # It would ask the user to log in, in the place of our own views.
    shutil.rmtree(vscode / "extensions" / "copilot", ignore_errors=True)


def _node(folder: Path) -> Path:
    (node,) = folder.glob("node_modules/node-linux-*/bin/node")
    return node


def _npm(log: Path, folder: Path, environment: Mapping[str, str], *arguments: str) -> None:
    command = ["npm", *arguments, "--no-audit", "--no-fund", "--no-progress"]
    with log.open("a") as output:
        done = subprocess.run(
            command, cwd=folder, env={**os.environ, **environment}, stdout=output, stderr=output, check=False
        )
    if done.returncode:
        last = "\n".join(log.read_text(errors="replace").splitlines()[-5:])
        raise Unavailable(f"npm {arguments[0]} failed in {folder}: {last}")


def prepare(profile: Path, settings: Mapping[str, Any]) -> None:
    """A profile in which nothing has happened yet."""
    (profile / "user" / "User").mkdir(parents=True)
    (profile / "extensions").mkdir()
    (profile / "user" / "Machine").mkdir()
    for place in ("User", "Machine"):  # programs are looked for in the second only
        (profile / "user" / place / "settings.json").write_text(json.dumps({**SETTINGS, **settings}))
    (profile / "config.yaml").write_text("bind-addr: 127.0.0.1:0\nauth: none\ncert: false\n")


@asynccontextmanager
async def running(
    server: CodeServer, profile: Path, environment: Mapping[str, str], *, trusted: bool = True
) -> AsyncGenerator[str]:
    """The address of a code-server that runs until the end, with everything that it has started."""
    flags = ["--disable-telemetry", "--disable-update-check", "--disable-getting-started-override"]
    if trusted:
        flags.append("--disable-workspace-trust")
    log = profile / "code-server.log"
    with log.open("wb") as output:
        process = await asyncio.create_subprocess_exec(
            *server.command(profile, *flags, "--bind-addr", "127.0.0.1:0"),
            env=dict(environment),
            stdin=asyncio.subprocess.DEVNULL,
            stdout=output,
            stderr=output,
            start_new_session=True,
        )
    try:
        yield await _address(process, log)
    finally:
        await end_family(process)


async def end_family(process: asyncio.subprocess.Process) -> None:
    """End a process that leads a session, with all that it has started there."""
    with suppress(ProcessLookupError):  # all of them have gone
        os.killpg(process.pid, signal.SIGTERM)
    await process.wait()


async def _address(process: asyncio.subprocess.Process, log: Path) -> str:
    while process.returncode is None:
        if address := await asyncio.to_thread(_announced, log):
            return address
        await asyncio.sleep(0.1)
    raise Unavailable(f"code-server has ended; see {log}")


def _announced(log: Path) -> str | None:
    """The address that it has written down, once somebody answers there."""
    _, _, rest = log.read_text(errors="replace").partition("HTTP server listening on ")
    address, is_whole, _ = rest.partition("\n")
    if not is_whole:
        return None
    host, _, port = address.strip().rstrip("/").removeprefix("http://").partition(":")
    try:
        socket.create_connection((host, int(port))).close()
    except OSError:
        return None
    return f"http://{host}:{port}"
