"""Lines become questions."""

from __future__ import annotations

import pytest

from ollm_lsp.terminal.interrupts import Interrupted
from ollm_lsp.terminal.line_reader import CTRL_C
from ollm_lsp.terminal.prompt import Prompt


class Lines:
    """A reader that has all lines already."""

    def __init__(self, *lines: str | None) -> None:
        self.lines = iter(lines)
        self.prompts: list[str] = []

    def read(self, prompt: str) -> str | None:
        self.prompts.append(prompt)
        return next(self.lines)

    def restore(self) -> None: ...


async def test_a_backslash_goes_on_in_the_next_line() -> None:
    lines = Lines("one\\", "two\\", "three")
    assert await Prompt(lines).question() == "one\ntwo\nthree"
    assert lines.prompts == ["› ", "… ", "… "]  # noqa: RUF001 (the prompt as it is)


async def test_empty_lines_are_no_questions() -> None:
    assert await Prompt(Lines("", "  ", "Why?")).question() == "Why?"


async def test_the_end_of_input_leaves() -> None:
    assert await Prompt(Lines(None)).question() is None


async def test_ctrl_c_clears_what_was_typed_and_leaves_when_that_is_nothing() -> None:
    prompt = Prompt(Lines("one\\", "tw" + CTRL_C, "half" + CTRL_C, "Why?", CTRL_C))
    assert await prompt.question() == "Why?"
    with pytest.raises(Interrupted):
        await prompt.question()


async def test_a_failing_reader_fails_the_question() -> None:
    class Broken(Lines):
        def read(self, prompt: str) -> str | None:
            raise OSError(f"no terminal for {prompt}")

    with pytest.raises(OSError, match="no terminal"):
        await Prompt(Broken()).question()
