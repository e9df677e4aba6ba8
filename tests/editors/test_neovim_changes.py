"""Actions on code in a real Neovim: what is proposed, how it is decided, and what becomes of the files."""

from __future__ import annotations

import asyncio
import json
import re
from contextlib import asynccontextmanager
from typing import TYPE_CHECKING, Any

import pytest

from tests.editors.linter import COMPLAINT
from tests.editors.neovim import neovim
from tests.editors.patience import until
from tests.editors.scene import CODE, NAME, POLITE, QUESTION, TEXT, gone, polite_model, saying, user_of, user_of_llama
from tests.support.fake_ollama import Call, FakeOllama, Say

if TYPE_CHECKING:
    from collections.abc import AsyncGenerator, Sequence
    from pathlib import Path

    from tests.editors.neovim import Neovim
    from tests.support.fake_ollama import Step
    from tests.support.real_model import LlamaServer

LINTER = """
vim.api.nvim_create_autocmd("FileType", { callback = function(args)
  if vim.bo[args.buf].buftype == "" then
    vim.lsp.start({ name = "pylsp", cmd = { "pylsp" }, root_dir = vim.fn.getcwd() })
  end
end })
"""
MANY = "".join(f"line_{number} = {number}\n" for number in range(12))
FEW = MANY.replace("line_1 = 1\n", "first = 1\n").replace("line_9 = 9\n", "last = 9\nvery_last = 9\n")
SOME = MANY.replace("line_9 = 9\n", "last = 9\nvery_last = 9\n")
# What the real model may say: the function as it is, with a greeting of its own.
GREETING = r'root ::= "```python\ndef greet(name):\n    return f\"" [A-Z] [a-z ]{3,9} ", {name}!\"\n```\n"'
ASK = """
local params = vim.json.decode(...)
vim.schedule(coroutine.wrap(function()
  _G.answer = require("ollm.permission").ask(params, 0)
end))"""


async def shown(editor: Neovim, text: str) -> None:
    """Wait for the proposal on the screen."""
    await editor.asked()
    await editor.screen.sees(text)


async def is_text(editor: Neovim, text: str, buf: int = 1) -> None:
    code = "return table.concat(vim.api.nvim_buf_get_lines(..., 0, -1, false), '\\n') .. '\\n'"
    await editor.until_value(code, lambda one: one == text, f"the text {text!r}", buf)


@pytest.mark.prop("lsp-6")
@pytest.mark.prop("lsp-4")
async def test_a_diagnostic_is_fixed_once_the_change_is_accepted_and_one_undo_takes_it_back(
    neovim_program: Path, tmux: Path, tmp_path: Path
) -> None:
    async with saying(CODE) as fake:
        user = user_of(tmp_path, fake)
        user.install("pylsp", "tests.editors.linter")
        async with neovim(neovim_program, tmux, user, NAME, LINTER) as editor:
            await editor.ready()
            await editor.until("return #vim.diagnostic.get(0) > 0", "the diagnostic")
            await editor.keys("Otyped = 1<Esc>jjj")
            await editor.keys("<Space>af")
            await shown(editor, 'return f"Good morning, {name}!"')
            assert "gA accept" in editor.screen.screen()
            assert f"{COMPLAINT} (in the line" in str(fake.bodies()[0]["messages"])
            typed = f"typed = 1\n{TEXT}"
            assert await editor.text(1) == typed
            await editor.keys("gA")
            await editor.until_value("return vim.fn.getline(1, '$')", lambda one: "Good morning" in str(one), "it")
            assert (await editor.wire.ran("ollm.fix"))["result"]["applied"] is True
            assert (user.project / NAME).read_text(encoding="utf-8") == TEXT, "nothing is saved"
            await editor.keys("u")
            await is_text(editor, typed)
            assert await editor.lua("return vim.fn.maparg('gA', 'n')") == "", "the keys are gone with the question"


