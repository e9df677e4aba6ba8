"""Chats in a real Neovim, with the real server."""

from __future__ import annotations

import asyncio
import os
import signal
from typing import TYPE_CHECKING, Any

import pytest

from tests.editors.neovim import PLUGIN, neovim
from tests.editors.patience import until
from tests.editors.scene import ENDLESS, LONG, NAME, QUESTION, TEXT, gone, saying, user_of, user_of_file, user_of_llama
from tests.support.fake_ollama import Call, FakeOllama, Model, Say, Think, words
from tests.support.pages import fences

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from tests.editors.neovim import Neovim
    from tests.support.fake_ollama import Step
    from tests.support.real_model import LlamaServer

SAID = """
local Chat = require('ollm.chat')
return vim.tbl_map(function(one) return { one.head.speaker, one.text } end, Chat.current().transcript:messages())"""

MARKED = """
local Chat = require('ollm.chat')
local buf = Chat.current().buf
local marks = vim.api.nvim_buf_get_extmarks(buf, vim.api.nvim_create_namespace('ollm.chat'), 0, -1, { details = true })
local seen = vim.tbl_filter(function(one) return not one[4].invalid end, marks)
return vim.tbl_map(function(one) return vim.fn.getbufline(buf, one[2] + 1)[1] end, seen)"""

CHOOSE = """
vim.ui.select = function(items, options, choose)
  _G.offered = vim.tbl_map(options.format_item, items)
  for index, words in ipairs(_G.offered) do
    if words:find(_G.wanted, 1, true) then
      choose(items[index])
    end
  end
end"""


async def ask(editor: Neovim, question: str) -> None:
    """Write a question into the chat and send it."""
    await editor.keys(question)
    await editor.keys("<C-s>")


async def said(editor: Neovim) -> list[list[str]]:
    """Who said what, once the answer is whole."""
    await editor.answered()
    return await editor.lua(SAID)


@pytest.mark.prop("lsp-6")
@pytest.mark.prop("lsp-1")
async def test_by_the_five_lines_of_the_readme_an_answer_streams_while_its_user_is_elsewhere(
    neovim_program: Path, tmux: Path, tmp_path: Path
) -> None:
    assert len(fences(PLUGIN / "README.md", "lua")[0].splitlines()) == 5
    pace = asyncio.Semaphore(3)
    async with saying(LONG, pace) as fake, neovim(neovim_program, tmux, user_of(tmp_path, fake), NAME) as editor:
        await editor.ready()
        await editor.keys("<Space>ac")
        await ask(editor, QUESTION)
        await editor.chat_has("word2")
        await editor.keys("ggA")
        for letter in " typed":
            pace.release()
            await editor.keys(letter)
        cursor = await editor.lua("return vim.api.nvim_win_get_cursor(0)")
        for _ in LONG.split(" "):
            pace.release()
        assert await said(editor) == [["you", QUESTION], ["assistant", LONG], ["you", ""]]
        assert await editor.lua("return vim.api.nvim_win_get_cursor(0)") == cursor
        assert (await editor.chat()).startswith("## You typed\n")
        assert await editor.lua("return vim.api.nvim_get_mode().mode") == "i"
        asked = fake.bodies()[0]["messages"][-1]["content"]
        assert asked.endswith(QUESTION)
        assert TEXT.splitlines()[2] in asked, "the document that the user came from"


async def test_who_is_at_the_end_stays_at_the_end(neovim_program: Path, tmux: Path, tmp_path: Path) -> None:
    text = "\n".join(f"line {number}" for number in range(100))
    async with saying(text) as fake, neovim(neovim_program, tmux, user_of(tmp_path, fake), NAME) as editor:
        await editor.ready()
        await editor.keys("<Space>ac")
        await ask(editor, QUESTION)
        await editor.answered()
        at_end = "return vim.fn.line('.') == vim.fn.line('$') and vim.fn.line('w$') == vim.fn.line('$')"
        await editor.until(at_end, "the end")
        await ask(editor, "iMore.")
        assert (await said(editor))[2:] == [["you", "More."], ["assistant", text], ["you", ""]]
        assert [one["role"] for one in fake.bodies()[1]["messages"]] == ["system", "user", "assistant", "user"]
        await editor.keys("gg")
        await editor.screen.sees("tokens")
        await editor.screen.sees("free")


WINDOW = """
local Chat = require("ollm.chat")
local win = vim.fn.bufwinid(Chat.current().buf)
return {
  floats = vim.api.nvim_win_get_config(win).relative ~= "",
  tabs = vim.fn.tabpagenr("$"),
  width = vim.api.nvim_win_get_width(win),
  height = vim.api.nvim_win_get_height(win),
}"""


