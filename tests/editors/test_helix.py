"""A real Helix, the real server, and what becomes of the user's files."""

from __future__ import annotations

import asyncio
from contextlib import asynccontextmanager
from typing import TYPE_CHECKING, Any

import pytest

from ollm_lsp.core.foreign_json import list_in, object_in
from tests.editors.helix import helix
from tests.editors.linter import COMPLAINT
from tests.editors.patience import until
from tests.editors.scene import (
    CODE,
    LONG,
    NAME,
    POLITE,
    QUESTION,
    TEXT,
    answered,
    gone,
    polite_model,
    saying,
    user_of,
    user_of_file,
)
from tests.support.workspace_client import HELIX

if TYPE_CHECKING:
    from collections.abc import AsyncGenerator
    from pathlib import Path

    from tests.editors.helix import Helix
    from tests.editors.user import User


@asynccontextmanager
async def opened(program: Path, tmux: Path, user: User, text: str = TEXT) -> AsyncGenerator[tuple[Helix, Path]]:
    """Helix with the file."""
    file = user.project / NAME
    file.write_text(text, encoding="utf-8")
    with helix(program, tmux, user, NAME) as editor:
        await editor.ready()
        yield editor, file


@asynccontextmanager
async def chatting(program: Path, tmux: Path, user: User, question: str) -> AsyncGenerator[tuple[Helix, Path, str]]:
    """Helix with the file and a chat about it, whose question was sent; and the address of the chat."""
    async with opened(program, tmux, user) as (editor, file):
        editor.screen.press("Space", "o", "c")
        uri = (await editor.wire.says("server", "window/showDocument"))["uri"]
        await editor.screen.sees(f"#file:{NAME}")
        async with editor.inserting():
            editor.screen.type(question)
        await until(lambda: question in editor.wire.text(uri), "the question", editor.screen.screen)
        await editor.choose_action("Send")
        yield editor, file, uri


@pytest.mark.prop("lsp-2")
@pytest.mark.parametrize("way", ["menu", "key"])
async def test_what_was_typed_and_not_saved_is_explained_in_a_chat_that_can_go_on(
    way: str, helix_program: Path, tmux: Path, tmp_path: Path
) -> None:
    async with saying("It greets.") as fake, opened(helix_program, tmux, user_of(tmp_path, fake)) as (editor, file):
        async with editor.inserting():
            editor.screen.type("typed_ß = 1")
            editor.screen.press("Enter")
        await until(lambda: editor.wire.text(file.as_uri()) == f"typed_ß = 1\n{TEXT}", "the text", editor.screen.screen)
        if way == "menu":
            await editor.choose_action("ollm: Explain")
        else:
            editor.screen.press("Space", "o", "e")
        uri = (await editor.wire.says("server", "window/showDocument"))["uri"]
        await editor.screen.sees("It greets.")
        (asked,) = fake.bodies()
        assert "Explain what the selected python code does." in str(asked["messages"])
        assert "typed_ß = 1" in str(asked["messages"])
        assert file.read_text(encoding="utf-8") == TEXT
        editor.screen.type("ge")
        async with editor.inserting():
            editor.screen.type("Really?")
        await until(lambda: "Really?" in editor.wire.text(uri), "the question", editor.screen.screen)
        editor.screen.press("Space", "o", "s")
        await until(lambda: len(fake.bodies()) > 1, "the next question", editor.screen.screen)
        assert [one["role"] for one in fake.bodies()[1]["messages"]] == ["system", "user", "assistant", "user"]


@pytest.mark.prop("lsp-4")
async def test_a_diagnostic_is_fixed_once_the_change_is_allowed(
    helix_program: Path, tmux: Path, tmp_path: Path
) -> None:
    async with saying(CODE) as fake:
        user = user_of(tmp_path, fake)
        user.install("pylsp", "tests.editors.linter")
        async with opened(helix_program, tmux, user) as (editor, file):
            await editor.screen.sees(COMPLAINT)
            editor.screen.type("]d")
            await editor.choose_action(f"ollm: Fix: {COMPLAINT}")
            await editor.screen.sees('+    return f"Good morning, {name}!"')
            assert f"{COMPLAINT} (in the line" in str(fake.bodies()[0]["messages"])
            editor.screen.press("Down")
            editor.screen.press("Enter")
            await until(lambda: editor.wire.text(file.as_uri()) == POLITE, "the change", editor.screen.screen)
            assert file.read_text(encoding="utf-8") == TEXT
            await editor.screen.sees("Now it is polite.")
            await editor.save()
            assert file.read_text(encoding="utf-8") == POLITE
            editor.screen.type("u")
            await until(lambda: editor.wire.text(file.as_uri()) == TEXT, "the undo", editor.screen.screen)


