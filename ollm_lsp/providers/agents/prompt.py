"""A request as one text, for CLI agents read nothing else."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ollm_lsp.core.messages import Role
from ollm_lsp.core.transcript import words

if TYPE_CHECKING:
    from collections.abc import Sequence

    from ollm_lsp.core.messages import Message

_SPEAKERS = {Role.USER: "User", Role.ASSISTANT: "Assistant", Role.TOOL: "Tool results"}


def prompt(messages: Sequence[Message]) -> bytes:
    """All of it, whatever its length: the system prompt, what was said before, and the newest message."""
    rules = [_said(message) for message in messages if message.role is Role.SYSTEM]
    turns = [message for message in messages if message.role is not Role.SYSTEM]
    past = [f"## {_SPEAKERS[turn.role]}\n\n{_said(turn)}" for turn in turns[:-1]]
    newest = [_said(turn) for turn in turns[-1:]]
    if past:
        past = ["# The conversation so far", *past]
        newest = ["# Now", *newest]
    text = "\n\n".join((*rules, *past, *newest))
    return text.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "replace").encode()


def _said(message: Message) -> str:
    return "\n".join(filter(None, map(words, message.parts)))
