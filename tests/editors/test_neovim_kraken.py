"""Releases in a real Neovim: picked, consented to, streamed; and what is sent as the user wants it."""

from __future__ import annotations

from contextlib import asynccontextmanager
from typing import TYPE_CHECKING

import pytest

from tests.editors.neovim import neovim
from tests.editors.scene import NAME, POLITE, TEXT, saying, user_of
from tests.editors.test_neovim import CHOOSE
from tests.editors.test_neovim_changes import ASK, is_text, question, shown
from tests.lsp.test_homecoming import saying as agent_saying
from tests.support.agents import MODELS, RecordedStage, Scene

if TYPE_CHECKING:
    from collections.abc import AsyncGenerator
    from pathlib import Path

    from tests.editors.neovim import Neovim
    from tests.editors.user import User

BRIEFING = "# Task\n\nLook around."


def hires(user: User, stage: RecordedStage, model: str) -> str:
    """Put an agent on the user's path; what is written about it into the settings."""
    (user.folder / "bin" / stage.tool).symlink_to(stage.programs / stage.tool)
    return f"{stage.tool}: {{ tool: {stage.tool}, defaultModel: {model} }}"


def external(user: User, *agents: str) -> None:
    with (user.folder / "config.yaml").open("a") as settings:
        settings.write(f"kraken: {{ enabled: true, cliProviders: {{ {', '.join(agents)} }} }}")


@asynccontextmanager
async def released(program: Path, tmux: Path, folder: Path) -> AsyncGenerator[tuple[Neovim, RecordedStage]]:
    """Neovim that asks for consent to a release to an agent of the command line, which plays a recording."""
    (folder / "stage").mkdir(parents=True)
    stage = RecordedStage("claude", folder / "stage")
    stage.prepare(Scene.ANSWER)
    async with saying("I am the local model.") as fake:
        user = user_of(folder / "user", fake)
        external(user, hires(user, stage, "sonnet"))
        async with neovim(program, tmux, user, NAME) as editor:
            await editor.ready()
            await editor.command("Ollm chat Hello?")
            await editor.answered()
            await editor.command("Ollm kraken Look around.")
            await editor.asked()
            await editor.screen.sees("Release the Kraken: claude (sonnet)")
            yield editor, stage


@pytest.mark.prop("lsp-6")
@pytest.mark.prop("krk-46")
async def test_a_release_is_consented_to_streamed_and_goes_on_locally(
    neovim_program: Path, tmux: Path, tmp_path: Path
) -> None:
    async with released(neovim_program, tmux, tmp_path) as (editor, stage):
        await editor.screen.sees("at most ")
        await editor.screen.sees("covered by your plan")
        assert stage.received == "", "nothing is sent before the yes"
        await editor.keys("gA")
        text = await editor.answered()
        answer = text.rpartition("## Assistant")[2]
        assert answer.lstrip().startswith("**claude** · sonnet\n\n")
        assert "covered by your plan" in answer, "the foot line"
        assert "Look around." in stage.received
        assert "I am the local model." in stage.received, "what was said before"
        await editor.command("Ollm chat And now?")
        assert "I am the local model." in (await editor.answered()).rpartition("And now?")[2]
        await editor.command("Ollm kraken history")
        await editor.screen.sees("claude (sonnet)")
        await editor.command("Ollm kraken status")
        await editor.screen.sees("**claude** (sonnet): ready")


@pytest.mark.parametrize("keys", ["gX", "q:"])
async def test_without_a_yes_nothing_is_sent(keys: str, neovim_program: Path, tmux: Path, tmp_path: Path) -> None:
    async with released(neovim_program, tmux, tmp_path) as (editor, stage):
        if keys == "gX":
            await editor.keys("gX")
        else:
            await editor.keys("q")
            await editor.command("Ollm review")
            await editor.screen.sees("Release the Kraken: claude (sonnet)")
            await editor.command("Ollm reject")
        text = await editor.answered()
        assert "> [!ollm] error: " in text.rpartition("## Assistant")[2]
        assert stage.received == ""


