"""Nearest: the lines of a text that are most like some quoted ones, found in bounded time."""

from __future__ import annotations

from collections import Counter
from difflib import SequenceMatcher

from ollm_lsp.core.lines import split

LEAST = 0.5
"""From this likeness on, of 1, a text is worth quoting."""
_CANDIDATES = 20
_LONGEST = 4_000
"""Characters that are compared letter by letter."""
_MOST_LINES = 40
_WIDEST = 400


def nearest(text: str, wanted: str) -> list[tuple[int, str]] | None:
    """The most similar lines with their numbers, from 1 on; nothing when no lines are similar."""
    lines, quoted = split(text), split(wanted)[:_MOST_LINES]
    if not lines or not quoted:
        return None
    count = min(len(quoted), len(lines))
    best, likeness = -1, LEAST
    target = _squeezed(quoted)
    for place in _candidates(lines, quoted, count):
        found = likeness_of(target, _squeezed(lines[place : place + count]))
        if found > likeness:
            best, likeness = place, found
    if best < 0:
        return None
    return [(best + number + 1, line[:_WIDEST]) for number, line in enumerate(lines[best : best + count])]


def _candidates(lines: list[str], quoted: list[str], count: int) -> list[int]:
    """The places whose lines share most words with the quoted ones. Counted in one walk over the text."""
    wanted = Counter(word for line in quoted for word in _words(line))
    weights = [sum(min(number, wanted[word]) for word, number in Counter(_words(line)).items()) for line in lines]
    window = sum(weights[:count])
    scores = [(window, 0)]
    for place in range(1, len(lines) - count + 1):
        window += weights[place + count - 1] - weights[place - 1]
        scores.append((window, -place))
    scores.sort(reverse=True)
    return [-place for score, place in scores[:_CANDIDATES] if score or len(lines) <= _CANDIDATES]


def _words(line: str) -> list[str]:
    spaced = "".join(letter if letter.isalnum() else " " for letter in line[:_WIDEST])
    return spaced.split()


def _squeezed(lines: list[str]) -> str:
    return "\n".join(" ".join(line.split()) for line in lines)[:_LONGEST]


def likeness_of(one: str, other: str) -> float:
    """How much two texts are alike, from 0 to 1; 0 where it is certainly too little to matter."""
    matcher = SequenceMatcher(None, one, other)
    if matcher.real_quick_ratio() <= LEAST or matcher.quick_ratio() <= LEAST:
        return 0.0
    return matcher.ratio()
