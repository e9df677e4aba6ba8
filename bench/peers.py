"""The peers: language servers and clients of vendors, each in an environment of its own below .cache/bench."""

import asyncio
import os
import platform
import shutil
import sys
from asyncio.subprocess import PIPE, STDOUT
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

from bench.program import HERE, Program

CACHE = HERE.parent / ".cache" / "bench"
INSTALLED = ".installed"
INSTALL_TIME = 600.0


class NotInstalled(Exception):
    """A peer that cannot be had here, with the reason."""


@dataclass(frozen=True)
class Environment:
    """Packages of one registry in a folder."""

    name: str
    packages: tuple[str, ...]
    is_npm: bool = False

    @property
    def folder(self) -> Path:
        return CACHE / self.name

    @property
    def python(self) -> str:
        return str(self.folder / ("Scripts" if sys.platform == "win32" else "bin") / "python")

    @property
    def versions(self) -> str:
        return " ".join(self.packages)

    async def install(self) -> None:
        stamp = self.folder / INSTALLED
        if stamp.exists() and stamp.read_text() == self.versions:
            return
        print(f"Installing {self.versions} …", flush=True)
        shutil.rmtree(self.folder, ignore_errors=True)
        self.folder.mkdir(parents=True)
        try:
            await (self._npm() if self.is_npm else self._pip())
        except (OSError, TimeoutError) as error:
            raise NotInstalled(f"{self.name} is left out: {error or 'it took too long to install'}") from None
        stamp.write_text(self.versions)

    async def _pip(self) -> None:
        await self._run(sys.executable, "-m", "venv", str(self.folder))
        await self._run(self.python, "-m", "pip", "--disable-pip-version-check", "install", "-q", *self.packages)

    async def _npm(self) -> None:
        npm = shutil.which("npm")
        if npm is None:
            raise NotInstalled(f"{self.name} is left out: npm is not installed")
        await self._run(
            npm, "install", "--prefix", str(self.folder), "--no-audit", "--no-fund", "--loglevel=error", *self.packages
        )

    async def _run(self, *command: str) -> None:
        process = await asyncio.create_subprocess_exec(*command, stdout=PIPE, stderr=STDOUT)
        try:
            output, _ = await asyncio.wait_for(process.communicate(), INSTALL_TIME)
        except TimeoutError:
            process.kill()
            await process.wait()
            raise
        if process.returncode:
            last = output.decode(errors="replace").strip().splitlines()[-1:]
            raise NotInstalled(f"{self.name} is left out: {' '.join(last) or f'{command[0]} failed'}")


@dataclass(frozen=True)
class Peer:
    """A language server of somebody else."""

    name: str
    environment: Environment
    command: tuple[str, ...]

    @property
    def program(self) -> Program:
        return Program(self.name, self.command, dict(os.environ))


def _python_peer(name: str, packages: Iterable[str], *words: str) -> Peer:
    environment = Environment(name.replace(" ", "-"), tuple(packages))
    return Peer(name, environment, (environment.python, "-I", *words))


def _npm_peer(name: str, package: str, program: str) -> Peer:
    environment = Environment(name, (package,), is_npm=True)
    return Peer(name, environment, (str(environment.folder / "node_modules" / program), "--stdio"))


_MACHINE = {"x86_64": "x64", "AMD64": "x64", "aarch64": "arm64"}.get(platform.machine(), platform.machine())
_COPILOT = f"@github/copilot-language-server-{sys.platform}-{_MACHINE}"

JEDI = "from jedi_language_server.cli import cli; cli()"

PYGLS = _python_peer("minimal pygls", ["pygls==2.1.1"], str(HERE / "minimal_pygls.py"))
NAIVE = _python_peer("pygls with openai", ["pygls==2.1.1", "openai==3.49.0"], str(HERE / "naive_chat.py"))
OTHERS = (
    _python_peer("jedi-language-server", ["jedi-language-server==0.47.0"], "-c", JEDI),
    _python_peer("python-lsp-server", ["python-lsp-server==1.15.0"], "-m", "pylsp"),
    _npm_peer("pyright", "pyright@1.1.414", ".bin/pyright-langserver"),
    # The program that its own launcher starts where Node is too old for it; it brings its own.
    _npm_peer("copilot-language-server", f"{_COPILOT}@1.539.0", f"{_COPILOT}/copilot-language-server"),
)
CLIENTS = {
    "openai": Environment("openai", ("openai==3.49.0",)),
    "ollama": Environment("ollama", ("ollama==0.6.3",)),
    "litellm": Environment("litellm", ("litellm==1.106.2",)),
}
"""The clients whose cost per token is compared, as packages."""


async def installed(peers: Iterable[Peer], notes: list[str]) -> list[Program]:
    """The programs of those that can be had; the reasons of the others are added to the notes."""
    programs: list[Program] = []
    for peer in peers:
        try:
            await peer.environment.install()
        except NotInstalled as reason:
            print(reason, flush=True)
            notes.append(str(reason))
        else:
            programs.append(peer.program)
    return programs


def versions() -> list[str]:
    """The packages that all environments hold."""
    environments = [*(peer.environment for peer in (PYGLS, NAIVE, *OTHERS)), *CLIENTS.values()]
    return sorted({package for environment in environments for package in environment.packages})