async def test_a_chat_is_shown_where_the_user_wants_it(neovim_program: Path, tmux: Path, tmp_path: Path) -> None:
    async with saying("Yes.") as fake, neovim(neovim_program, tmux, user_of(tmp_path, fake), NAME) as editor:
        await editor.ready()
        shown: dict[str, dict[str, Any]] = {}
        for layout in ("vertical", "horizontal", "float", "tab"):
            await editor.lua("require('ollm').setup({ chat = { layout = ..., size = 0.4, insert = false } })", layout)
            await editor.command(f"Ollm new Is this {layout}?")
            assert (await said(editor))[:2] == [["you", f"Is this {layout}?"], ["assistant", "Yes."]]
            shown[layout] = await editor.lua(WINDOW)
            await editor.screen.sees("Yes.")
            await editor.keys("q")
            assert await editor.lua("return vim.fn.bufname()") == NAME, "the user is back in the file"
            assert await editor.lua("return #vim.api.nvim_list_wins()") == 1
        assert [name for name, one in shown.items() if one["floats"]] == ["float"]
        assert [name for name, one in shown.items() if one["tabs"] == 2] == ["tab"]
        assert shown["vertical"]["width"] == 40
        assert (shown["horizontal"]["width"], shown["horizontal"]["height"]) == (100, 11)


def thoughtful(request: dict[str, Any]) -> Sequence[Step]:
    """Think, read, and answer."""
    if request["messages"][-1]["role"] == "tool":
        return [Say("It greets.")]
    return [Think("I have\nto look."), Say("Let me see."), Call("read_file", {"path": NAME})]


async def test_thoughts_and_tool_calls_are_folded(neovim_program: Path, tmux: Path, tmp_path: Path) -> None:
    model = Model("smollm2:135m", capabilities=("completion", "tools", "thinking"))
    async with (
        FakeOllama([model], answer=thoughtful) as fake,
        neovim(neovim_program, tmux, user_of(tmp_path, fake), NAME) as editor,
    ):
        await editor.ready()
        await editor.keys("<Space>ac")
        await ask(editor, QUESTION)
        text = await editor.answered()
        assert "> [!ollm] ▸ thoughts\n> I have\n> to look.\n\nLet me see.\n\n> [!ollm] ▸ Read " in text
        assert "\n\nIt greets.\n" in text
        await editor.screen.sees("▸ thoughts (2 lines)")
        assert "I have" not in editor.screen.screen()
        assert "lines)·" not in editor.screen.screen(), "a fold is a quiet line"
        assert 'return f"Hello' in text.partition("▸ Read")[2], "the result"


async def test_an_answer_is_stopped_in_the_middle(neovim_program: Path, tmux: Path, tmp_path: Path) -> None:
    pace = asyncio.Semaphore(2)
    async with saying(LONG, pace) as fake, neovim(neovim_program, tmux, user_of(tmp_path, fake), NAME) as editor:
        await editor.ready()
        await editor.keys("<Space>ac")
        await ask(editor, QUESTION)
        await editor.chat_has("word1")
        editor.screen.press("C-c")
        assert await said(editor) == [["you", QUESTION], ["assistant", "word0 word1"], ["you", ""]]
        await gone(fake)
        await editor.screen.sees("stopped")


async def test_a_question_that_was_changed_is_asked_again_in_its_place(
    neovim_program: Path, tmux: Path, tmp_path: Path
) -> None:
    async with saying("Yes.") as fake, neovim(neovim_program, tmux, user_of(tmp_path, fake), NAME) as editor:
        await editor.ready()
        await editor.keys("<Space>ac")
        for question in ("One?", "Two?"):
            await ask(editor, question)
            await editor.answered()
            await editor.keys("i")
        await editor.keys("draft<Esc>gg/Two<CR>cwThree<Esc>gR")
        assert await said(editor) == [
            ["you", "One?"],
            ["assistant", "Yes."],
            ["you", "Three?"],
            ["assistant", "Yes."],
            ["you", "draft"],
        ]
        asked = [one["content"] for one in fake.bodies()[-1]["messages"] if one["role"] == "user"]
        assert len(asked) == 2
        assert asked[1].endswith("Three?")
        assert "Two?" not in str(asked)
        await editor.keys("gg/One<CR>gR")
        assert (await said(editor))[:2] == [["you", "One?"], ["assistant", "Yes."]]
        assert [one["role"] for one in fake.bodies()[-1]["messages"]] == ["system", "user"]


