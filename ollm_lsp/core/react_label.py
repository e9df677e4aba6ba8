"""The words that begin the parts of a ReAct answer, found at the start of a line that may still be growing."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from typing import TYPE_CHECKING, TypeAlias

if TYPE_CHECKING:
    from ollm_lsp.core.growing_text import GrowingText

_MARKS = "*_#"
_SPACE = " \t"
_REACH = 80
"""How far into a line a label may end."""


class Label(StrEnum):
    """What the text behind it is."""

    THOUGHT = "thought"
    ACTION = "action"
    INPUT = "action input"
    OBSERVATION = "observation"
    ANSWER = "final answer"


@dataclass(frozen=True, slots=True)
class Labelled:
    """A label, and how many characters it takes with its colon and its Markdown."""

    label: Label
    size: int


@dataclass(frozen=True, slots=True)
class NoLabel:
    """The line begins with something else."""


@dataclass(frozen=True, slots=True)
class Undecided:
    """More of the line has to be seen."""


Verdict: TypeAlias = Labelled | NoLabel | Undecided


def label_at(text: GrowingText) -> Verdict:
    """Look for a label at the start of a line: in any case, indented, and bold or a heading if the model likes that."""
    line = text.peek(_REACH)
    is_whole = text.is_whole or len(line) == _REACH
    begin = _skip(line, 0, _SPACE)
    word = _skip(line, begin, _MARKS + " ")
    colon = line.find(":", word)
    if colon < 0:
        is_open = not is_whole and any(_is_begun(_plain(line[word:]), label) for label in Label)
        return Undecided() if is_open else NoLabel()
    name = line[word:colon].rstrip(_SPACE)
    label = next((label for label in Label if label == _plain(name.rstrip(_MARKS))), None)
    if label is None:
        return NoLabel()
    marks = line[begin:word].lstrip("# ").rstrip()
    is_marked = marks != "" and name[-1] not in _MARKS
    behind = line[colon + 1 :][: len(marks)]
    if is_marked and behind != marks and marks.startswith(behind) and not is_whole:
        return Undecided()
    return Labelled(label, colon + 1 + (len(marks) if is_marked and behind == marks else 0))


def _plain(name: str) -> str:
    return name.lower().replace("_", " ")


def _is_begun(text: str, label: Label) -> bool:
    """Whether a text could grow into that label and its colon."""
    return label.startswith(text) or (text.startswith(label) and not text[len(label) :].strip(_MARKS + _SPACE))


def _skip(text: str, at: int, characters: str) -> int:
    while at < len(text) and text[at] in characters:
        at += 1
    return at