async def test_a_release_is_asked_again_as_a_release_from_the_same_place(
    neovim_program: Path, tmux: Path, tmp_path: Path
) -> None:
    async with released(neovim_program, tmux, tmp_path) as (editor, _):
        await editor.keys("gX")
        await editor.answered()
        await editor.keys("<Esc>Gidraft<Esc>gg/Look<CR>A Again.<Esc>gR")
        await editor.asked()
        await editor.keys("gX")
        assert (await editor.answered()).endswith("## You\n\ndraft")
        first, second = editor.wire.params("editor", "ollm/kraken/release")
        assert (first["text"], second["text"]) == ("Look around.", "Look around. Again.")
        assert first["parentId"]
        assert second["parentId"] == first["parentId"]


async def test_the_briefing_is_sent_as_the_user_changed_it(neovim_program: Path, tmux: Path, tmp_path: Path) -> None:
    async with saying("") as fake, neovim(neovim_program, tmux, user_of(tmp_path, fake), NAME) as editor:
        await editor.ready()
        cost = {"amount": 0.25, "currency": "USD", "known": True}
        await editor.lua(ASK, question(briefing=BRIEFING, estimate={"tokens": 120, "cost": cost}))
        await editor.asked()
        await editor.screen.sees("Edit it? :Ollm review shows it.")
        await editor.command("Ollm review")
        await editor.screen.sees("Edit it · at most 120 tokens, $0.25")
        await editor.keys("gE")
        assert await editor.text() == f"{BRIEFING}\n"
        await editor.keys("Gcc But not at secrets.<Esc>")
        await editor.command("write")
        await editor.screen.sees("You have changed the briefing.")
        assert "But not at secrets." in editor.screen.screen()
        await editor.keys("gE")
        assert "But not at secrets." in await editor.text()
        await editor.keys("ccForget this.<Esc>")
        await editor.command("quit!")
        await editor.screen.sees("You have changed the briefing.")
        await editor.keys("gA")
        answer = await editor.until("return _G.answer", "the answer")
        assert answer == {"optionId": "allow_once", "briefing": "# Task\n\n But not at secrets."}


EDITS = """
{name}
<<<<<<< SEARCH
def greet(name):
=======
def greet(name: str) -> str:
>>>>>>> REPLACE
{name}
<<<<<<< SEARCH
    return f"Hello, {{name}}!"
=======
    return f"Good morning, {{name}}!"
>>>>>>> REPLACE
"""
TYPED = POLITE.replace("greet(name)", "greet(name: str) -> str")


@pytest.mark.prop("lsp-4")
@pytest.mark.prop("krk-22")
async def test_one_of_several_providers_is_picked_and_its_changes_of_files_are_each_undone_at_once(
    neovim_program: Path, tmux: Path, tmp_path: Path
) -> None:
    stages = [RecordedStage(tool, tmp_path / tool) for tool in ("claude", "codex")]
    stages[0].prepare(Scene.ANSWER)
    stages[1].play(agent_saying("".join(EDITS.format(name=name) for name in (NAME, "other.py"))))
    async with saying("") as fake:
        user = user_of(tmp_path / "user", fake)
        external(user, *(hires(user, stage, MODELS[stage.tool]) for stage in stages))
        (user.project / "other.py").write_text(TEXT, encoding="utf-8")
        async with neovim(neovim_program, tmux, user, NAME, f"{CHOOSE}\n_G.wanted = 'codex'") as editor:
            await editor.ready()
            await editor.command("Ollm kraken Be polite.")
            await editor.asked()
            assert [one.partition(" ")[0] for one in await editor.lua("return _G.offered")] == ["claude", "codex"]
            await editor.screen.sees("Release the Kraken: codex")
            await editor.keys("gA")
            await shown(editor, "Good morning")
            listed = await editor.lua("return vim.fn.getqflist({ items = 0, title = 0 })")
            assert listed["title"].startswith(f"ollm: codex: {NAME}, other.py")
            assert [item["lnum"] for item in listed["items"]] == [1, 3, 1, 3]
            await editor.keys("gA")
            await is_text(editor, TYPED)
            other = await editor.lua("return vim.fn.bufnr('other.py')")
            await is_text(editor, TYPED, other)
            assert "*Changed: greeting.py, other.py.*" in await editor.answered()
            assert stages[0].received == "", "only who was picked is asked"
            for buf in (1, other):
                await editor.lua("vim.api.nvim_buf_call(..., function() vim.cmd.normal({ 'u', bang = true }) end)", buf)
                await is_text(editor, TEXT, buf)
