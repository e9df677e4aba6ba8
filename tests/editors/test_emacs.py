"""A real Emacs with eglot, the real server, and what becomes of the user's files."""

from __future__ import annotations

import asyncio
from contextlib import asynccontextmanager
from typing import TYPE_CHECKING

import pytest

from tests.editors.emacs import emacs
from tests.editors.linter import COMPLAINT, WORD
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

if TYPE_CHECKING:
    from collections.abc import AsyncGenerator
    from pathlib import Path

    from tests.editors.emacs import Emacs
    from tests.editors.user import User

CHECKER = f"""
(defun polite-flymake (report &rest _)
  (save-excursion
    (goto-char (point-min))
    (funcall report (when (search-forward "{WORD}" nil t)
                      (list (flymake-make-diagnostic (current-buffer) (match-beginning 0) (point)
                                                     :warning "{COMPLAINT}"))))))
(add-hook 'eglot-managed-mode-hook
          (lambda ()
            (add-hook 'flymake-diagnostic-functions #'polite-flymake nil t)
            (flymake-start)))
"""
"""A checker beside the language server."""


@asynccontextmanager
async def opened(
    program: Path, tmux: Path, user: User, text: str = TEXT, more: str = ""
) -> AsyncGenerator[tuple[Emacs, Path]]:
    """Emacs with the file."""
    file = user.project / NAME
    file.write_text(text, encoding="utf-8")
    with emacs(program, tmux, user, NAME, more) as editor:
        await editor.ready()
        yield editor, file


@asynccontextmanager
async def chatting(program: Path, tmux: Path, user: User, question: str) -> AsyncGenerator[tuple[Emacs, Path, str]]:
    """Emacs with the file and a chat about it, whose question was sent; and the address of the chat."""
    async with opened(program, tmux, user) as (editor, file):
        editor.key("n")
        uri = (await editor.wire.says("server", "window/showDocument"))["uri"]
        await editor.wire.says("editor", "textDocument/didOpen", lambda params: params["textDocument"]["uri"] == uri)
        await editor.screen.sees(f"#file:{NAME}")
        await until(lambda: editor.screen.cursor()[1] > 12, "the cursor in the chat", editor.screen.screen)
        editor.screen.type(question)
        await editor.screen.sees(question)
        editor.key("s")
        yield editor, file, uri


async def proposed(editor: Emacs, title: str) -> None:
    """Until the proposal is marked in the document."""
    await editor.screen.sees(f"ollm proposes: {title}")
    await editor.wire.says("server", "textDocument/publishDiagnostics", lambda params: bool(params["diagnostics"]))


@pytest.mark.prop("lsp-2")
@pytest.mark.parametrize("way", ["menu", "key"])
async def test_what_was_typed_and_not_saved_is_explained_in_a_chat_that_can_go_on(
    way: str, emacs_program: Path, tmux: Path, tmp_path: Path
) -> None:
    async with saying("It greets.") as fake, opened(emacs_program, tmux, user_of(tmp_path, fake)) as (editor, file):
        editor.screen.type("typed_ß = 1")
        editor.screen.press("Enter")
        if way == "menu":
            await editor.choose_action("ollm: Explain")
        else:
            editor.key("e")
        uri = (await editor.wire.says("server", "window/showDocument"))["uri"]
        await editor.screen.sees("It greets.")
        (asked,) = fake.bodies()
        assert "Explain what the selected python code does." in str(asked["messages"])
        assert "typed_ß = 1" in str(asked["messages"])
        assert file.read_text(encoding="utf-8") == TEXT
        await editor.wire.says("editor", "textDocument/didOpen", lambda params: params["textDocument"]["uri"] == uri)
        editor.screen.press("C-x", "o", "M->")
        editor.screen.type("Really?")
        editor.key("s")
        await until(lambda: len(fake.bodies()) > 1, "the next question", editor.screen.screen)
        assert [one["role"] for one in fake.bodies()[1]["messages"]] == ["system", "user", "assistant", "user"]
        assert len(editor.wire.messages("editor", "initialize")) == 1, "the chat has the project's server"


@pytest.mark.prop("lsp-4")
@pytest.mark.parametrize("decision", ["Accept", "Reject"])
async def test_what_a_checker_found_is_fixed_once_the_change_is_accepted(
    decision: str, emacs_program: Path, tmux: Path, tmp_path: Path
) -> None:
    async with saying(CODE) as fake:
        user = user_of(tmp_path, fake)
        async with opened(emacs_program, tmux, user, more=CHECKER) as (editor, file):
            await editor.screen.sees("Flymake[0 1]")
            editor.screen.press("C-n", "C-n")
            editor.key("f")
            await proposed(editor, f"Fix: {NAME}.")
            assert f"{COMPLAINT} (in the line" in str(fake.bodies()[0]["messages"])
            assert editor.wire.text(file.as_uri()) == TEXT
            await editor.choose_action(f"{decision}: Fix: {NAME}")
            result = (await editor.wire.ran("ollm.fix"))["result"]
            assert result["applied"] is (decision == "Accept")
            if decision == "Reject":
                assert not editor.wire.messages("server", "workspace/applyEdit")
                assert editor.wire.text(file.as_uri()) == TEXT
            else:
                await until(lambda: editor.wire.text(file.as_uri()) == POLITE, "the change", editor.screen.screen)
                assert file.read_text(encoding="utf-8") == TEXT
                await editor.save()
                assert file.read_bytes() == POLITE.encode()
                editor.screen.press("C-_")
                await until(lambda: editor.wire.text(file.as_uri()) == TEXT, "the undo", editor.screen.screen)