async def test_the_real_model_fixes_a_diagnostic_when_its_change_is_accepted_and_not_when_it_is_rejected(
    neovim_program: Path, tmux: Path, tmp_path: Path, real_llama: LlamaServer
) -> None:
    user = user_of_llama(tmp_path, real_llama, "fixer", GREETING)
    user.install("pylsp", "tests.editors.linter")
    async with neovim(neovim_program, tmux, user, NAME, LINTER) as editor:
        await editor.ready()
        await editor.until("return #vim.diagnostic.get(0) > 0", "the diagnostic")
        await editor.keys("G")
        for key, is_made in (("gX", False), ("gA", True)):
            await editor.keys("<Space>af")
            await shown(editor, "gA accept")
            (change,) = editor.wire.params("server", "ollm/permission")[-1]["changes"]
            assert re.fullmatch(r'def greet\(name\):\n    return f"[A-Z][a-z ]+, \{name\}!"\n', change["newText"])
            assert await editor.text(1) == TEXT
            await editor.keys(key)
            assert (await editor.wire.ran("ollm.fix"))["result"]["applied"] is is_made
            await is_text(editor, change["newText"] if is_made else TEXT)
        await editor.keys("u")
        await is_text(editor, TEXT)


@pytest.mark.prop("lsp-4")
async def test_a_rejected_change_changes_nothing(neovim_program: Path, tmux: Path, tmp_path: Path) -> None:
    async with saying(CODE) as fake, neovim(neovim_program, tmux, user_of(tmp_path, fake), NAME) as editor:
        await editor.ready()
        await editor.command("1,3Ollm refactor")
        await shown(editor, "Good morning")
        await editor.keys("gX")
        assert (await editor.wire.ran("ollm.refactor"))["result"]["applied"] is False
        assert not editor.wire.messages("server", "workspace/applyEdit")
        assert await editor.text(1) == TEXT
        await editor.until_value("return 1", lambda _: "Good morning" not in editor.screen.screen(), "its end")


async def test_a_code_action_asks_for_its_instruction_and_is_done(
    neovim_program: Path, tmux: Path, tmp_path: Path
) -> None:
    async with saying(CODE) as fake, neovim(neovim_program, tmux, user_of(tmp_path, fake), NAME) as editor:
        await editor.ready()
        await editor.lua("""
            vim.ui.input = function(_, take) take("Be polite.") end
            local function fits(one) return one.title:find("instruction") end
            vim.lsp.buf.code_action({ apply = true, filter = fits })""")
        await shown(editor, "Good morning")
        assert "Be polite." in fake.bodies()[0]["messages"][-1]["content"]
        await editor.command("Ollm accept")
        await is_text(editor, POLITE)
        await editor.command("Ollm revert")
        await is_text(editor, TEXT)


@pytest.mark.parametrize("way", ["range", "action"])
async def test_code_is_explained_in_a_chat_that_can_go_on(
    way: str, neovim_program: Path, tmux: Path, tmp_path: Path
) -> None:
    async with saying("It greets.") as fake, neovim(neovim_program, tmux, user_of(tmp_path, fake), NAME) as editor:
        await editor.ready()
        await editor.keys("Otyped = 1<Esc>")
        if way == "range":
            await editor.keys("Vjj<Space>ae")
        else:
            await editor.lua(
                "vim.lsp.buf.code_action({ apply = true, filter = function(one) return one.title:find('Explain') end })"
            )
        text = await editor.chat_has("It greets.")
        assert text.startswith("## You\n\nExplain greeting.py")
        await editor.answered()
        assert "typed = 1" in str(fake.bodies()[0]["messages"])
        await editor.keys("iReally?<C-s>")
        await until(lambda: len(fake.bodies()) > 1, "the next question", editor.screen.screen)
        assert [one["role"] for one in fake.bodies()[1]["messages"]] == ["system", "user", "assistant", "user"]


@pytest.mark.prop("lsp-4")
async def test_in_two_windows_a_change_is_rejected_and_the_model_hears_why(
    neovim_program: Path, tmux: Path, tmp_path: Path
) -> None:
    split = """
        require("ollm").setup({ keymaps = true, diff = "split" })
        vim.ui.input = function(words, take) _G.prompt = words.prompt take("Say good night.") end"""
    async with polite_model() as fake, neovim(neovim_program, tmux, user_of(tmp_path, fake), NAME, split) as editor:
        await editor.ready()
        await editor.command(f"Ollm chat {QUESTION}")
        await shown(editor, "Good morning")
        windows = "return #vim.tbl_filter(function(win) return vim.wo[win].diff end, vim.api.nvim_list_wins())"
        assert await editor.lua(windows) == 2
        await editor.keys("gF")
        text = await editor.answered()
        assert await editor.lua("return _G.prompt") == "Why not? "
        assert "✗ denied" in text
        assert "Say good night." in fake.bodies()[1]["messages"][-1]["content"]
        assert await editor.lua(windows) == 0
        assert await editor.text(1) == TEXT


