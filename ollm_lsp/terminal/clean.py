"""Text of others made safe for a terminal: no control characters and no escape sequences (threat T25)."""

from __future__ import annotations

import re
from enum import Enum, auto

_SUSPICIOUS = re.compile(r"[\x00-\x08\x0b-\x1f\x7f-\x9f\ud800-\udfff]")
_STRING_STARTS_7BIT = "]PX^_"  # after an escape: OSC, DCS, SOS, PM, APC
_STRING_STARTS_8BIT = "\x90\x98\x9d\x9e\x9f"
_STRING_ENDS = "\x07\x18\x1a\x9c\n"  # a newline, too: an unfinished string must not swallow the whole answer


class _State(Enum):
    GROUND = auto()
    ESCAPE = auto()
    CONTROL = auto()  # a control sequence (CSI), up to its final letter
    STRING = auto()  # a title, a link, a palette: anything up to its terminator


class Cleaner:
    """Removes control characters and sequences from a stream, however the stream is cut into deltas."""

    def __init__(self) -> None:
        self._state = _State.GROUND

    def feed(self, text: str) -> str:
        if self._state is _State.GROUND and not _SUSPICIOUS.search(text):
            return text
        return "".join(map(self._step, text))

    def _step(self, character: str) -> str:
        match self._state:
            case _State.ESCAPE if " " <= character <= "~":
                self._state = _after_escape(character)
                return ""
            case _State.CONTROL if " " <= character <= "~":
                if character >= "@":
                    self._state = _State.GROUND
                return ""
            case _State.STRING if character != "\x1b" and character not in _STRING_ENDS:
                return ""
            case _:
                return self._ground(character)

    def _ground(self, character: str) -> str:
        """A character outside of sequences, or one that cuts a sequence short."""
        self._state = _State.GROUND
        if character == "\x1b":
            self._state = _State.ESCAPE
        elif character == "\x9b":
            self._state = _State.CONTROL
        elif character in _STRING_STARTS_8BIT:
            self._state = _State.STRING
        if not _SUSPICIOUS.match(character):
            return character
        return "\N{REPLACEMENT CHARACTER}" if character >= "\ud800" else ""


def _after_escape(character: str) -> _State:
    if character == "[":
        return _State.CONTROL
    if character in _STRING_STARTS_7BIT:
        return _State.STRING
    if character < "0":
        return _State.ESCAPE
    return _State.GROUND


def clean(text: str) -> str:
    """A whole text without control characters and sequences; newlines and tabs stay."""
    return Cleaner().feed(text)


def clean_line(text: str) -> str:
    """The same as one line: names, titles, messages."""
    return " ".join(clean(text).split())
