"""The server's life under Neovim: checked, killed, restarted."""

from __future__ import annotations

import asyncio
import os
import signal
import sys
from typing import TYPE_CHECKING

from tests.editors.neovim import neovim
from tests.editors.patience import until
from tests.editors.scene import LONG, NAME, saying, user_of

if TYPE_CHECKING:
    from pathlib import Path

TOLD = "_G.told = {} vim.notify = function(words) table.insert(_G.told, words) end"


async def test_checkhealth_tells_what_works_and_what_does_not(neovim_program: Path, tmux: Path, tmp_path: Path) -> None:
    async with saying("") as fake:
        user = user_of(tmp_path, fake)
        start = user.folder / "bin" / "ollm-lsp"
        doctor = f'case "$1" in --version|doctor) exec {sys.executable} -m ollm_lsp "$@";; esac\n'
        start.write_text(start.read_text().replace("PYTHONPATH", f"{doctor}PYTHONPATH", 1))
        async with neovim(neovim_program, tmux, user, NAME) as editor:
            await editor.ready()
            await editor.command("checkhealth ollm")
            text = await editor.text()
            assert "ollm: editor and server" in text
            assert "OK ollm-lsp " in text
            assert "the server runs in" in text
            assert "ollama: " in text
            assert "ERROR" not in text


async def test_a_server_that_is_not_there_is_told_with_what_to_do(
    neovim_program: Path, tmux: Path, tmp_path: Path
) -> None:
    async with saying("") as fake:
        user = user_of(tmp_path, fake)
        (user.folder / "bin" / "ollm-lsp").unlink()
        async with neovim(neovim_program, tmux, user, NAME, TOLD) as editor:
            await editor.lua("vim.env.PATH = '/usr/bin:/bin'")
            await editor.command("checkhealth ollm")
            text = await editor.text()
            assert "ollm-lsp is not on your PATH." in text
            assert "Install ollm-lsp; see " in text
            await editor.command("Ollm new Hello?")
            assert "not on your PATH" in str(await editor.lua("return _G.told"))
            told = await editor.lua("return #_G.told")
            await editor.command(f"split {NAME} | edit | edit")
            assert await editor.lua("return #_G.told") == told, "it is told once where nobody asks for it"
            assert "> [!ollm] error: The server cannot be started." in await editor.answered()


async def test_a_killed_server_is_started_again_and_the_chat_goes_on(
    neovim_program: Path, tmux: Path, tmp_path: Path
) -> None:
    pace = asyncio.Semaphore(100)
    async with (
        saying(LONG, pace) as fake,
        neovim(neovim_program, tmux, user_of(tmp_path, fake), NAME, TOLD) as editor,
    ):
        await editor.ready()
        await editor.command("Ollm chat One?")
        await editor.answered()
        while not pace.locked():
            await pace.acquire()
        await editor.command("Ollm chat Two?")
        pace.release()
        await until(lambda: len(fake.bodies()) == 2, "the question", editor.screen.screen)
        os.kill(int((tmp_path / "tap" / "server.pid").read_text()), signal.SIGKILL)
        text = await editor.answered()
        assert "> [!ollm] error: The server has ended.\n> Send it again." in text
        await editor.until("return #vim.lsp.get_clients({ name = 'ollm_lsp', bufnr = 1 }) > 0", "a new server")
        await editor.until(
            "return #vim.lsp.get_clients({ bufnr = require('ollm.chat').current().buf }) > 0", "the chat attached"
        )
        for _ in range(100):
            pace.release()
        await editor.command("Ollm retry")
        text = await editor.answered()
        assert text.count(LONG) == 2
        assert "The server has ended" not in text
        assert [one["role"] for one in fake.bodies()[-1]["messages"]] == ["system", "user", "assistant", "user"]
        assert "ollm: the server has died and is started again." in await editor.lua("return _G.told")


async def test_the_server_is_restarted_and_ends_with_its_editor(
    neovim_program: Path, tmux: Path, tmp_path: Path
) -> None:
    async with saying("Yes.") as fake, neovim(neovim_program, tmux, user_of(tmp_path, fake), NAME) as editor:
        await editor.ready()
        first = await editor.lua("return vim.lsp.get_clients({ name = 'ollm_lsp' })[1].id")
        await editor.command("Ollm restart")
        code = "local one = vim.lsp.get_clients({ name = 'ollm_lsp', bufnr = 1 })[1] return one and one.id"
        await editor.until_value(code, lambda one: one and one != first, "another server")
        await editor.command("Ollm chat One?")
        assert "Yes." in await editor.answered()
        await editor.quit()
        await editor.wire.server_ends()


async def test_a_server_that_hangs_is_restarted(neovim_program: Path, tmux: Path, tmp_path: Path) -> None:
    async with saying("Yes.") as fake, neovim(neovim_program, tmux, user_of(tmp_path, fake), NAME) as editor:
        await editor.ready()
        first = await editor.lua("return vim.lsp.get_clients({ name = 'ollm_lsp' })[1].id")
        hanging = int((tmp_path / "tap" / "server.pid").read_text())
        os.kill(hanging, signal.SIGSTOP)
        try:
            await editor.command("Ollm restart")
            code = "local one = vim.lsp.get_clients({ name = 'ollm_lsp', bufnr = 1 })[1] return one and one.id"
            await editor.until_value(code, lambda one: one and one != first, "another server")
        finally:
            os.kill(hanging, signal.SIGKILL)


async def test_whoever_types_while_the_server_dies_is_told_and_types_on(
    neovim_program: Path, tmux: Path, tmp_path: Path
) -> None:
    async with saying("") as fake, neovim(neovim_program, tmux, user_of(tmp_path, fake), NAME) as editor:
        await editor.ready()
        os.kill(int((tmp_path / "tap" / "server.pid").read_text()), signal.SIGKILL)
        await editor.screen.sees("ollm: the server has died and is started again.")
        assert "Press ENTER" not in editor.screen.screen()
        # Where a message waits for a key, this one is taken for the answer.
        editor.screen.press("Space", "Space", "i")
        editor.screen.type("typed")
        await editor.until("return vim.fn.getline(1):find('typed') ~= nil", "what is typed")
        await editor.ready()


async def test_a_file_of_another_project_gets_a_server_of_its_own(
    neovim_program: Path, tmux: Path, tmp_path: Path
) -> None:
    async with saying("") as fake, neovim(neovim_program, tmux, user_of(tmp_path, fake), NAME) as editor:
        await editor.ready()
        other = tmp_path / "other" / "there.py"
        (other.parent / ".git").mkdir(parents=True)
        other.write_text("there = 1\n")
        await editor.command(f"noautocmd edit {other}")
        roots = """
            _G.roots = nil
            require("ollm.client").with(0, function(client)
              _G.roots = { client.root_dir or client.config.root_dir }
            end)"""
        await editor.lua(roots)
        assert await editor.until("return _G.roots", "a server") == [str(other.parent)]
        assert await editor.lua("return #vim.lsp.get_clients({ name = 'ollm_lsp' })") == 2