def rewriting(request: dict[str, Any]) -> Sequence[Step]:
    """Propose two changes of one file, then be content."""
    if request["messages"][-1]["role"] == "tool":
        return [Say("That is all.")]
    return [Call("write_file", {"path": NAME, "content": FEW})]


@pytest.mark.prop("lsp-4")
async def test_one_place_is_accepted_and_the_other_rejected_and_the_model_is_told(
    neovim_program: Path, tmux: Path, tmp_path: Path
) -> None:
    async with FakeOllama(answer=rewriting) as fake:
        user = user_of(tmp_path, fake)
        (user.project / NAME).write_text(MANY)
        async with neovim(neovim_program, tmux, user, NAME) as editor:
            await editor.ready()
            await editor.command(f"Ollm chat {QUESTION}")
            await shown(editor, "very_last = 9")
            assert "1/2" in editor.screen.screen()
            assert await editor.lua("return vim.fn.line('.')") == 2, "at the first place"
            await editor.keys("gx")
            assert await editor.lua("return vim.fn.line('.')") == 10, "at the next one"
            await editor.keys("ga")
            await is_text(editor, SOME)
            answer = (await editor.wire.answer("server", "ollm/permission"))["result"]
            assert answer["optionId"] == "allow_once"
            assert [change["newText"] for change in answer["changes"]] == [SOME]
            await editor.answered()
            assert "took only a part" in fake.bodies()[1]["messages"][-1]["content"]
            await editor.command("wincmd p")
            await editor.keys("u")
            await is_text(editor, MANY)


@pytest.mark.prop("lsp-4")
async def test_all_places_are_accepted_by_one_key_and_taken_back_by_one_undo(
    neovim_program: Path, tmux: Path, tmp_path: Path
) -> None:
    async with FakeOllama(answer=rewriting) as fake:
        user = user_of(tmp_path, fake)
        (user.project / NAME).write_text(MANY)
        async with neovim(neovim_program, tmux, user, NAME) as editor:
            await editor.ready()
            await editor.command(f"Ollm chat {QUESTION}")
            await shown(editor, "very_last = 9")
            await editor.keys("gA")
            await is_text(editor, FEW)
            await editor.answered()
            assert await editor.lua("return vim.bo.filetype") == "markdown.ollm", "back in the chat"
            await editor.command("wincmd p")
            await editor.keys("u")
            await is_text(editor, MANY)
            await editor.keys("<C-r>")
            await is_text(editor, FEW)


@pytest.mark.prop("lsp-4")
async def test_an_edit_in_a_chat_is_asked_for_with_the_words_of_the_user(
    neovim_program: Path, tmux: Path, tmp_path: Path
) -> None:
    async with polite_model() as fake, neovim(neovim_program, tmux, user_of(tmp_path, fake), NAME) as editor:
        await editor.ready()
        await editor.command(f"Ollm chat {QUESTION}")
        await shown(editor, "Good morning")
        await editor.command("Ollm reject Say good night.")
        text = await editor.answered()
        assert "✗ denied" in text
        assert "Say good night." in fake.bodies()[1]["messages"][-1]["content"]
        assert await editor.text(1) == TEXT


async def test_a_question_goes_when_its_chat_is_stopped(neovim_program: Path, tmux: Path, tmp_path: Path) -> None:
    async with polite_model() as fake, neovim(neovim_program, tmux, user_of(tmp_path, fake), NAME) as editor:
        await editor.ready()
        await editor.command(f"Ollm chat {QUESTION}")
        await shown(editor, "Good morning")
        await editor.command("Ollm stop")
        await editor.until("return not require('ollm.permission').is_asking()", "the end of the question")
        await editor.answered()
        assert await editor.lua("return vim.fn.maparg('gA', 'n')") == ""


async def test_who_is_typing_is_not_interrupted_by_a_question(neovim_program: Path, tmux: Path, tmp_path: Path) -> None:
    async with polite_model() as fake, neovim(neovim_program, tmux, user_of(tmp_path, fake), NAME) as editor:
        await editor.ready()
        await editor.command("Ollm new")
        await editor.keys(f"{QUESTION}<C-s>")
        await editor.keys("ggA")
        await editor.asked()
        await editor.keys(" gA")
        assert await editor.lua("return vim.bo.filetype") == "markdown.ollm"
        assert await editor.lua("return vim.api.nvim_get_current_line()") == "## You gA"
        await editor.keys("<Esc>")
        await editor.command("Ollm review")
        await editor.keys("gA")
        await is_text(editor, POLITE)


