"""Edits that a model writes into its answer: pieces of text to search and to replace, between markers. Pure.

path/to/file
<<<<<<< SEARCH
old lines
=======
new lines
>>>>>>> REPLACE
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Final

from ollm_lsp.core.foreign_edit import ForeignEdit
from ollm_lsp.core.search_replace import Block
from ollm_lsp.core.tool import ToolKind

if TYPE_CHECKING:
    from collections.abc import Iterator

SEARCH: Final = "<<<<<<< SEARCH"
DIVIDE: Final = "======="
REPLACE: Final = ">>>>>>> REPLACE"
FORM: Final = f"{SEARCH}\nold lines\n{DIVIDE}\nnew lines\n{REPLACE}"
HOW_TO_PROPOSE: Final = (
    "You cannot change files yourself. To propose changes, write each of them in this form, after the path of its "
    "file, where SEARCH quotes whole lines of the file exactly as they are and is empty for a new file:\n\n"
    f"path/to/file\n{FORM}\n\n"
    "The user sees them and decides about them. Propose nothing when only an answer is wanted."
)
"""What whoever has no tools for changes has to know."""
_FENCE: Final = re.compile(r"\s*(?:`{3,}|~{3,})")
_QUOTED: Final = re.compile(r"`([^`\0]+)`")
_BARE: Final = re.compile(r"(?:#+\s+|[-*]\s+)?(?:(?:file|path):\s*)?[*_]*([^\s*\0]+?)[*_]*:?[*_]*", re.IGNORECASE)


class MalformedEdit(ValueError):
    """Markers that make no edit; the message tells people why."""


def blocks_in(answer: str) -> list[Block]:
    """All pieces, whatever file they are for."""
    return [block for _, block in _headed(answer)]


def edits_in(answer: str) -> list[ForeignEdit]:
    """The edits with their files. A piece without a path of its own is for the file of the one before it."""
    edits: list[ForeignEdit] = []
    path = ""
    for head, block in _headed(answer):
        path = _path_in(head) or path
        if not path:
            raise MalformedEdit("A change has no path of a file above it.")
        edits.append(
            ForeignEdit(path, ToolKind.EDIT if block.old.strip() else ToolKind.CREATE, block.old or None, block.new)
        )
    return edits


def _path_in(head: str) -> str | None:
    """The path that a line names: the last one in quotes, or the line itself when it is one word."""
    if quoted := _QUOTED.findall(head):
        return quoted[-1].strip()
    bare = _BARE.fullmatch(head)
    return bare[1] if bare else None


def _headed(answer: str) -> Iterator[tuple[str, Block]]:
    """Each piece with the last line of words above it, if there is one behind the piece before."""
    head = ""
    parts: list[list[str]] = []
    for line in answer.replace("\r\n", "\n").replace("\r", "\n").split("\n"):
        said = line.strip()
        if said == SEARCH:
            parts = [[]]
        elif said == DIVIDE and parts:
            parts.append([])
        elif said == REPLACE and parts:
            if len(parts) != 2:
                raise MalformedEdit("A change has not exactly one line that divides old from new.")
            yield head, Block("\n".join(parts[0]), "\n".join(parts[1]))
            head, parts = "", []
        elif parts:
            parts[-1].append(line)
        elif said and not _FENCE.match(line):
            head = said
    if parts:
        raise MalformedEdit("A change has no end.")
