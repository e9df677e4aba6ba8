"""A window of VS Code, and the programs of editors/vscode that look into it."""

from __future__ import annotations

import asyncio
import os
import shlex
from asyncio.subprocess import DEVNULL, PIPE, STDOUT
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from tests.vscode.code_server import CodeServer, end_family, prepare, running

if TYPE_CHECKING:
    from collections.abc import AsyncGenerator, Mapping

    from tests.editors.user import User

EXTENSION = Path(__file__).parents[2] / "editors" / "vscode"
NODE = ("PATH", "HOME", "LANG")
"""What of the environment of this process a test program of Node gets."""


@dataclass(frozen=True)
class Outcome:
    """How a program has ended."""

    status: int
    output: str


@dataclass(frozen=True)
class Window:
    """A code-server that runs with a project."""

    address: str
    user: User
    browser: Path
    variables: Mapping[str, str]
    """Of the server and of all programs that look into it."""

    async def run(self, *command: str, **variables: str) -> Outcome:
        """Run a program of Node in the folder of the extension."""
        log = self.user.folder / "output.log"
        variables = {
            **{name: os.environ[name] for name in NODE if name in os.environ},
            "ADDRESS": self.address,
            "CHROMIUM": str(self.browser),
            "FOLDER": str(self.user.project),
            **self.variables,
            **variables,
        }
        with log.open("wb") as output:  # a file, so that one can see how far it is
            process = await asyncio.create_subprocess_exec(
                *command,
                cwd=EXTENSION,
                env=variables,
                stdin=DEVNULL,
                stdout=output,
                stderr=STDOUT,
                start_new_session=True,
            )
        try:
            await process.wait()
        finally:
            await end_family(process)
        return Outcome(process.returncode or 0, log.read_text(errors="replace"))


@asynccontextmanager
async def window(
    vscode: CodeServer,
    browser: Path,
    user: User,
    settings: Mapping[str, Any] | None = None,
    vsix: Path | None = None,
    *,
    trusted: bool = True,
    **variables: str,
) -> AsyncGenerator[Window]:
    """VS Code of a user, with a profile in which nothing has happened yet; with an extension if one is given."""
    profile = user.folder / "profile"
    prepare(profile, settings or {})
    environment = {**user.environment(), **variables}
    # VS Code takes the path from a login shell of the user.
    (user.folder / "home" / ".profile").write_text(f"PATH={shlex.quote(environment['PATH'])}\n")
    if vsix:
        await _install(vscode, profile, environment, vsix)
    async with running(vscode, profile, environment, trusted=trusted) as address:
        yield Window(address, user, browser, variables)


async def _install(vscode: CodeServer, profile: Path, environment: Mapping[str, str], vsix: Path) -> None:
    command = vscode.command(profile, "--install-extension", str(vsix))
    process = await asyncio.create_subprocess_exec(*command, env=dict(environment), stdout=PIPE, stderr=STDOUT)
    output, _ = await process.communicate()
    assert process.returncode == 0, output.decode()
