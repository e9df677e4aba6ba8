"""Neovim in a terminal, as a user has it who followed the plugin's README."""

from __future__ import annotations

from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Any

from tests.editors.neovim_rpc import Failed, connected
from tests.editors.patience import until
from tests.editors.terminal import terminal
from tests.editors.user import ROOT
from tests.editors.wire import Wire
from tests.support.pages import fences

if TYPE_CHECKING:
    from collections.abc import AsyncGenerator, Callable

    from tests.editors.neovim_rpc import Rpc
    from tests.editors.terminal import Terminal
    from tests.editors.user import User

PLUGIN = ROOT / "editors" / "neovim"
NO_SEARCH = "let g:loaded_python3_provider = 0"
"""For a file of Python, Neovim looks for its own library in every Python that there is: longer than most tests take."""
# A Neovim with a screen starts itself once more by its own path, which is that of the loader here.
START = f"""
"$0" --headless --clean --cmd "{NO_SEARCH}" -u "$1" --listen "$2" -c "call writefile([], '$2.ready')" "$3" 2>"$1.log" &
until [ -e "$2.ready" ]; do sleep 0.02; done
exec "$0" --server "$2" --remote-ui
"""
CHAT = """
local chat = require("ollm.chat").current()
return chat and table.concat(vim.api.nvim_buf_get_lines(chat.buf, 0, -1, false), "\\n") or ""
"""
IS_BUSY = "local chat = require('ollm.chat').current() return not chat or chat.is_busy"


@dataclass(frozen=True)
class Neovim:
    """A running Neovim with one file open."""

    screen: Terminal
    wire: Wire
    rpc: Rpc
    errors: Path
    """What it said before it had a screen."""

    async def lua(self, code: str, *arguments: Any) -> Any:
        try:
            return await self.rpc.lua(code, *arguments)
        except Failed as failure:
            raise AssertionError(f"{failure}\n{self.screen.screen()}") from None

    async def keys(self, keys: str) -> None:
        """Type keys, in Neovim's notation, and wait until they are taken."""
        await self.lua("vim.api.nvim_input(...)", keys)
        await self.lua("return 0")

    async def command(self, text: str) -> None:
        await self.lua("vim.cmd(...)", text)

    async def until(self, code: str, what: str, *arguments: Any) -> Any:
        """What the code returns, as soon as it is neither nil nor false."""
        return await self.until_value(code, bool, what, *arguments)

    async def until_value(self, code: str, fits: Callable[[Any], object], what: str, *arguments: Any) -> Any:
        """What the code returns, as soon as it fits."""
        found: list[Any] = []

        async def look() -> bool:
            found[:] = [await self.lua(code, *arguments)]
            return bool(fits(found[0]))

        await until(look, what, lambda: f"{found}\n{self._situation()}")
        return found[0]

    def _situation(self) -> str:
        errors = self.errors.read_text(encoding="utf-8", errors="replace")
        return f"{self.screen.screen()}\nerrors at start: {errors or 'none'}\nserver's log: {self.wire.log()}"

    async def ready(self) -> None:
        await self.until("return #vim.lsp.get_clients({ name = 'ollm_lsp', bufnr = 0 }) > 0", "the server")

    async def text(self, buf: int = 0) -> str:
        """All of a buffer, as a file has it."""
        return await self.lua("return table.concat(vim.api.nvim_buf_get_lines(..., 0, -1, false), '\\n') .. '\\n'", buf)

    async def chat(self) -> str:
        """The text of the current chat."""
        return await self.lua(CHAT)

    async def chat_has(self, text: str) -> str:
        return await self.until_value(CHAT, lambda chat: text in chat, f"{text!r} in the chat")

    async def answered(self) -> str:
        """The text of the chat, once there is room for the next question."""
        await self.chat_has("## Assistant")
        await self.until_value(IS_BUSY, lambda is_busy: not is_busy, "the end of the answer")
        return await self.chat()

    async def asked(self) -> None:
        """Wait until the user is told of a question of the server."""
        await self.until("return require('ollm.permission').is_shown()", "a question")

    async def quit(self) -> None:
        await self.lua("vim.schedule(function() vim.cmd('qall!') end)")
        await self.screen.ends()


@asynccontextmanager
async def neovim(
    program: Path, tmux: Path, user: User, name: str, more: str = "", before: str = ""
) -> AsyncGenerator[Neovim]:
    """Neovim with a file of the project, and the README's lines as its whole configuration."""
    (user.folder / "home" / "ollm-lsp").symlink_to(ROOT)
    init = user.folder / "init.lua"
    path, *lines = fences(PLUGIN / "README.md", "lua")[0].splitlines()
    init.write_text("\n".join([path, before, *lines, more]))
    with TemporaryDirectory(prefix="nvim-") as folder, terminal(tmux, user.environment()) as screen:
        socket = Path(folder) / "socket"
        screen.start(["sh", "-c", START, str(program), str(init), str(socket), name], user.project)
        await until(socket.with_suffix(".ready").exists, "Neovim", screen.screen)
        async with connected(socket) as rpc:
            yield Neovim(screen, Wire(user.tap), rpc, init.with_name(f"{init.name}.log"))
