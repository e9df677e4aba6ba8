"""Rewriting: a block of whole lines is shown to the model, and what it makes of it is brought into the same place.

The model sees the block without the indentation that all of its lines share. It answers with the whole block anew, or,
when that would be long, with pieces to search and to replace. Prose never becomes code: without fences or markers there
is no new block.
"""

from __future__ import annotations

import re
from enum import Enum
from typing import TYPE_CHECKING

from ollm_lsp.core.code_blocks import read
from ollm_lsp.core.edit_blocks import FORM, SEARCH, MalformedEdit, blocks_in
from ollm_lsp.core.indentation import common_indent, moved, tabbed
from ollm_lsp.core.line_diff import hunks
from ollm_lsp.core.lines import body, ending, split, usual_ending
from ollm_lsp.core.search_replace import NoMatch, replaced
from ollm_lsp.core.shown import fenced

if TYPE_CHECKING:
    from collections.abc import Sequence

    from ollm_lsp.core.code_blocks import Answer, CodeBlock

WHOLE_LINES = 80
"""Lines that a model still writes anew as a whole without losing some."""
_ELIDED = re.compile(
    r"\s*(?:#|//|--|;|%|/\*|<!--)\s*(?:\.\.\.|…|(?:the )?(?:rest of|existing|remaining|unchanged)\b.*"
    r"\b(?:code|function|method|class|file|here)\b)",
    re.IGNORECASE,
)
_OF_SHELLS = frozenset({"bash", "console", "diff", "output", "plaintext", "sh", "shell", "text", "txt", "zsh"})


class Shape(Enum):
    """In which form the model is to answer."""

    WHOLE = "whole"
    PIECES = "pieces"


class NoCode(ValueError):
    """An answer that gives no new block; the message tells people why."""


def shape_for(block: str) -> Shape:
    """The form that suits a block of that size."""
    return Shape.WHOLE if len(split(block)) <= WHOLE_LINES else Shape.PIECES


def asked(task: str, block: str, shape: Shape, language: str = "") -> str:
    """What the model is told to do with a block."""
    shown = fenced("\n".join(moved([body(line) for line in split(block)], "")), language)
    match shape:
        case Shape.WHOLE:
            form = "Write the whole new code in one fenced code block, without leaving anything out."
        case Shape.PIECES:
            form = (
                "Write only the places that change, each in this form, where SEARCH quotes some lines of the code "
                f"exactly as they are:\n\n{FORM}"
            )
    # Small models do what they read last.
    return f"{shown}\n\n{task}\n\n{form}"


def rewritten(block: str, answer: str, shape: Shape, language: str = "") -> str:
    """The new block, with the indentation and the line endings of the old one; raises `NoCode`."""
    old = [body(line) for line in split(block)]
    told = read(answer)
    if shape is Shape.PIECES or (SEARCH in answer and SEARCH not in block):
        new = _patched("\n".join(moved(old, "")), answer).split("\n")
    else:
        new = tabbed(moved(_chosen(told, old, language).lines, ""), old)
        if _is_part(old, new):
            raise NoCode("The model gave back only a part of the code.")
    new = _trimmed(moved(new, common_indent(old)))
    if not new:
        raise NoCode("The model's code is empty.")
    known = {line.strip() for line in old}
    if any(_ELIDED.match(line) and line.strip() not in known for line in new):
        raise NoCode("The model left out a part of the code.")
    return _settled(block, new)


def new_file(answer: str, language: str = "") -> str:
    """The text of a file that the model wrote from scratch; raises `NoCode`."""
    lines = _trimmed(_chosen(read(answer), (), language).lines)
    if not lines:
        raise NoCode("The model's code is empty.")
    return "\n".join(lines) + "\n"


def spliced(text: str, first: int, last: int, block: str) -> str:
    """A text whose lines from the first to the last became another block."""
    lines = split(text)
    return "".join((*lines[:first], block, *lines[last + 1 :]))


def _chosen(told: Answer, old: Sequence[str], language: str) -> CodeBlock:
    """The one code block that is meant."""
    if not told.is_whole:
        raise NoCode("The model's code has no end.")
    if not told.blocks:
        raise NoCode("The model answered in words, without any code.")
    blocks = told.blocks
    if len(blocks) > 1:
        # Many show first what there was, or last how to run it.
        before = _bare(old)
        blocks = [
            one for one in blocks if _bare(one.lines) != before and not _is_of_shell(one.language, language)
        ] or told.blocks
    if len(blocks) > 1:
        start = next(iter(_bare(old)), None)
        blocks = [one for one in blocks if next(iter(_bare(one.lines)), "") == start]
    if len(blocks) != 1:
        raise NoCode("The model wrote several pieces of code, and it is not clear which of them is meant.")
    return blocks[0]


def _is_part(old: Sequence[str], new: Sequence[str]) -> bool:
    """Whether the new code begins in the middle of the old, most of which it lacks."""
    before, after = _bare(old), _bare(new)
    kept = len(set(before) & set(after))
    return bool(after) and after[0] in before[1:] and after[0] != before[0] and 2 * kept < len(set(before))


def _is_of_shell(named: str, language: str) -> bool:
    return named.lower() in _OF_SHELLS and named.lower() != language.lower()


def _bare(lines: Sequence[str]) -> list[str]:
    return [line.strip() for line in lines if line.strip()]


def _patched(text: str, answer: str) -> str:
    try:
        pieces = blocks_in(answer)
    except MalformedEdit as reason:
        raise NoCode(str(reason)) from None
    if not pieces:
        raise NoCode("The model answered without any change in the form that it was asked for.")
    try:
        return replaced(text, pieces)
    except NoMatch as reason:
        raise NoCode(f"What the model wants to change is not clear. {reason}") from None


def _trimmed(lines: Sequence[str]) -> list[str]:
    found = [number for number, line in enumerate(lines) if line.strip()]
    return list(lines[found[0] : found[-1] + 1]) if found else []


def _settled(block: str, new: Sequence[str]) -> str:
    """The new lines as text, in which every line that stayed is the old one to the last space and its line ending."""
    old = split(block)
    usual, last = usual_ending(block), ending(old[-1])
    text: list[str] = []
    here = 0
    for hunk in hunks([line.rstrip() for line in old], [line.rstrip() for line in new]):
        text += old[here : hunk.start]
        text += (line + usual for line in new[hunk.new_start : hunk.new_end])
        here = hunk.end
    text += old[here:]
    text = [line if ending(line) else line + usual for line in text]
    return "".join((*text[:-1], body(text[-1]) + last))
