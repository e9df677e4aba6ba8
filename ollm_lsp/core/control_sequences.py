"""Text of others without what would act on a terminal or an editor (threat T25)."""

from __future__ import annotations

import re

_SEQUENCES = re.compile(
    r"\x1b[PX^_\]][^\x07\x1b\x9c\n]*(?:\x07|\x1b\\|\x9c)?"  # strings: titles, links, palettes
    r"|[\x90\x98\x9d-\x9f][^\x07\x1b\x9c\n]*(?:\x07|\x1b\\|\x9c)?"
    r"|(?:\x1b\[|\x9b)[0-?]*[ -/]*[@-~]?"  # colours, movements of the cursor
    r"|\x1b[ -/]*[0-~]?"
)
_CONTROLS = re.compile(r"[\x00-\x08\x0b-\x1f\x7f-\x9f\ud800-\udfff]")
_ACTING = re.compile(r"[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f]")


def plain(text: str) -> str:
    """The output of a program with newlines and tabs, and no other control characters or sequences."""
    return _CONTROLS.sub("", _SEQUENCES.sub("", text.replace("\r\n", "\n").replace("\r", "\n")))


def powerless(text: str) -> str:
    """The text without its control characters, except line endings and tabs; what they introduced is left as letters.

    Each character is judged by itself, so that a text which comes in pieces loses the same as one that comes whole.
    """
    return _ACTING.sub("", text)
