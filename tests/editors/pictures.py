"""Draw the screenshots of the documentation: `python -m tests.editors.pictures [EDITOR…]`, or `make screenshots`."""

from __future__ import annotations

import asyncio
import shutil
import sys
from pathlib import Path
from tempfile import gettempdir
from typing import TYPE_CHECKING, Any

from tests.editors import programs
from tests.editors.debian import Unavailable
from tests.editors.emacs import emacs
from tests.editors.helix import helix
from tests.editors.linter import COMPLAINT
from tests.editors.neovim import neovim
from tests.editors.patience import until
from tests.editors.picture import draw
from tests.editors.scene import CODE, NAME, answered, user_of
from tests.editors.terminal import ROWS
from tests.support.agents import RecordedStage, Scene
from tests.support.fake_ollama import Call, FakeOllama, Model, Think, words
from tests.support.pages import DOCS

if TYPE_CHECKING:
    from collections.abc import Sequence

    from tests.support.fake_ollama import Step

IMAGES = DOCS / "images"
ASKED = "What would you test here?"
EXPLAINED = """\
`greet` makes a greeting.

1. It takes a name.
2. It puts the name into a sentence, by an f-string.
3. It returns the sentence; nothing is printed."""
CASES = """\
Three cases are worth a test:

- a usual name, such as `"Ada"`;
- an empty name: should it greet nobody?
- a name with letters beyond ASCII, such as `"Zoë"`.
"""
TESTED = f"""\
{CASES}
Nothing here depends on the time of day: `greet` says *Good morning* as it did yesterday."""


def _reply(request: dict[str, Any]) -> Sequence[Step]:
    """What a good model might say."""
    asked = str(request["messages"][-1]["content"])
    if ASKED in asked:
        return words(TESTED)
    return words(EXPLAINED if "Explain" in asked else CODE)


def _looking(request: dict[str, Any]) -> Sequence[Step]:
    """The same by a model that thinks and looks first."""
    asked = str(request["messages"][-1]["content"])
    if request["messages"][-1]["role"] == "tool":
        return words(TESTED)
    if ASKED in asked:
        return [Think("What can go wrong here?\nI had better read it."), Call("read_file", {"path": NAME})]
    return _reply(request)


def _path(name: str) -> Path:
    found = programs.find(name)
    if isinstance(found, Unavailable):
        sys.exit(f"{programs.title(name)}: {found}")
    return found.path


async def _helix(folder: Path) -> None:
    async with FakeOllama(answer=_reply) as fake:
        user = user_of(folder, fake)
        user.install("pylsp", "tests.editors.linter")
        with helix(_path("helix"), _path("tmux"), user, NAME) as editor:
            await editor.ready()
            await editor.screen.sees(COMPLAINT)
            editor.screen.type("]d")
            await editor.choose_action(f"ollm: Fix: {COMPLAINT}")
            await editor.screen.sees("Always reject")
            draw(editor.screen, IMAGES / "helix-permission.svg")
            editor.screen.press("Down", "Enter")
            await editor.screen.sees("Good morning")
            editor.screen.press("Space", "o", "e")
            uri = (await editor.wire.says("server", "window/showDocument"))["uri"]
            await editor.screen.sees("## Assistant")
            draw(editor.screen, IMAGES / "helix-explain.svg")
            await editor.command("buffer-close")
            editor.screen.press("Space", "o", "c")
            uri = (await editor.wire.says("server", "window/showDocument", lambda one: one["uri"] != uri))["uri"]
            await editor.screen.sees(f"#file:{NAME}")
            async with editor.inserting():
                editor.screen.type(ASKED)
            await editor.screen.sees(ASKED)
            await editor.choose_action("Send")
            await answered(editor, uri)
            draw(editor.screen, IMAGES / "helix-chat.svg")


async def _emacs(folder: Path) -> None:
    async with FakeOllama(answer=_reply) as fake:
        with emacs(_path("emacs"), _path("tmux"), user_of(folder, fake), NAME) as editor:
            await editor.ready()
            editor.key("i")
            await editor.answer("Change:", "Be polite.")
            await editor.screen.sees("ollm proposes")
            editor.screen.press("C-n", "C-n")
            editor.key("a")
            await editor.screen.sees("Pick an action")
            editor.screen.press("Tab", "Tab")
            await editor.screen.sees("Reject: Edit")
            draw(editor.screen, IMAGES / "emacs-proposal.svg")
            editor.screen.press("C-a", "C-k")
            editor.screen.type("Accept: Edit with an instruction: greeting.py")
            editor.screen.press("Enter")
            await editor.screen.sees("Good morning")
            editor.key("e")
            uri = (await editor.wire.says("server", "window/showDocument"))["uri"]
            await editor.screen.sees("## Assistant")
            editor.screen.press("C-M-v")
            await editor.screen.sees("nothing is printed")
            draw(editor.screen, IMAGES / "emacs-explain.svg")
            editor.key("n")
            uri = (await editor.wire.says("server", "window/showDocument", lambda one: one["uri"] != uri))["uri"]
            await editor.screen.sees(f"#file:{NAME}")
            await until(lambda: editor.screen.cursor()[1] > ROWS // 2, "the chat", editor.screen.screen)
            editor.screen.type(ASKED)
            await editor.screen.sees(ASKED)
            editor.screen.press("C-x", "1")
            editor.key("s")
            await answered(editor, uri)
            await editor.screen.sees("yesterday")
            draw(editor.screen, IMAGES / "emacs-chat.svg")


async def _neovim(folder: Path) -> None:
    stage = RecordedStage("claude", folder / "stage")
    stage.prepare(Scene.ANSWER)
    model = Model("qwen3:8b", capabilities=("completion", "tools", "thinking"), context_length=32_768)
    async with FakeOllama([model], answer=_looking) as fake:
        user = user_of(folder / "user", fake)
        (user.folder / "bin" / "claude").symlink_to(stage.programs / "claude")
        with (user.folder / "config.yaml").open("a") as settings:
            settings.write(
                "kraken: { enabled: true, cliProviders: { claude: { tool: claude, defaultModel: sonnet } } }"
            )
        async with neovim(_path("neovim"), _path("tmux"), user, NAME, "vim.o.termguicolors = true") as editor:
            await editor.ready()
            await editor.command("Ollm edit Be polite.")
            await editor.asked()
            await editor.screen.sees("Good morning")
            draw(editor.screen, IMAGES / "neovim-diff.png", 14)
            await editor.keys("gA")
            await editor.until_value("return vim.fn.getline(3)", lambda line: "Good morning" in line, "the change")
            await editor.command(f"Ollm chat {ASKED}")
            await editor.answered()
            await editor.screen.sees("yesterday")
            # Neovim has told what was edited; that is past.
            await editor.command("echo")
            draw(editor.screen, IMAGES / "neovim-chat.png")
            await editor.command("Ollm kraken Is this the usual way to greet?")
            await editor.asked()
            await editor.screen.sees("covered by your plan")
            draw(editor.screen, IMAGES / "neovim-kraken.png")


def main() -> None:
    """Draw them all, or those of some editors; the folder has always the same name, because it is in the pictures."""
    IMAGES.mkdir(exist_ok=True)
    scenes = {"helix": _helix, "emacs": _emacs, "neovim": _neovim}
    for scene in (scenes[name] for name in sys.argv[1:] or scenes):
        folder = Path(gettempdir()) / "demo"
        folder.mkdir()
        try:
            asyncio.run(scene(folder))
        finally:
            shutil.rmtree(folder, ignore_errors=True)


if __name__ == "__main__":
    main()
