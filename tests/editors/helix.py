"""Helix in a terminal, as a user has it who followed the page about it."""

from __future__ import annotations

from contextlib import asynccontextmanager, contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING

from tests.editors.terminal import terminal
from tests.editors.wire import Wire
from tests.support.pages import DOCS, fences

if TYPE_CHECKING:
    from collections.abc import AsyncGenerator, Generator
    from pathlib import Path

    from tests.editors.terminal import Terminal
    from tests.editors.user import User

PAGE = DOCS / "editors" / "helix.md"


@dataclass(frozen=True)
class Helix:
    """A running Helix with one file open."""

    screen: Terminal
    wire: Wire

    async def ready(self) -> None:
        await self.wire.says("editor", "textDocument/didOpen")

    async def command(self, text: str) -> None:
        """Run a typed command."""
        self.screen.type(f":{text}")
        await self.screen.sees(f":{text}")
        self.screen.press("Enter")
        await self.screen.sees("NOR")

    @asynccontextmanager
    async def inserting(self, key: str = "i") -> AsyncGenerator[None]:
        """Insert mode, which is left for sure: a key that follows Escape at once would be read as Alt and that key."""
        self.screen.type(key)
        await self.screen.sees("INS")
        yield
        self.screen.press("Escape")
        await self.screen.sees("NOR")

    async def choose_action(self, title: str) -> None:
        """Take a code action at the cursor."""
        asked = len(self.wire.messages("editor", "textDocument/codeAction"))
        self.screen.press("Space", "a")
        await self.wire.says_again("editor", "textDocument/codeAction", asked)
        offered = [one["title"] for one in (await self.wire.answer("editor", "textDocument/codeAction"))["result"]]
        await self.screen.sees(title)
        above = self.screen.screen().partition(title)[0]
        for _ in range(sum(other in above for other in offered)):
            self.screen.press("Down")
        self.screen.press("Enter")

    async def save(self) -> None:
        saves = len(self.wire.messages("editor", "textDocument/didSave"))
        await self.command("w")
        await self.wire.says_again("editor", "textDocument/didSave", saves)

    async def quit(self) -> None:
        self.screen.type(":quit-all!")
        await self.screen.sees(":quit-all!")
        self.screen.press("Enter")
        await self.screen.ends()


@contextmanager
def helix(program: Path, tmux: Path, user: User, name: str) -> Generator[Helix]:
    """Helix with a file of the project."""
    (user.config / "helix").mkdir(parents=True)
    for file, example in zip(("languages.toml", "config.toml"), fences(PAGE, "toml"), strict=True):
        (user.config / "helix" / file).write_text(example)
    with terminal(tmux, user.environment()) as screen:
        screen.start([str(program), "--log", str(user.folder / "helix.log"), name], user.project)
        yield Helix(screen, Wire(user.tap, screen.screen))
