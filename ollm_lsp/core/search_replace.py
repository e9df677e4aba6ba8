"""Search and replace: blocks of a text that a model quotes, found although it quotes them a little wrong.

A block is looked for in four ways, and the first that finds it counts: exactly; with other line endings; with other
space at the ends of lines; with all lines indented differently, in which case the new lines are moved along. Only what
was found is replaced: the text before and after it stays, byte for byte.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import accumulate, pairwise
from typing import TYPE_CHECKING

from ollm_lsp.core import lines as line_endings
from ollm_lsp.core.lines import body, ending, split
from ollm_lsp.core.nearest import nearest
from ollm_lsp.core.splices import Splice, apply
from ollm_lsp.core.visible import visible

if TYPE_CHECKING:
    from collections.abc import Sequence


@dataclass(frozen=True, slots=True)
class Block:
    """A piece of text to look for, what comes in its place, and whether in every place."""

    old: str
    new: str
    is_for_all: bool = False


class NoMatch(ValueError):
    """A block that cannot be replaced; the message tells the model why and what to do."""


def replaced(text: str, blocks: Sequence[Block]) -> str:
    """The text with all blocks replaced, or `NoMatch` and none of them. All are looked for in the text as it was."""
    found: list[tuple[Splice, int]] = []
    for number, block in enumerate(blocks, 1):
        found += ((splice, number) for splice in _found(text, block, _called(number, blocks)))
    found.sort(key=lambda one: (one[0].start, one[0].end))
    for (one, number), (other, other_number) in pairwise(found):
        if other.start < one.end or other.start == one.start:
            raise NoMatch(
                f"Edits {min(number, other_number)} and {max(number, other_number)} change the same text. "
                "Make one edit of the two."
            )
    return apply(text, [splice for splice, _ in found])


def _called(number: int, blocks: Sequence[Block]) -> str:
    return "The text to replace" if len(blocks) == 1 else f"The text to replace in edit {number}"


def _found(text: str, block: Block, called: str) -> list[Splice]:
    if not block.old:
        raise NoMatch(f"{called} is empty. Quote the lines that are to be changed; write_file replaces a whole file.")
    for look in (_exactly, _with_other_endings, _by_lines, _indented):
        if found := look(text, block):
            if len(found) > 1 and not block.is_for_all:
                raise NoMatch(_several(text, found, called))
            return found
    raise NoMatch(_none(text, block, called))


def _exactly(text: str, block: Block) -> list[Splice]:
    return _occurrences(text, block.old, _with_endings_of(text, block))


def _with_other_endings(text: str, block: Block) -> list[Splice]:
    old = line_endings.adopted(block.old.replace("\r\n", "\n"), text)
    return _occurrences(text, old, _with_endings_of(text, block))


def _occurrences(text: str, old: str, new: str) -> list[Splice]:
    found: list[Splice] = []
    start = text.find(old)
    while start >= 0:
        end = start + len(old)
        if not _cuts_ending(text, start) and not _cuts_ending(text, end):
            found.append(Splice(start, end, new))
        start = text.find(old, end)
    return found


def _cuts_ending(text: str, index: int) -> bool:
    return index > 0 and text[index - 1 : index + 1] == "\r\n"


def _by_lines(text: str, block: Block) -> list[Splice]:
    """Look for whole lines, whatever space and line ending is at their ends."""
    lines, wanted = split(text), [line.rstrip() for line in split(block.old)]
    if not any(wanted):
        return []
    new, starts = _with_endings_of(text, block), [0, *accumulate(map(len, lines))]
    places = _places([line.rstrip() for line in lines], wanted)
    return [_splice(lines, starts, (place, place + len(wanted)), block.old, new) for place in places]


def _indented(text: str, block: Block) -> list[Splice]:
    """Look for whole lines under another indentation, the same for all of them."""
    lines, old_lines = split(text), split(block.old)
    wanted = [line.strip() for line in old_lines]
    if not any(wanted):
        return []
    new, starts = _with_endings_of(text, block), [0, *accumulate(map(len, lines))]
    found: list[Splice] = []
    for place in _places([line.strip() for line in lines], wanted):
        move = _move(old_lines, lines[place : place + len(wanted)])
        moved = None if move is None else _moved(new, *move)
        if moved is not None:
            found.append(_splice(lines, starts, (place, place + len(wanted)), block.old, moved))
    return found


def _places(keys: Sequence[str], wanted: Sequence[str]) -> list[int]:
    """Where the wanted lines stand together, without overlaps. By a table of failures, so that it is linear."""
    table = [0]
    matched = 0
    for key in wanted[1:]:
        while matched and key != wanted[matched]:
            matched = table[matched - 1]
        matched += key == wanted[matched]
        table.append(matched)
    found: list[int] = []
    matched = 0
    for number, key in enumerate(keys):
        while matched and key != wanted[matched]:
            matched = table[matched - 1]
        matched += key == wanted[matched]
        if matched == len(wanted):
            found.append(number - matched + 1)
            matched = 0
    return found


def _splice(lines: Sequence[str], starts: Sequence[int], where: tuple[int, int], old: str, new: str) -> Splice:
    """Replace whole lines. The ending of the last one is part of it only if the block has one, too."""
    start, end = starts[where[0]], starts[where[1]]
    last = ending(lines[where[1] - 1])
    if not ending(old):
        end -= len(last)
    elif not last:
        # The text ends here without a line ending, and so does what comes in its place.
        new = new[: len(new) - len(ending(new))]
    return Splice(start, end, new)


def _move(old_lines: Sequence[str], there: Sequence[str]) -> tuple[str, str] | None:
    """The indentation of the quoted lines and that of the real ones, if the difference is the same in all of them."""
    pairs = [(_indent(old), _indent(real)) for old, real in zip(old_lines, there, strict=True) if old.strip()]
    common = _common_end(*pairs[0])
    was, now = (indent[: len(indent) - common] for indent in pairs[0])
    fits = all(old.startswith(was) and real == now + old[len(was) :] for old, real in pairs)
    return (was, now) if fits else None


def _common_end(one: str, other: str) -> int:
    length = 0
    while length < min(len(one), len(other)) and one[-1 - length] == other[-1 - length]:
        length += 1
    return length


def _moved(new: str, was: str, now: str) -> str | None:
    moved: list[str] = []
    for line in split(new):
        if not line.strip():
            moved.append(line)
        elif line.startswith(was):
            moved.append(now + line[len(was) :])
        else:
            return None
    return "".join(moved)


def _indent(line: str) -> str:
    content = body(line)
    return content[: len(content) - len(content.lstrip(" \t"))]


def _with_endings_of(text: str, block: Block) -> str:
    """The new text of a block with the line endings of the text, unless the model wrote some on purpose."""
    return line_endings.adopted(block.new, text) if "\r" not in block.new else block.new


def _several(text: str, found: Sequence[Splice], called: str) -> str:
    numbers = [text.count("\n", 0, splice.start) + 1 for splice in found[:10]]
    more = f" and {len(found) - 10} more" if len(found) > 10 else ""
    return (
        f"{called} is there {len(found)} times, in lines {', '.join(map(str, numbers))}{more}. "
        "Quote more lines around the one you mean, or set `all` to change every one."
    )


def _none(text: str, block: Block, called: str) -> str:
    near = nearest(text, block.old)
    if near is None:
        return f"{called} is not in the file, nor anything like it. Read the file again."
    quoted = "\n".join(f"{number:>6}\t{visible(body(line))}" for number, line in near)
    return f"{called} is not in the file. The nearest text there is:\n{quoted}\nQuote it exactly as it is."
