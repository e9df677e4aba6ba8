"""What a person is shown of a proposal: built from the very changes that will be made, whole, in Markdown."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, assert_never

from ollm_lsp.core.cautions import cautions
from ollm_lsp.core.change import CreateFile, DeleteFile, EditText, RenameFile
from ollm_lsp.core.diff import diff
from ollm_lsp.core.visible import visible, visible_name

if TYPE_CHECKING:
    from collections.abc import Callable

    from ollm_lsp.core.change import Change, Proposal

_BACKTICKS = re.compile("`+")
_SYNTAX = re.compile(r"([\\`\[<])")
"""What begins an image, a link, HTML or code."""


def shown(proposal: Proposal, path_of: Callable[[str], str]) -> str:
    """Every change with its full path and its whole diff, and what is easily overlooked. `path_of` is of a URI."""
    return "\n\n".join(_change(change, path_of) for change in proposal.changes)


def change_diff(change: Change) -> str:
    """What a change does to the text of its document, line by line; empty for a move."""
    match change:
        case EditText(_, base, text):
            return diff(base.text, text)
        case CreateFile(_, text):
            return diff("", text)
        case DeleteFile(_, base):
            return diff(base.text, "")
        case RenameFile():
            return ""
        case _:
            assert_never(change)


def code(text: str) -> str:
    """A name as a code span, out of which nothing in it can break."""
    fence = "`" * (_longest_run(text) + 1)
    space = " " if text.startswith(("`", " ")) or text.endswith(("`", " ")) or not text else ""
    return f"{fence}{space}{text}{space}{fence}"


def fenced(text: str, language: str = "") -> str:
    """A text as a code block, out of which nothing in it can break."""
    fence = "`" * max(3, _longest_run(text) + 1)
    return f"{fence}{language}\n{text}{'' if text.endswith(chr(10)) else chr(10)}{fence}"


def inert(text: str) -> str:
    """Words of others in Markdown of ours: no image, link or HTML comes of them, so that showing them loads nothing."""
    return _SYNTAX.sub(r"\\\1", text)


def _change(change: Change, path_of: Callable[[str], str]) -> str:
    parts = [_headline(change, path_of)]
    parts += (f"**Caution.** {inert(visible(caution))}" for caution in cautions(change))
    if lines := change_diff(change):
        parts.append(fenced(lines, "diff"))
    return "\n\n".join(parts)


def _headline(change: Change, path_of: Callable[[str], str]) -> str:
    path = code(visible_name(path_of(change.uri)))
    match change:
        case EditText():
            return f"Edit {path}"
        case CreateFile(_, text):
            return f"Create {path}" if text else f"Create {path}, empty"
        case RenameFile(_, new_uri):
            return f"Move {path} to {code(visible_name(path_of(new_uri)))}"
        case DeleteFile(_, base):
            return f"Delete {path}" if base.text else f"Delete {path}, which is empty"
        case _:
            assert_never(change)


def _longest_run(text: str) -> int:
    return max(map(len, _BACKTICKS.findall(text)), default=0)
