"""Chats of a real Neovim as windows and buffers: reused, closed for good, found again, and about the right place."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING

from tests.editors.neovim import neovim
from tests.editors.patience import until
from tests.editors.scene import LONG, NAME, TEXT, gone, saying, user_of
from tests.editors.test_neovim import CHOOSE, said

if TYPE_CHECKING:
    from pathlib import Path

WINDOWS = "return #vim.api.nvim_list_wins()"
BUFFER = "return vim.api.nvim_get_current_buf()"
HEADING = """
local chat = require("ollm.chat").current()
local messages, ns = chat.transcript:messages(), vim.api.nvim_create_namespace("ollm.chat")
local mark = vim.api.nvim_buf_get_extmark_by_id(chat.buf, ns, messages[#messages].mark, { details = true })
return mark[3].virt_text[1][1]
"""


async def test_a_chat_that_is_closed_for_good_is_stopped_and_another_one_begins(
    neovim_program: Path, tmux: Path, tmp_path: Path
) -> None:
    pace = asyncio.Semaphore(0)
    async with saying(LONG, pace) as fake, neovim(neovim_program, tmux, user_of(tmp_path, fake), NAME) as editor:
        await editor.ready()
        for command in ("bdelete", "bwipeout!"):
            await editor.command("Ollm chat One?")
            # More than is waited for: the answer before may take some yet.
            for _ in range(5):
                pace.release()
            await editor.chat_has("word0")
            await editor.lua("_G.closed = require('ollm.chat').current()")
            await editor.command(command)
            await gone(fake)
            await editor.until("return not _G.closed.is_busy and not _G.closed.running", "the end of the answer")
            assert not await editor.lua("return vim.api.nvim_buf_is_valid(_G.closed.buf)")
            assert await editor.lua("return require('ollm.chat').current() == nil")
            # What the server reports a little too late.
            await editor.lua(
                "for mark in pairs(_G.closed.transcript.heads) do _G.closed.transcript:tell(mark, '…') end"
            )
        for _ in range(100):
            pace.release()
        await editor.command("Ollm chat Two?")
        assert await said(editor) == [["you", "Two?"], ["assistant", LONG], ["you", ""]]
        assert "Error" not in await editor.lua("return vim.fn.execute('messages')")
        await editor.command("bdelete")
        await editor.lua("vim.schedule(function() vim.cmd.qall() end)")
        await editor.screen.ends()


async def test_another_chat_takes_the_window_and_one_that_is_open_is_found_again(
    neovim_program: Path, tmux: Path, tmp_path: Path
) -> None:
    pace = asyncio.Semaphore(100)
    async with (
        saying(LONG, pace) as fake,
        neovim(neovim_program, tmux, user_of(tmp_path, fake), NAME, CHOOSE) as editor,
    ):
        await editor.ready()
        await editor.command("Ollm chat One?")
        await editor.answered()
        first = await editor.lua(BUFFER)
        while not pace.locked():
            await pace.acquire()
        await editor.command("Ollm new Two?")
        pace.release()
        await editor.chat_has("word0")
        second = await editor.lua(BUFFER)
        await editor.command("Ollm new")
        await editor.keys("<Esc>")
        assert await editor.lua(WINDOWS) == 2
        for title, buf in (("Two?", second), ("One?", first)):
            await editor.lua("_G.wanted = ...", title)
            await editor.command("Ollm conversations")
            await editor.until_value(BUFFER, lambda one, buf=buf: one == buf, f"the chat {title}")
        assert await editor.lua(WINDOWS) == 2
        assert await editor.lua("return vim.wo.foldmethod .. ' ' .. tostring(vim.wo.number)") == "expr false"
        await editor.keys("<C-w>h")
        assert await editor.lua("return vim.wo.foldmethod") == "manual", "the file keeps its own"
        await editor.command("Ollm stop")
        await gone(fake)
        await editor.lua("require('ollm').setup({ chat = { layout = 'tab' } })")
        await editor.command("Ollm new")
        assert await editor.lua("return vim.fn.tabpagenr('$')") == 2


async def test_a_question_is_about_the_place_that_its_heading_names(
    neovim_program: Path, tmux: Path, tmp_path: Path
) -> None:
    async with saying("Yes.") as fake:
        user = user_of(tmp_path, fake)
        (user.project / "other.py").write_text(TEXT, encoding="utf-8")
        async with neovim(neovim_program, tmux, user, NAME) as editor:
            await editor.ready()
            await editor.command("split")
            await editor.keys("<C-w>jG")
            await editor.command("Ollm chat Here?")
            await editor.answered()
            await editor.command("wincmd p")
            await editor.command("1,2Ollm chat And there?")
            await editor.answered()
            await editor.keys("<Esc>idraft<Esc>gg/And<CR>gR")
            assert (await said(editor))[-1] == ["you", "draft"]
            here, there, again = (one["context"] for one in editor.wire.params("editor", "ollm/chat/send"))
            assert here["range"]["start"]["line"] == 2, "the cursor of the window that was left"
            assert (there["range"]["start"]["line"], there["range"]["end"]["line"]) == (0, 1)
            assert again == there
            assert (await editor.lua(HEADING)).endswith(NAME)
            await editor.command("wincmd p")
            await editor.command("edit other.py")
            await editor.command("wincmd p")
            assert (await editor.lua(HEADING)).endswith("other.py")
            await editor.keys("<CR>")
            assert (await said(editor))[-3:] == [["you", "draft"], ["assistant", "Yes."], ["you", ""]]
            assert editor.wire.params("editor", "ollm/chat/send")[-1]["context"]["uri"].endswith("/other.py")


async def test_lines_that_are_in_no_file_are_quoted_or_refused(
    neovim_program: Path, tmux: Path, tmp_path: Path
) -> None:
    told = "_G.told = {} vim.notify = function(words) table.insert(_G.told, words) end"
    async with saying("Yes.") as fake, neovim(neovim_program, tmux, user_of(tmp_path, fake), NAME, told) as editor:
        await editor.ready()
        await editor.command("Ollm chat One?")
        await editor.answered()
        for action in ("explain", "edit Be polite."):
            await editor.command(f"1,3Ollm {action}")
        assert len([one for one in await editor.lua("return _G.told") if "these lines are in no file" in one]) == 2
        assert not editor.wire.params("editor", "workspace/executeCommand")
        await editor.command("3Ollm ask Why?")
        assert (await said(editor))[2:] == [["you", "> One?\n\nWhy?"], ["assistant", "Yes."], ["you", ""]]
        await editor.command("3,3Ollm chat")
        await editor.keys("Really?<C-s>")
        assert (await said(editor))[4:] == [["you", "> One?\n\nReally?"], ["assistant", "Yes."], ["you", ""]]


async def test_an_explanation_is_asked_for_again_in_other_words_and_the_draft_stays(
    neovim_program: Path, tmux: Path, tmp_path: Path
) -> None:
    async with saying("It greets.") as fake, neovim(neovim_program, tmux, user_of(tmp_path, fake), NAME) as editor:
        await editor.ready()
        await editor.command("1,3Ollm explain")
        await editor.answered()
        await editor.keys("idraft<Esc>gggR")
        asked = [["you", "Explain greeting.py:1-3"], ["assistant", "It greets."], ["you", "draft"]]
        assert await said(editor) == asked
        await editor.keys("gg/Explain<CR>A to a child.<Esc>gR")
        asked[0][1] += " to a child."
        assert await said(editor) == asked
        ran = [one["arguments"][0] for one in editor.wire.params("editor", "workspace/executeCommand")]
        assert [one.get("text") for one in ran] == [None, None, asked[0][1]]
        assert ran[0]["range"] == ran[2]["range"]


async def test_everything_is_stopped_in_all_folders(neovim_program: Path, tmux: Path, tmp_path: Path) -> None:
    async with saying(LONG, asyncio.Semaphore(0)) as fake:
        user = user_of(tmp_path, fake)
        other = user.project / "other"
        (other / ".git").mkdir(parents=True)
        (other / NAME).write_text(TEXT, encoding="utf-8")
        async with neovim(neovim_program, tmux, user, NAME) as editor:
            await editor.ready()
            await editor.command(f"edit other/{NAME}")
            await editor.until("return #vim.lsp.get_clients({ name = 'ollm_lsp' }) == 2", "another server")
            await editor.ready()
            await editor.command("Ollm chat One?")
            await until(lambda: len(fake.bodies()) == 1, "the question", editor.screen.screen)
            await editor.command("1wincmd w")
            await editor.command(f"buffer {NAME}")
            asked = await editor.lua("return require('ollm.client').get(require('ollm.place').document()).id")
            assert asked != await editor.lua("return vim.lsp.get_clients({ bufnr = vim.fn.bufnr('other') })[1].id")
            await editor.command("Ollm stop")
            assert (await said(editor))[0] == ["you", "One?"]
            await gone(fake)