async def test_an_answer_is_undone_in_one_step_and_what_the_user_wrote_in_another(
    neovim_program: Path, tmux: Path, tmp_path: Path
) -> None:
    pace = asyncio.Semaphore(0)

    async def grows(editor: Neovim, first: int, last: int) -> None:
        """Let these words of the answer come, each by itself, and after the last one its end."""
        for number in range(first, last):
            pace.release()
            await editor.chat_has(f"word{number}")
        if last == 40:
            pace.release()

    async with saying(LONG, pace) as fake, neovim(neovim_program, tmux, user_of(tmp_path, fake), NAME) as editor:
        await editor.ready()
        await editor.keys("<Space>ac")
        await ask(editor, "One?")
        await grows(editor, 0, 40)
        whole = [["you", "One?"], ["assistant", LONG], ["you", ""]]
        assert await said(editor) == whole
        steps = [whole, [["you", "One?"]], [["you", ""]]]
        for left in (*steps[1:], steps[-1]):
            await editor.keys("u")
            assert await editor.lua(SAID) == left
        for back in (*reversed(steps[:2]), whole):
            await editor.keys("<C-r>")
            assert await editor.lua(SAID) == back
        assert await editor.lua(MARKED) == ["## You", "## Assistant", "## You"]
        await editor.keys("uu")
        await ask(editor, "GAOne?")
        await grows(editor, 0, 40)
        assert await said(editor) == whole

        await editor.keys("Godraft<Esc>")
        before = await editor.chat()
        await editor.keys("gg/One<CR>cwTwo<Esc>gR")
        await grows(editor, 0, 3)
        await editor.keys("ggA typed<Esc>")
        await grows(editor, 3, 40)
        assert await said(editor) == [["you", "Two?"], ["assistant", LONG], ["you", "draft"]]
        await editor.keys("u")
        text = await editor.chat()
        assert "word2" in text
        assert "word3" not in text
        assert text.startswith("## You typed\n")
        await editor.keys("u")
        assert (await editor.chat()).startswith("## You\n")
        await editor.keys("u")
        assert await editor.chat() == before.replace("One?", "Two?")
        assert await editor.lua(SAID) == [["you", "Two?"], *whole[1:2], ["you", "draft"]]

        await editor.keys("gg/Two<CR>gR")
        await grows(editor, 0, 3)
        await editor.keys("u")
        pace.release()
        await gone(fake)
        await editor.answered()
        assert await editor.lua(SAID) == [["you", "Two?"], *whole[1:2], ["you", "draft"]]


async def test_without_its_headings_a_chat_goes_on(neovim_program: Path, tmux: Path, tmp_path: Path) -> None:
    count = """
        _G.told, _G.reasons = {}, {}
        vim.notify = function(words) table.insert(_G.told, words) end
        vim.api.nvim_create_autocmd("User", { pattern = "OllmFinished", callback = function(args)
          table.insert(_G.reasons, args.data.reason)
        end })"""
    pace = asyncio.Semaphore(0)
    async with (
        saying("Yes, of course.", pace) as fake,
        neovim(neovim_program, tmux, user_of(tmp_path, fake), NAME, count) as editor,
    ):
        await editor.ready()
        await editor.keys("<Space>ac<Esc>ggdGiOne?<Esc><CR>")
        pace.release()
        await editor.chat_has("Yes,")
        await editor.keys("gg/## Ass<CR>$xxx")
        await editor.command("Ollm chat Two?")
        for _ in range(3):
            pace.release()
        await editor.until("return not require('ollm.chat').current().is_busy", "the end of the answer")
        assert await editor.lua(SAID) == [["you", "One?"], ["assistant", "Yes, of course."], ["you", "Two?"]]
        assert any("still on its way" in one for one in await editor.lua("return _G.told"))
        for _ in range(4):
            pace.release()
        await editor.command("Ollm chat Three?")
        assert (await said(editor))[2:] == [["you", "Three?"], ["assistant", "Yes, of course."], ["you", "Two?"]]
        await editor.keys("G?## You<CR>dG<CR>")
        assert (await editor.lua(SAID))[3:] == [["assistant", "Yes, of course."], ["you", ""]]
        assert any("no room" in one for one in await editor.lua("return _G.told"))
        assert await editor.lua("return _G.reasons") == ["stop", "stop"]
        assert len(fake.bodies()) == 2


