"""Emacs in a terminal, as a user has it who followed the page about it."""

from __future__ import annotations

from contextlib import contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING

from tests.editors.terminal import terminal
from tests.editors.wire import Wire
from tests.support.pages import DOCS, fences

if TYPE_CHECKING:
    from collections.abc import Generator
    from pathlib import Path

    from tests.editors.terminal import Terminal
    from tests.editors.user import User

PAGE = DOCS / "editors" / "emacs.md"


@dataclass(frozen=True)
class Emacs:
    """A running Emacs with one file open."""

    screen: Terminal
    wire: Wire

    async def ready(self) -> None:
        await self.wire.says("editor", "textDocument/didOpen")
        await self.screen.sees("[eglot:")

    def key(self, key: str) -> None:
        """Press one of the page's keys."""
        self.screen.press("C-c", "o", key)

    async def answer(self, question: str, text: str) -> None:
        """Type a text when Emacs asks for it."""
        await self.screen.sees(question)
        self.screen.type(text)
        self.screen.press("Enter")

    async def command(self, name: str) -> None:
        """Run a command of the server."""
        self.key("c")
        await self.answer("Command:", name)

    async def choose_action(self, title: str) -> None:
        """Take a code action at the cursor."""
        self.key("a")
        await self.answer("Pick an action", title)

    async def save(self) -> None:
        saves = len(self.wire.messages("editor", "textDocument/didSave"))
        self.screen.press("C-x", "C-s")
        await self.wire.says_again("editor", "textDocument/didSave", saves)

    async def quit(self) -> None:
        self.screen.press("C-x", "C-c")
        await self.screen.ends()


@contextmanager
def emacs(program: Path, tmux: Path, user: User, name: str, more: str = "") -> Generator[Emacs]:
    """Emacs with a file of the project, and with more in its init file than the page tells."""
    (init,) = fences(PAGE, "elisp")
    (user.config / "emacs").mkdir(parents=True)
    (user.config / "emacs" / "init.el").write_text(f"{init}\n{more}")
    with terminal(tmux, user.environment()) as screen:
        screen.start([str(program), "-nw", name], user.project)
        yield Emacs(screen, Wire(user.tap, screen.screen))