@pytest.mark.prop("lsp-4")
@pytest.mark.parametrize("key", ["Enter", "Escape"])
async def test_a_stray_enter_and_an_escape_are_a_no(key: str, helix_program: Path, tmux: Path, tmp_path: Path) -> None:
    async with saying(CODE) as fake, opened(helix_program, tmux, user_of(tmp_path, fake)) as (editor, file):
        await editor.choose_action("ollm: Document")
        await editor.screen.sees("Always allow")
        editor.screen.press(key)
        result = (await editor.wire.answer("editor", "workspace/executeCommand"))["result"]
        assert result["applied"] is False
        assert not editor.wire.messages("server", "workspace/applyEdit")
        assert editor.wire.text(file.as_uri()) == TEXT


@pytest.mark.parametrize("key", ["i", "a"])
async def test_an_instruction_is_typed_at_the_prompt(key: str, helix_program: Path, tmux: Path, tmp_path: Path) -> None:
    async with (
        saying(CODE) as fake,
        opened(helix_program, tmux, user_of(tmp_path, fake), f"x = 1\n\n\n{TEXT}") as (
            editor,
            file,
        ),
    ):
        editor.screen.type("5gg")
        await editor.screen.sees("5:1")
        editor.screen.press("Space", "o", key)
        await editor.screen.sees('"text":"')
        editor.screen.type("Be 100 %% polite, please.")
        editor.screen.press("Enter")
        await editor.screen.sees("Allow once" if key == "i" else "Now it is polite.")
        told = fake.bodies()[0]["messages"][-1]["content"]
        assert "Be 100 % polite, please." in told
        if key == "i":
            assert f"```python\n{TEXT}```" in told, "the definition around the cursor"
            editor.screen.press("Down", "Enter")
            await until(
                lambda: editor.wire.text(file.as_uri()) == f"x = 1\n\n\n{POLITE}", "the change", editor.screen.screen
            )


def announced(told: Any, wanted: Any) -> bool:
    """Whether all that is wanted was told."""
    if isinstance(wanted, dict):
        return all(announced(object_in(told).get(key), value) for key, value in object_in(wanted).items())
    if isinstance(wanted, list):
        return set(list_in(wanted)) <= set(list_in(told))
    return told == wanted


async def test_it_announces_what_the_tests_without_it_take_for_helix(
    helix_program: Path, tmux: Path, tmp_path: Path
) -> None:
    async with saying(CODE) as fake, opened(helix_program, tmux, user_of(tmp_path, fake), TEXT) as (editor, _):
        told = await editor.wire.says("editor", "initialize")
        assert announced(told["capabilities"], HELIX)


async def test_a_comment_for_the_model_is_done_and_goes(helix_program: Path, tmux: Path, tmp_path: Path) -> None:
    text = f"# be polite AI!\n{TEXT}"
    async with saying(CODE) as fake, opened(helix_program, tmux, user_of(tmp_path, fake), text) as (editor, file):
        await editor.choose_action("ollm: Do: be polite")
        await editor.screen.sees("Allow once")
        editor.screen.press("Down", "Enter")
        await until(lambda: editor.wire.text(file.as_uri()) == POLITE, "the change", editor.screen.screen)
        await editor.save()
        assert file.read_bytes() == POLITE.encode()


