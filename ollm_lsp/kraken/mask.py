"""The mask: secrets replaced by placeholders in what is shared, and put back in what comes home. Pure.

A placeholder is `⟦S1⟧`. The same secret has the same one all through a release. Its brackets are in no value that is
masked, and what is between them is shorter than any such value, so that no placeholder holds a secret or makes one with
its neighbours; an opening bracket of the text itself is written as `⟦S0⟧`. Therefore `restore(mask(text)) == text`.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Final

from ollm_lsp.kraken.secrets import SHORTEST, find

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from ollm_lsp.kraken.secrets import FoundSecret

OPEN: Final = "⟦"
CLOSE: Final = "⟧"
EXPLANATION: Final = (
    f"A text like {OPEN}S1{CLOSE} stands for a secret that is not shown to you. "
    "Write it exactly so wherever the secret belongs, and do not ask for it."
)
"""What a model has to know of a masked text."""
_BRACKETS: Final = re.compile(f"[{OPEN}{CLOSE}]")
_PLACEHOLDER: Final = re.compile(rf"{OPEN}S\d+{CLOSE}", re.ASCII)


@dataclass(frozen=True)
class Mask:
    """The secrets of one release, in the order in which they were found."""

    found: tuple[FoundSecret, ...] = ()

    @classmethod
    def over(cls, texts: Mapping[str, str]) -> Mask:
        """The mask for texts that are shared together, by their sources. It looks through them: do it in a thread."""
        return cls().and_over(texts)

    def and_over(self, texts: Mapping[str, str]) -> Mask:
        """The same for more texts; what had a placeholder keeps it."""
        found = {secret.value: secret for secret in self.found}
        for source, text in texts.items():
            for secret in find(text, source):
                found.setdefault(secret.value, secret)
        return Mask(tuple(found.values()))

    def mask(self, text: str) -> str:
        """The text with a placeholder for every secret, wherever it stands."""
        pieces: list[str] = []
        copied = at = 0
        while at < len(text):
            value = self._at(text, at)
            if value is None:
                at += 1
                continue
            pieces += (text[copied:at], f"{OPEN}S{self._numbers[value]}{CLOSE}")
            copied = at = at + len(value)
        return "".join((*pieces, text[copied:]))

    def restore(self, text: str) -> str:
        """The text with every secret in the place of its placeholder. Other placeholders stay as they are."""
        return _PLACEHOLDER.sub(lambda match: self._values.get(match[0], match[0]), text)

    @cached_property
    def _numbers(self) -> dict[str, int]:
        """The pieces of secrets that are masked, by the numbers of their placeholders."""
        pieces = dict.fromkeys(_masked(secret.value for secret in self.found))
        return {OPEN: 0, **{piece: number for number, piece in enumerate(pieces, 1)}}

    @cached_property
    def _values(self) -> dict[str, str]:
        return {f"{OPEN}S{number}{CLOSE}": value for value, number in self._numbers.items()}

    @cached_property
    def _by_start(self) -> dict[str, list[str]]:
        """The longest first, by their first characters: one look at each place, however many secrets there are."""
        by_start: dict[str, list[str]] = {}
        for value in sorted(self._numbers, key=len, reverse=True):
            by_start.setdefault(value[:SHORTEST], []).append(value)
        return by_start

    def _at(self, text: str, at: int) -> str | None:
        if text[at] == OPEN:
            return OPEN
        values = self._by_start.get(text[at : at + SHORTEST], ())
        return next((value for value in values if text.startswith(value, at)), None)


def _masked(values: Iterable[str]) -> Iterable[str]:
    """A secret in pieces without brackets. Those that are too short are left: without the others they tell nothing."""
    for value in values:
        yield from (piece for piece in _BRACKETS.split(value) if len(piece) >= SHORTEST)