def change(path: Path, text: str) -> dict[str, Any]:
    return {"uri": path.as_uri(), "version": None, "diff": "", "newText": text}


def question(*changes: dict[str, Any], **more: Any) -> str:
    options = [{"id": one, "label": one} for one in ("allow_once", "allow_always", "reject_once")]
    return json.dumps(
        {"id": "1", "title": "Edit it", "kind": "edit", "detail": "All of it.", "options": options, **more}
        | ({"changes": list(changes)} if changes else {})
    )


async def test_several_files_are_listed_and_decided_together(neovim_program: Path, tmux: Path, tmp_path: Path) -> None:
    async with saying("") as fake, neovim(neovim_program, tmux, user_of(tmp_path, fake), NAME) as editor:
        await editor.ready()
        other, new = tmp_path / "project" / "other.py", tmp_path / "project" / "new.py"
        other.write_text(MANY)
        hidden = "x = 1  # \u202eno\n"
        changes = change(tmp_path / "project" / NAME, POLITE), change(other, FEW), change(new, hidden)
        await editor.lua(ASK, question(*changes))
        await shown(editor, "Good morning")
        listed = await editor.lua("return vim.fn.getqflist({ items = 0, title = 0 })")
        assert listed["title"] == "ollm: Edit it"
        assert [item["lnum"] for item in listed["items"]] == [3, 2, 10, 1]
        await editor.keys("gaga")
        await editor.until_value("return 1", lambda _: "1/4" not in editor.screen.screen(), "the verdict")
        await editor.keys("gxgx")
        answer = await editor.until("return _G.answer", "the answer")
        assert answer["optionId"] == "allow_once"
        wanted = MANY.replace("line_1 = 1\n", "first = 1\n")
        assert [one["newText"] for one in answer["changes"]] == [POLITE, wanted], "and no new file"
        assert [one["uri"] for one in answer["changes"]] == [one["uri"] for one in changes[:2]]
        assert not new.exists()
        assert await editor.lua("return vim.fn.expand('%')") == NAME, "the user is where they were"
        assert await editor.lua("return #vim.api.nvim_list_wins()") == 1


async def test_nothing_hides_in_what_is_shown(neovim_program: Path, tmux: Path, tmp_path: Path) -> None:
    async with saying("") as fake, neovim(neovim_program, tmux, user_of(tmp_path, fake), NAME) as editor:
        await editor.ready()
        sly = TEXT.replace("Hello", "H\u202eello" + "x" * 120 + "END")
        await editor.lua(ASK, question(change(tmp_path / "project" / NAME, sly)))
        await shown(editor, "H⟨U+202E⟩ello")
        await editor.screen.sees("xxEND")
        await editor.keys("g=")
        await editor.until("return vim.wo.diff", "two windows")
        await editor.screen.sees("H⟨U+202E⟩ello")
        editor.screen.type("g.")
        await editor.screen.sees("allow_always")
        editor.screen.type("2")
        editor.screen.press("Enter")
        answer = await editor.until("return _G.answer", "the answer")
        assert answer == {"optionId": "allow_always"}
        assert not await editor.lua("return vim.wo.diff")
        assert await editor.lua("return #vim.api.nvim_list_wins()") == 1


FIRST = MANY.replace("line_1 = 1\n", "first = 1\n")
TOLD = "_G.told = {} vim.notify = function(words) table.insert(_G.told, words) end"


@asynccontextmanager
async def proposed(program: Path, tmux: Path, folder: Path, more: str = "") -> AsyncGenerator[Neovim]:
    """Neovim where two changes of the file at hand are proposed."""
    async with saying("") as fake:
        user = user_of(folder, fake)
        (user.project / NAME).write_text(MANY)
        async with neovim(program, tmux, user, NAME, more) as editor:
            await editor.ready()
            await editor.lua(ASK, question(change(user.project / NAME, FEW)))
            await shown(editor, "very_last = 9")
            yield editor


async def chosen(editor: Neovim) -> list[str]:
    """The texts that the user wants some of."""
    answer = await editor.until("return _G.answer", "the answer")
    assert answer["optionId"] == "allow_once"
    return [one["newText"] for one in answer["changes"]]