@pytest.mark.prop("lsp-1")
async def test_an_answer_grows_in_the_chat_while_its_user_types_in_it(
    helix_program: Path, tmux: Path, tmp_path: Path
) -> None:
    pace = asyncio.Semaphore(3)
    async with (
        saying(LONG, pace) as fake,
        chatting(helix_program, tmux, user_of(tmp_path, fake), QUESTION) as (editor, _, uri),
    ):
        await until(lambda: "word2" in editor.wire.text(uri), "the beginning", editor.screen.screen)
        editor.screen.type(f"gg/{QUESTION}")
        editor.screen.press("Enter")
        async with editor.inserting("A"):
            for letter in "typed\nmeanwhile":
                pace.release()
                pace.release()
                editor.screen.press("Enter") if letter == "\n" else editor.screen.type(letter)
        for _ in LONG.split(" "):
            pace.release()
        said = await answered(editor, uri)
        assert said == [("You", f"#file:{NAME}\n\n{QUESTION}typed\nmeanwhile"), ("Assistant", LONG), ("You", "")]
        await editor.save()
        chat = next((tmp_path / "ollm" / "chats").glob("*.ollm.md"))
        assert chat.read_text() == editor.wire.text(uri)


@pytest.mark.prop("lsp-4")
async def test_an_edit_in_a_chat_is_allowed_saved_and_taken_back(
    helix_program: Path, tmux: Path, tmp_path: Path
) -> None:
    async with (
        polite_model() as fake,
        chatting(helix_program, tmux, user_of(tmp_path, fake), QUESTION) as (editor, file, uri),
    ):
        await editor.screen.sees('+    return f"Good morning, {name}!"')
        editor.screen.press("Down", "Enter")
        assert (await answered(editor, uri))[1] == ("Assistant", "That is all.")
        assert (await editor.wire.answer("server", "window/showMessageRequest"))["result"] == {"title": "Allow once"}
        assert editor.wire.text(file.as_uri()) == POLITE
        assert file.read_text(encoding="utf-8") == TEXT
        await editor.command("write-all")
        await until(lambda: file.read_text(encoding="utf-8") == POLITE, "the file", editor.screen.screen)
        editor.screen.press("Space", "o", "r")
        await until(lambda: editor.wire.text(file.as_uri()) == TEXT, "the old text", editor.screen.screen)
        await editor.command("write-all")
        await until(lambda: file.read_bytes() == TEXT.encode(), "the file", editor.screen.screen)
        await editor.quit()
        await editor.wire.server_ends()


@pytest.mark.parametrize("way", ["key", "action"])
async def test_an_answer_is_stopped_in_the_middle(way: str, helix_program: Path, tmux: Path, tmp_path: Path) -> None:
    pace = asyncio.Semaphore(2)
    async with (
        saying(LONG, pace) as fake,
        chatting(helix_program, tmux, user_of(tmp_path, fake), QUESTION) as (editor, _, uri),
    ):
        await until(lambda: "word1" in editor.wire.text(uri), "the beginning", editor.screen.screen)
        if way == "key":
            editor.screen.press("Space", "o", "x")
        else:
            editor.screen.type("ge")
            await editor.choose_action("Stop")
        assert (await answered(editor, uri))[1] == ("Assistant", "word0 word1")
        assert "word0 word1\n\n> [!ollm] stopped\n\n## You" in editor.wire.text(uri)
        await gone(fake)


@pytest.mark.prop("lsp-3")
async def test_the_real_model_explains_and_chats(
    helix_program: Path, tmux: Path, tmp_path: Path, real_model_path: Path
) -> None:
    user = user_of_file(tmp_path, real_model_path)
    async with chatting(helix_program, tmux, user, "What does this function do?") as (editor, _, uri):
        said = await answered(editor, uri)
        assert len(said[1][1].split()) > 3
        # Helix shows progress only to servers that ask it for a place.
        assert "error" not in await editor.wire.answer("server", "window/workDoneProgress/create")
        await editor.command("buffer-close!")
        await editor.screen.sees('return f"Hello, {name}!"')
        editor.screen.press("Space", "o", "e")
        answer = (await editor.wire.ran("ollm.explain"))["result"]
        assert answer["finishReason"] in {"stop", "length"}
        assert len(answer["text"].split()) > 3
        await editor.screen.sees("## Assistant")
        kinds = [params["value"]["kind"] for params in editor.wire.params("server", "$/progress")]
        assert (kinds[0], kinds[-1]) == ("begin", "end")