@pytest.mark.parametrize("way", ["menu", "key"])
async def test_an_instruction_is_asked_for(way: str, emacs_program: Path, tmux: Path, tmp_path: Path) -> None:
    text = f"x = 1\n\n\n{TEXT}"
    async with saying(CODE) as fake, opened(emacs_program, tmux, user_of(tmp_path, fake), text) as (editor, file):
        editor.screen.press("C-n", "C-n", "C-n", "C-n")
        if way == "menu":
            await editor.choose_action("ollm: Edit with an instruction")
            await editor.answer("Instruction:", 'Be "polite", please.')
        else:
            editor.key("i")
            await editor.answer("Change:", 'Be "polite", please.')
        await proposed(editor, f"Edit with an instruction: {NAME}.")
        told = fake.bodies()[0]["messages"][-1]["content"]
        assert 'Be "polite", please.' in told
        assert f"```python\n{TEXT}```" in told, "the definition around the cursor"
        await editor.choose_action(f"Accept: Edit with an instruction: {NAME}")
        await until(
            lambda: editor.wire.text(file.as_uri()) == f"x = 1\n\n\n{POLITE}", "the change", editor.screen.screen
        )
        editor.key("o")
        await editor.answer("Ask:", "Is it polite now?")
        await editor.screen.sees("## Assistant")
        assert "Is it polite now?" in fake.bodies()[1]["messages"][-1]["content"]


async def test_a_comment_for_the_model_is_done_and_goes(emacs_program: Path, tmux: Path, tmp_path: Path) -> None:
    text = f"# be polite AI!\n{TEXT}"
    async with saying(CODE) as fake, opened(emacs_program, tmux, user_of(tmp_path, fake), text) as (editor, file):
        await editor.choose_action("ollm: Do: be polite")
        await proposed(editor, f"Edit with an instruction: {NAME}.")
        await editor.choose_action(f"Accept: Edit with an instruction: {NAME}")
        await until(lambda: editor.wire.text(file.as_uri()) == POLITE, "the change", editor.screen.screen)
        await editor.save()
        assert file.read_bytes() == POLITE.encode()


@pytest.mark.prop("lsp-1")
async def test_an_answer_grows_in_the_chat_while_its_user_types_in_it(
    emacs_program: Path, tmux: Path, tmp_path: Path
) -> None:
    pace = asyncio.Semaphore(3)
    async with (
        saying(LONG, pace) as fake,
        chatting(emacs_program, tmux, user_of(tmp_path, fake), QUESTION) as (editor, _, uri),
    ):
        await until(lambda: "word2" in editor.wire.text(uri), "the beginning", editor.screen.screen)
        editor.screen.press("M-<", "C-s")
        editor.screen.type(QUESTION)
        editor.screen.press("Enter", "C-e")
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
async def test_an_edit_in_a_chat_is_accepted_saved_and_taken_back(
    emacs_program: Path, tmux: Path, tmp_path: Path
) -> None:
    async with (
        polite_model() as fake,
        chatting(emacs_program, tmux, user_of(tmp_path, fake), QUESTION) as (editor, file, uri),
    ):
        await proposed(editor, f"Edit {NAME}.")
        await editor.choose_action(f"Accept: Edit {NAME}")
        assert (await answered(editor, uri))[1] == ("Assistant", "That is all.")
        await until(lambda: editor.wire.text(file.as_uri()) == POLITE, "the change", editor.screen.screen)
        assert file.read_text(encoding="utf-8") == TEXT
        editor.screen.press("C-x", "o")
        await editor.save()
        assert file.read_text(encoding="utf-8") == POLITE
        await editor.command("ollm.proposal.revert")
        await until(lambda: editor.wire.text(file.as_uri()) == TEXT, "the old text", editor.screen.screen)
        await editor.save()
        assert file.read_bytes() == TEXT.encode()


@pytest.mark.parametrize("way", ["key", "action"])
async def test_an_answer_is_stopped_in_the_middle(way: str, emacs_program: Path, tmux: Path, tmp_path: Path) -> None:
    pace = asyncio.Semaphore(2)
    async with (
        saying(LONG, pace) as fake,
        chatting(emacs_program, tmux, user_of(tmp_path, fake), QUESTION) as (editor, _, uri),
    ):
        await until(lambda: "word1" in editor.wire.text(uri), "the beginning", editor.screen.screen)
        if way == "key":
            editor.key("k")
        else:
            editor.screen.press("M->")
            await editor.choose_action("Stop")
        assert (await answered(editor, uri))[1] == ("Assistant", "word0 word1")
        assert "word0 word1\n\n> [!ollm] stopped\n\n## You" in editor.wire.text(uri)
        await gone(fake)


@pytest.mark.prop("lsp-3")
async def test_the_real_model_explains_and_chats(
    emacs_program: Path, tmux: Path, tmp_path: Path, real_model_path: Path
) -> None:
    user = user_of_file(tmp_path, real_model_path)
    async with chatting(emacs_program, tmux, user, "What does this function do?") as (editor, _, uri):
        said = await answered(editor, uri)
        assert len(said[1][1].split()) > 3
        editor.screen.press("C-x", "C-s", "C-x", "o")
        editor.key("e")
        answer = (await editor.wire.ran("ollm.explain"))["result"]
        assert answer["finishReason"] in {"stop", "length"}
        assert len(answer["text"].split()) > 3
        kinds = [params["value"]["kind"] for params in editor.wire.params("server", "$/progress")]
        assert (kinds[0], kinds[-1]) == ("begin", "end")
        await editor.quit()
        await editor.wire.server_ends()