@pytest.mark.prop("lsp-4")
@pytest.mark.parametrize("side", ["old", "new"])
async def test_in_either_of_two_windows_each_place_is_decided(
    side: str, neovim_program: Path, tmux: Path, tmp_path: Path
) -> None:
    async with proposed(neovim_program, tmux, tmp_path) as editor:
        await editor.keys("g=")
        await editor.until("return vim.wo.diff", "two windows")
        if side == "new":
            await editor.command("wincmd l")
        here = await editor.lua("return vim.api.nvim_get_current_win()")
        await editor.keys("10Ggx" if side == "old" else "11Ggx")
        await editor.until_value("return 1", lambda _: editor.screen.screen().count("✗ rejected") == 2, "the verdict")
        assert await editor.lua("return { vim.api.nvim_get_current_win(), vim.fn.line('.') }") == [here, 2]
        await editor.keys("ga")
        assert await chosen(editor) == [FIRST]
        assert await editor.lua("return { #vim.api.nvim_list_wins(), vim.wo.diff }") == [1, False]


@pytest.mark.prop("lsp-4")
@pytest.mark.parametrize(("keys", "text"), [("gxgA", SOME), ("gagX", FIRST)])
async def test_what_is_decided_stays_so_when_all_else_is(
    keys: str, text: str, neovim_program: Path, tmux: Path, tmp_path: Path
) -> None:
    async with proposed(neovim_program, tmux, tmp_path) as editor:
        await editor.keys(keys)
        assert await chosen(editor) == [text]


async def test_away_from_a_change_nothing_is_decided(neovim_program: Path, tmux: Path, tmp_path: Path) -> None:
    async with proposed(neovim_program, tmux, tmp_path, TOLD) as editor:
        await editor.keys("6Ggx")
        assert await editor.lua("return _G.told[#_G.told]") == "ollm: there is no change at the cursor."
        await editor.keys("9Ggx")
        await editor.screen.sees("✗ rejected")
        assert await editor.lua("return vim.fn.line('.')") == 2, "at the other place, which is open"


async def test_one_key_goes_to_the_next_place_and_one_back(neovim_program: Path, tmux: Path, tmp_path: Path) -> None:
    async with proposed(neovim_program, tmux, tmp_path) as editor:
        lines: list[int] = []
        for keys in ("]h", "]h", "[h", "6G[h", "6G]h"):
            await editor.keys(keys)
            lines.append(await editor.lua("return vim.fn.line('.')"))
        assert lines == [10, 2, 10, 2, 10]
        listed = await editor.lua("return vim.fn.getqflist()")
        assert [item["lnum"] for item in listed] == [2, 10]


async def test_a_proposal_moves_with_the_text_and_tells_that_it_has_changed(
    neovim_program: Path, tmux: Path, tmp_path: Path
) -> None:
    async with proposed(neovim_program, tmux, tmp_path) as editor:
        await editor.keys("ggOtyped = 1<Esc>")
        await editor.keys("3Ggx")
        await editor.screen.sees("line_1 = 1  ✗ rejected  the file has changed meanwhile")
        await editor.screen.sees("line_9 = 9  2/2  the file has changed meanwhile")
        assert await editor.lua("return vim.fn.line('.')") == 11
        await editor.keys("ga")
        answer = await editor.until("return _G.answer", "the answer")
        assert (answer["optionId"], "changed meanwhile" in answer["feedback"]) == ("reject_once", True)


ELSEWHERE = "return { vim.fn.expand('%'), vim.fn.line('.'), #vim.api.nvim_list_wins() }"


async def test_who_works_on_something_else_is_told_of_a_question_and_finds_everything_as_it_was(
    neovim_program: Path, tmux: Path, tmp_path: Path
) -> None:
    asked = """
        local function keep(args) _G.data = args.data end
        vim.api.nvim_create_autocmd("User", { pattern = "OllmAsked", callback = keep })"""
    async with saying("") as fake, neovim(neovim_program, tmux, user_of(tmp_path, fake), NAME, asked) as editor:
        await editor.ready()
        other = tmp_path / "project" / "other.py"
        other.write_text(MANY)
        await editor.command("edit +7 other.py")
        await editor.lua(ASK, question(change(tmp_path / "project" / NAME, POLITE)))
        await editor.screen.sees("Edit it? :Ollm review shows it.")
        assert await editor.lua(ELSEWHERE) == ["other.py", 7, 1]
        assert await editor.lua("return _G.data") == {"title": "Edit it", "kind": "edit"}
        assert (await editor.lua("return require('ollm').status()")).endswith("a question waits")
        await editor.command("Ollm review")
        await editor.screen.sees("Good morning")
        assert await editor.lua("return vim.fn.expand('%')") == NAME
        await editor.keys("gX")
        assert await editor.until("return _G.answer", "the answer") == {"optionId": "reject_once"}
        assert await editor.lua(ELSEWHERE) == ["other.py", 7, 1]
        assert "question" not in await editor.lua("return require('ollm').status()")


