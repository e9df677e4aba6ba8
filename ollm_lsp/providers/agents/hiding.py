"""Files that an agent must not read: patterns of the settings, in the words of the agents' own options."""

from __future__ import annotations

import json
import re
from dataclasses import dataclass
from typing import Final

_UNCLEAR: Final = re.compile(r"\[!?+\]?+[^\]/]*\]|[][(){}\\\s]")
"""What the patterns of some agent could mean in another way than ours: it stands for any character then."""
_REPEATED: Final = re.compile(r"(?<![^/])(\*\*/)+(?=\*\*(/|\Z))")
_PIECE: Final = re.compile(r"/\*\*\Z|\*\*/?|.", re.DOTALL)


@dataclass(frozen=True, slots=True)
class Hiding:
    """What is added to a run; `{}` in the arguments is the path of a file with that text."""

    arguments: tuple[str, ...]
    text: str = ""
    ending: str = ""
    """How the name of the file ends."""


def at_any_depth(pattern: str) -> str:
    """A pattern that hides at least as much: one that begins at the root of a folder begins anywhere."""
    tail = _UNCLEAR.sub("?", pattern.encode(errors="replace").decode()).lstrip("/")
    return _REPEATED.sub("", f"**/{tail}")


def in_any_case(pattern: str) -> str:
    """The pattern for who tells `.ENV` from `.env`."""
    return "".join(map(_both, _PIECE.findall(pattern)))


def as_expression(pattern: str) -> str:
    """A pattern as a regular expression for the end of a path in JSON; a simple one, for others are refused."""
    names = pattern.removeprefix("**/")
    return f'[/\\\\"]{"".join(map(_expressed, _PIECE.findall(names)))}"'


def quoted(text: str) -> str:
    """A text in TOML."""
    return json.dumps(text, ensure_ascii=False).replace("\x7f", "\\u007f")


def _both(piece: str) -> str:
    cases = {piece.lower(), piece.upper()}
    return f"[{''.join(sorted(cases))}]" if len(cases) == 2 and all(len(case) == 1 for case in cases) else piece


def _expressed(piece: str) -> str:
    match piece:
        case "**" | "**/":
            return '[^"]*'
        case "/**":
            return r'([/\\][^"]*|)'
        case "*":
            return '[^/"]*'
        case "/":
            return r"[/\\]+"
        case "?":
            return '[^/"]'
        case _:
            return _both(piece) if piece.isalpha() else re.escape(piece)
