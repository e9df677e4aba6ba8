"""Drafts: what open responses have grown by and is not written yet. Pure."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, assert_never

from ollm_lsp.core.events import ReasoningDelta, TextDelta, UsageChanged

if TYPE_CHECKING:
    from ollm_lsp.core.usage import Cost, Usage

_NOT_OF_A_KEY = re.compile(r"[^!-~]")


@dataclass(slots=True)
class Growth:
    """The news of one response: pieces of text, each with whether it is a thought, and the newest usage."""

    pieces: list[tuple[bool, str]] = field(default_factory=list[tuple[bool, str]])
    usage: tuple[Usage, Cost] | None = None


class Drafts:
    """Collects deltas, and gives them out in pieces in which a key cannot hide."""

    def __init__(self) -> None:
        self._deltas: dict[str, list[tuple[bool, str]]] = {}
        self._usages: dict[str, tuple[Usage, Cost]] = {}

    def add(self, response_id: str, event: TextDelta | ReasoningDelta | UsageChanged) -> None:
        match event:
            case TextDelta(text):
                self._deltas.setdefault(response_id, []).append((False, text))
            case ReasoningDelta(text):
                self._deltas.setdefault(response_id, []).append((True, text))
            case UsageChanged(usage, cost):
                self._usages[response_id] = (usage, cost)
            case _:
                assert_never(event)

    def take(self) -> dict[str, Growth]:
        """What can be written now. The last word of a text stays until it is complete.

        Half a key would pass the redactor, and keys have no spaces: so a text is cut only where no key can go on.
        """
        news: dict[str, Growth] = {}
        for response_id, deltas in self._deltas.items():
            pieces = _joined(deltas)
            is_reasoning, text = pieces.pop()
            cut = _last_cut(text)
            if cut:
                pieces.append((is_reasoning, text[:cut]))
            self._deltas[response_id] = [(is_reasoning, text[cut:])]
            if pieces:
                news[response_id] = Growth(pieces)
        for response_id, usage in self._usages.items():
            news.setdefault(response_id, Growth()).usage = usage
        self._usages = {}
        return news

    def drop_text(self, response_id: str) -> None:
        """A complete message has taken its place."""
        self._deltas.pop(response_id, None)

    def drop(self, response_id: str) -> None:
        """The complete response has taken the place of everything."""
        self._deltas.pop(response_id, None)
        self._usages.pop(response_id, None)


def _joined(deltas: list[tuple[bool, str]]) -> list[tuple[bool, str]]:
    runs: list[tuple[bool, list[str]]] = []
    for is_reasoning, text in deltas:
        if not runs or runs[-1][0] is not is_reasoning:
            runs.append((is_reasoning, []))
        runs[-1][1].append(text)
    return [(is_reasoning, "".join(texts)) for is_reasoning, texts in runs]


def _last_cut(text: str) -> int:
    """How much of the text comes before its last word."""
    found = _NOT_OF_A_KEY.search(text[::-1])
    return len(text) - found.start() if found else 0
