"""What a model says in one answer, whatever wire it comes over."""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, TypeAlias

if TYPE_CHECKING:
    import random

WORDS = (
    "a", " the ", "é", "漢字", "😀", "👩‍💻", "\n", "\r\n", "\u2028", "\u0085", "\ufeff", "{", "}", '"', "\\", "data: x",
    "[DONE]",
    '{"done":true}', "```", "<tool_call>", "\t", " ", "0", "\u200b", "\u202e", "event: error", "finish_reason",
)  # fmt: skip
NAMES = ("read_file", "search", "x", "é", "list-files")


@dataclass(frozen=True)
class Say:
    """A piece of the answer."""

    text: str


@dataclass(frozen=True)
class Think:
    """A piece of the thoughts."""

    text: str


@dataclass(frozen=True)
class Call:
    """A whole tool call."""

    id: str
    name: str
    arguments: dict[str, Any]

    @property
    def text(self) -> str:
        return json.dumps(self.arguments, ensure_ascii=False)


Step: TypeAlias = Say | Think | Call


@dataclass(frozen=True)
class Story:
    """All steps in their order, and whether the answer ran into its limit."""

    steps: tuple[Step, ...]
    is_cut_by_limit: bool

    @property
    def said(self) -> str:
        return "".join(step.text for step in self.steps if isinstance(step, Say))

    @property
    def thought(self) -> str:
        return "".join(step.text for step in self.steps if isinstance(step, Think))

    @property
    def calls(self) -> list[Call]:
        return [] if self.is_cut_by_limit else [step for step in self.steps if isinstance(step, Call)]


def text(chance: random.Random) -> str:
    return "".join(chance.choices(WORDS, k=chance.randint(1, 5)))


def story(chance: random.Random) -> Story:
    """Any answer that a well-behaved server could give."""
    steps: list[Step] = []
    for number in range(chance.randint(0, 7)):
        match chance.randrange(6):
            case 0:
                steps.append(Think(text(chance)))
            case 1:
                values: tuple[Any, ...] = (text(chance), number, None, [number, {}], 0.5)
                arguments = {f"k{at}": chance.choice(values) for at in range(chance.randint(0, 3))}
                steps.append(Call(f"call_{number}_{chance.randrange(1000)}", chance.choice(NAMES), arguments))
            case _:
                steps.append(Say(text(chance)))
    return Story(tuple(steps), chance.random() < 0.15)
