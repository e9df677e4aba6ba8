"""The code blocks in an answer of a model: between fences, with prose around them."""

from __future__ import annotations

import re
from dataclasses import dataclass

_FENCE = re.compile(r"([ \t]*)(`{3,}|~{3,})[ \t]*([^`]*)")
_THOUGHTS_END = "</think>"


@dataclass(frozen=True, slots=True)
class CodeBlock:
    """What stood between two fences, as lines, and what the first of them named as its language."""

    language: str
    lines: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Answer:
    """An answer taken apart."""

    blocks: tuple[CodeBlock, ...]
    prose: str
    """All that is not code."""
    is_whole: bool
    """Whether every fence has its end. Else nobody knows where the code ends."""


def read(answer: str) -> Answer:
    """Take an answer apart. Thoughts that a provider left in it do not count."""
    lines = _without_thoughts(answer.replace("\r\n", "\n").replace("\r", "\n")).split("\n")
    blocks: list[CodeBlock] = []
    prose: list[str] = []
    fence: re.Match[str] | None = None
    inside: list[str] = []
    for line in lines:
        if fence is None and (fence := _FENCE.fullmatch(line)):
            inside = []
        elif fence is None and _THOUGHTS_END in line:
            blocks, prose = [], [line.partition(_THOUGHTS_END)[2]]
        elif fence is None:
            prose.append(line)
        elif _closes(line, fence[2]):
            blocks.append(CodeBlock(fence[3].strip(), tuple(inside)))
            fence = None
        else:
            inside.append(line.removeprefix(fence[1]))
    return Answer(tuple(blocks), "\n".join(prose).strip(), fence is None)


def _closes(line: str, fence: str) -> bool:
    said = line.strip(" \t")
    return len(said) >= len(fence) and set(said) == {fence[0]}


def _without_thoughts(answer: str) -> str:
    # Some models never say where their thoughts begin, some never where they end.
    if not answer.lstrip().startswith("<think>"):
        return answer
    return answer.partition(_THOUGHTS_END)[2]