async def complete(editor: Neovim, whole: str) -> None:
    """Let Neovim complete what is typed, and press again where it was too early for it."""
    looks = 0

    async def is_whole() -> bool:
        nonlocal looks
        if looks % 100 == 0:
            await editor.keys("<C-x><C-o>")
        looks += 1
        return whole in await editor.chat()

    await until(is_whole, f"{whole!r} completed", editor.screen.screen)


async def test_slash_commands_and_mentions_are_completed(neovim_program: Path, tmux: Path, tmp_path: Path) -> None:
    async with saying("Yes.") as fake, neovim(neovim_program, tmux, user_of(tmp_path, fake), NAME) as editor:
        await editor.ready()
        await editor.keys("<Space>ac")
        has_it = "return #vim.lsp.get_clients({ bufnr = 0, method = 'textDocument/completion' }) > 0"
        await editor.until(has_it, "the server in the chat")
        await editor.keys("/exp")
        await complete(editor, "/explain")
        await editor.keys("<Esc>cc#file:g")
        await complete(editor, "#file:greeting.py")
        await editor.keys("<C-s>")
        assert (await said(editor))[0] == ["you", "#file:greeting.py"]


async def test_a_conversation_is_chosen_renamed_and_gone_on_with_by_another_model(
    neovim_program: Path, tmux: Path, tmp_path: Path
) -> None:
    models = [Model("smollm2:135m"), Model("other:1b")]
    async with (
        FakeOllama(models, answer=lambda _: words("Yes, of course.")) as fake,
        neovim(neovim_program, tmux, user_of(tmp_path, fake), NAME) as editor,
    ):
        await editor.ready()
        await editor.lua(CHOOSE)
        await editor.command("Ollm chat One?")
        await editor.answered()
        await editor.command("Ollm rename My greetings")
        await editor.wire.answer("editor", "ollm/chat/rename")
        await editor.command("bwipeout!")
        await editor.lua("_G.wanted = 'My greetings'")
        await editor.command("Ollm conversations")
        await editor.chat_has("Yes, of course.")
        assert await said(editor) == [["you", "One?"], ["assistant", "Yes, of course."], ["you", ""]]
        await editor.lua("_G.wanted = 'other:1b'")
        await editor.keys("gM")
        await editor.until("return require('ollm.chat').current().model", "the choice")
        assert "ollama:smollm2:135m · default" in await editor.lua("return _G.offered")
        await editor.command("Ollm chat Two?")
        assert (await said(editor))[2:4] == [["you", "Two?"], ["assistant", "Yes, of course."]]
        assert fake.bodies()[-1]["model"] == "other:1b"
        assert [one["role"] for one in fake.bodies()[-1]["messages"]] == ["system", "user", "assistant", "user"]


async def test_context_and_check_up_are_shown_and_a_conversation_is_deleted(
    neovim_program: Path, tmux: Path, tmp_path: Path
) -> None:
    last = """
        vim.ui.select = function(items, _, choose) choose(items[#items]) end
        _G.told = {}
        vim.notify = function(words) table.insert(_G.told, words) end"""
    async with saying("Yes.") as fake, neovim(neovim_program, tmux, user_of(tmp_path, fake), NAME, last) as editor:
        await editor.ready()
        await editor.command("1,3Ollm context What is this?")
        await editor.until_value(
            "return table.concat(vim.fn.getline(1, '$'), '\\n')",
            lambda text: text.startswith("# ollama:smollm2:135m: ") and "What is this?" in text and "Grüße" in text,
            "the context",
        )
        assert not fake.bodies(), "nothing is asked"
        await editor.keys("q")
        await editor.command("Ollm doctor")
        await editor.until("return vim.fn.getline(1) == '# Check-up' and vim.fn.search('ollama') > 0", "the check-up")
        await editor.keys("q")
        assert await editor.lua("return vim.fn.bufname()") == NAME
        await editor.command("Ollm chat One?")
        await editor.answered()
        for is_shown in (False, True):
            await editor.command("Ollm toggle")
            assert await editor.lua("return require('ollm.chat').current():is_shown()") is is_shown
        await editor.keys("<Esc>")
        await editor.command("Ollm delete")
        await editor.until("return vim.list_contains(_G.told, 'ollm: the conversation is deleted.')", "its end")
        await editor.command("Ollm delete")
        await editor.until("return vim.list_contains(_G.told, 'ollm: Delete: there are none.')", "no other")


