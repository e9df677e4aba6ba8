r"""Lines as LSP has them: they end at `\n`, `\r\n` and `\r`, and nowhere else."""

from __future__ import annotations

import re

_LINE = re.compile(r"[^\r\n]*(?:\r\n?|\n)|[^\r\n]+")


def split(text: str) -> list[str]:
    """The lines with their endings; joined they are the text. The last one is never empty."""
    if "\r" in text:
        return _LINE.findall(text)
    # Several times as fast, and almost every text is such a one.
    lines = [f"{line}\n" for line in text.split("\n")]
    last = lines.pop()[:-1]
    return [*lines, last] if last else lines


def body(line: str) -> str:
    """A line without its ending."""
    return line[: len(line) - len(ending(line))]


def ending(line: str) -> str:
    """What ends a line; nothing for a last line without an ending."""
    if line.endswith("\r\n"):
        return "\r\n"
    return line[-1] if line.endswith(("\n", "\r")) else ""


def usual_ending(text: str) -> str:
    r"""The line ending that most lines of a text have; `\n` when they are as many or none."""
    crlf = text.count("\r\n")
    lf, cr = text.count("\n") - crlf, text.count("\r") - crlf
    most = max(lf, crlf, cr)
    return "\n" if lf == most else "\r\n" if crlf == most else "\r"


def adopted(text: str, base: str) -> str:
    r"""A text whose lines end at `\n`, with the usual line ending of another text instead."""
    usual = usual_ending(base)
    return text if usual == "\n" else text.replace("\n", usual)