async def test_a_chat_that_floats_gives_way_to_a_change_and_comes_back(
    neovim_program: Path, tmux: Path, tmp_path: Path
) -> None:
    floating = 'require("ollm").setup({ chat = { layout = "float" } })'
    async with polite_model() as fake, neovim(neovim_program, tmux, user_of(tmp_path, fake), NAME, floating) as editor:
        await editor.ready()
        await editor.command(f"Ollm chat {QUESTION}")
        await shown(editor, "Good morning")
        assert "## You" not in editor.screen.screen()
        await editor.keys("gA")
        await is_text(editor, POLITE)
        await editor.screen.sees("## You")
        assert await editor.lua("return vim.api.nvim_win_get_config(0).relative") == "editor"


@pytest.mark.parametrize("off", ["''", "false"])
async def test_a_question_is_answered_where_keys_are_switched_off_and_leaves_no_buffer(
    off: str, neovim_program: Path, tmux: Path, tmp_path: Path
) -> None:
    keys = f'require("ollm").setup({{ review_keys = {{ close = {off}, more = {off} }} }})'
    async with saying("") as fake, neovim(neovim_program, tmux, user_of(tmp_path, fake), NAME, keys) as editor:
        await editor.ready()
        before = await editor.lua("return #vim.api.nvim_list_bufs()")
        await editor.lua(ASK, question())
        await editor.asked()
        await editor.command("Ollm review")
        await editor.screen.sees("gF say why not")
        assert "later" not in editor.screen.screen()
        await editor.keys("gA")
        assert await editor.until("return _G.answer", "the answer") == {"optionId": "allow_once"}
        assert await editor.lua("return #vim.api.nvim_list_bufs()") == before


async def test_a_question_that_cannot_be_shown_is_rejected(neovim_program: Path, tmux: Path, tmp_path: Path) -> None:
    broken = f'{TOLD} require("ollm").setup({{ review_keys = {{ more = {{}} }} }})'
    async with saying("") as fake, neovim(neovim_program, tmux, user_of(tmp_path, fake), NAME, broken) as editor:
        await editor.ready()
        await editor.lua(ASK, question(change(tmp_path / "project" / NAME, POLITE)))
        answer = await editor.until("return _G.answer", "the answer")
        assert answer == {"optionId": "reject_once", "feedback": "The editor could not show it to the user."}
        assert "it cannot be shown" in str(await editor.lua("return _G.told"))
        assert await editor.lua("return vim.fn.maparg('gA', 'n')") == ""


async def test_a_report_is_no_file_that_must_be_saved(neovim_program: Path, tmux: Path, tmp_path: Path) -> None:
    async with saying("") as fake, neovim(neovim_program, tmux, user_of(tmp_path, fake), NAME) as editor:
        await editor.ready()
        show = "require('ollm.report').show(..., 'doctor') return vim.fn.bufname()"
        assert await editor.lua(show, "One.") == "ollm://doctor"
        await editor.command("bdelete")
        await editor.lua(show, "Two.")
        await editor.lua(show, "Three.")
        assert await editor.text() == "Three.\n"
        assert await editor.lua("return { #vim.api.nvim_list_wins(), vim.bo.modified }") == [2, False]
        await editor.keys("q")
        await editor.lua("vim.schedule(function() vim.cmd('qall') end)")
        await editor.screen.ends()


async def test_a_change_that_is_on_its_way_is_stopped(neovim_program: Path, tmux: Path, tmp_path: Path) -> None:
    pace = asyncio.Semaphore(1)
    async with saying(CODE, pace) as fake, neovim(neovim_program, tmux, user_of(tmp_path, fake), NAME) as editor:
        await editor.ready()
        await editor.command("1,3Ollm edit Be polite.")
        await editor.screen.sees("ollm: Edit")
        await until(lambda: len(fake.bodies()) == 1, "the question", editor.screen.screen)
        await editor.command("Ollm stop")
        await gone(fake)
        await editor.until_value("return 1", lambda _: "ollm: Edit" not in editor.screen.screen(), "its end")
        assert await editor.text(1) == TEXT