async def test_words_that_a_command_lacks_are_asked_for(neovim_program: Path, tmux: Path, tmp_path: Path) -> None:
    given = """
        local words = { ["Model: "] = "ollama:other:1b", ["Title: "] = "My greetings" }
        vim.ui.input = function(options, take) take(words[options.prompt]) end
        _G.told = {}
        vim.notify = function(text) table.insert(_G.told, text) end"""
    has_told = "return vim.list_contains(_G.told, ...)"
    async with (
        FakeOllama(answer=lambda _: words("Yes."), library=[Model("other:1b")]) as fake,
        neovim(neovim_program, tmux, user_of(tmp_path, fake), NAME, given) as editor,
    ):
        await editor.ready()
        await editor.command("Ollm pull")
        await editor.until(has_told, "the model", "ollm: ollama:other:1b is here.")
        assert "other:1b" in fake.models
        await editor.command("Ollm chat One?")
        await editor.answered()
        await editor.command("Ollm rename")
        await editor.until(has_told, "the title", "ollm: the conversation is called My greetings")


async def test_an_error_is_in_the_chat_with_its_remedy(neovim_program: Path, tmux: Path, tmp_path: Path) -> None:
    async with saying("Yes.") as fake:
        user = user_of(tmp_path, fake)
    async with neovim(neovim_program, tmux, user, NAME) as editor:
        await editor.ready()
        await editor.command("Ollm chat One?")
        text = await editor.answered()
        assert "> [!ollm] error: Cannot reach http://127.0.0.1" in text
        assert "\n> Start Ollama" in text
        assert (await editor.lua(SAID))[-1] == ["you", ""]


async def test_progress_and_status_are_told(neovim_program: Path, tmux: Path, tmp_path: Path) -> None:
    count = """
        _G.kinds = {}
        vim.api.nvim_create_autocmd("LspProgress", { callback = function(args)
          table.insert(_G.kinds, args.data.params.value.kind)
        end })"""
    async with saying("Yes.") as fake, neovim(neovim_program, tmux, user_of(tmp_path, fake), NAME, count) as editor:
        await editor.ready()
        await editor.command("Ollm chat One?")
        await editor.answered()
        kinds = await editor.lua("return _G.kinds")
        assert (kinds[0], kinds[-1]) == ("begin", "end")
        status = await editor.until_value(
            "return require('ollm').status()", lambda one: one.startswith("○") and "k/8k" in one, "the status"
        )
        assert "ollama:smollm2:135m" in status
        await editor.screen.sees(status)


@pytest.mark.prop("lsp-3")
async def test_the_real_model_chats_and_explains(
    neovim_program: Path, tmux: Path, tmp_path: Path, real_model_path: Path
) -> None:
    async with neovim(neovim_program, tmux, user_of_file(tmp_path, real_model_path), NAME) as editor:
        await editor.ready()
        await editor.keys("<Space>ac")
        await ask(editor, "What does this function do?")
        first = (await said(editor))[1]
        assert len(first[1].split()) > 3
        events = [one["value"] for one in editor.wire.params("server", "$/progress") if "type" in one["value"]]
        assert sum(event["type"] == "text" for event in events) > 1, "it streams"
        await editor.keys("<C-w>h<Space>ae")
        await editor.until_value(SAID, lambda one: one[0][1].startswith("Explain greeting.py"), "another chat")
        assert len((await said(editor))[1][1].split()) > 3


async def test_the_real_model_is_stopped_and_its_server_killed_and_the_chat_goes_on(
    neovim_program: Path, tmux: Path, tmp_path: Path, real_llama: LlamaServer
) -> None:
    user = user_of_llama(tmp_path, real_llama, "talker", ENDLESS)
    server = "local one = vim.lsp.get_clients({ name = 'ollm_lsp', bufnr = 1 })[1] return one and one.id"
    async with neovim(neovim_program, tmux, user, NAME) as editor:
        await editor.ready()
        first = await editor.lua(server)
        await editor.keys("<Space>ac")
        for number in range(1, 4):
            await ask(editor, QUESTION)
            grown = f"{SAID.strip()}[{2 * number}]"
            await editor.until_value(grown, lambda one: one and len(one[1]) > 3, "the beginning of an answer")
            if number == 2:
                os.kill(int((user.tap / "server.pid").read_text()), signal.SIGKILL)
                assert "The server has ended." in await editor.answered()
                await editor.until_value(server, lambda one: one and one != first, "another server")
            else:
                editor.screen.press("C-c")
                await editor.answered()
                await editor.until_value("return 1", lambda _: "stopped" in editor.screen.screen(), "the word for it")
            await editor.keys("i")
