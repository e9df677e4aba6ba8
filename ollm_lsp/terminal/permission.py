"""Permissions: the server's questions, put to the user at the terminal. Whatever is not a yes is a no."""

from __future__ import annotations

import asyncio
import sys
from typing import TYPE_CHECKING, Any

from ollm_lsp.core.permission import Option
from ollm_lsp.terminal.payload import Payload
from ollm_lsp.terminal.prompt import choose
from ollm_lsp.terminal.text_editor import edited

if TYPE_CHECKING:
    from ollm_lsp.terminal.file_editor import FileEditor
    from ollm_lsp.terminal.screen import Screen

KEYS = {
    "y": Option.ALLOW_ONCE,
    "s": Option.ALLOW_SESSION,
    "a": Option.ALLOW_ALWAYS,
    "n": Option.REJECT_ONCE,
    "d": Option.REJECT_ALWAYS,
}

EDIT = "e"


class Permissions:
    """Asks, and lets the editor know what was allowed."""

    def __init__(self, screen: Screen, files: FileEditor) -> None:
        self._screen = screen
        self._files = files

    async def ask(self, params: Any) -> dict[str, Any]:
        """Show all that will happen, and wait for a key. Words behind a no go to the model."""
        question = Payload(params)
        self._screen.note(f"\n{question.text('title')}\n\n{question.text('detail')}")
        if not sys.stdin.isatty():
            self._screen.warning("It was not allowed: there is nobody to ask.", "Run the chat at a terminal.")
            return {"optionId": Option.REJECT_ONCE.value}
        offered = {option.text("id"): option.text("label") for option in question.payloads("options")}
        keys = {key: option.value for key, option in KEYS.items() if option.value in offered}
        choices = ", ".join(f"{key} = {offered[option]}" for key, option in keys.items())
        briefing = question.text("briefing")
        changed: dict[str, Any] = {}
        if briefing:
            choices += f", {EDIT} = change what is sent"
        with self._screen.held():
            typed = (await choose(f"{choices}? [n] ")).strip()
            while briefing and typed.lower() == EDIT:
                if (text := await asyncio.to_thread(edited, briefing, "briefing.md")) is None:
                    typed = await choose(f"Your editor ($EDITOR) did not work. {choices}? [n] ")
                    continue
                briefing, changed = text, {"briefing": text}
                typed = await choose(f"{len(text.splitlines())} lines are to be sent. {choices}? [n] ")
        key, _, words = typed.strip().partition(" ")
        option = keys.get(key.lower(), Option.REJECT_ONCE.value)
        if option.startswith("allow"):
            self._files.remember(question.payloads("changes"))
            return {"optionId": option, **changed}
        return {"optionId": option, **({"feedback": words.strip()} if words.strip() else {})}
