"""A conversation as plain text, no longer than a model can read."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, assert_never

from ollm_lsp.core.messages import Image, Reasoning, Text
from ollm_lsp.core.tokens import CHARS_PER_TOKEN
from ollm_lsp.core.tool import ToolCall, ToolResult

if TYPE_CHECKING:
    from collections.abc import Sequence

    from ollm_lsp.core.messages import Message, Part

_CUT = "\n[…]\n"
_SHARE = 8
"""No part takes more than one of so many parts of the whole."""


def transcript(messages: Sequence[Message], tokens: int) -> str:
    """Who said what. Long parts lose their middle; then what is between the first message and the newest goes."""
    size = tokens * CHARS_PER_TOKEN
    lines = [_line(message, size // _SHARE) for message in messages]
    if sum(len(line) + 2 for line in lines) <= size:
        return "\n\n".join(lines)
    first, room = lines[0], size - len(lines[0]) - 2 * len(_CUT)
    newest: list[str] = []
    for line in reversed(lines[1:]):
        room -= len(line) + 2
        if room < 0:
            break
        newest.append(line)
    return shortened("\n\n".join([first, _CUT.strip(), *reversed(newest)]), size)


def shortened(text: str, size: int) -> str:
    """The text without its middle, if it is longer than so many characters."""
    if len(text) <= size:
        return text
    kept = max(0, size - len(_CUT))
    head, tail = kept - kept // 2, kept // 2
    return (text[:head] + _CUT + text[len(text) - tail :])[: max(0, size)]


def _line(message: Message, size: int) -> str:
    parts = (shortened(part, size) for part in map(words, message.parts) if part)
    return f"{message.role.value}: " + "\n".join(parts)


def words(part: Part) -> str:
    """What a part says, for somebody who reads nothing but text."""
    match part:
        case Text(text):
            return text
        case Image(mime_type):
            return f"[{mime_type}]"
        case Reasoning():
            return ""  # what came of the thoughts is what counts
        case ToolCall(name=name, arguments=arguments):
            return f"[calls {name} with {json.dumps(arguments, ensure_ascii=False)}]"
        case ToolResult(name=name, text=text, is_error=is_error, images=images):
            shown = "".join(f" [{image.mime_type}]" for image in images)
            return f"[{name} {'failed' if is_error else 'gave'}: {text}{shown}]"
        case _:
            assert_never(part)
