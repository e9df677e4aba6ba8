"""Sight: which images of tools a model is shown, and where, if its wire has no place for them beside the result."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from ollm_lsp.core.messages import Message, Role
from ollm_lsp.core.tool import ToolResult

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from ollm_lsp.core.messages import Part

MAX_SHOWN = 12 * 1024 * 1024
"""Bytes of all images of tools in one request. In base64 they are a third more, and Google takes 20 MB in all."""
NOT_SHOWN = "[The image itself is not shown here.]"


def shows_images(messages: Iterable[Message]) -> bool:
    """Whether a tool shows an image."""
    return any(map(_shows, messages))


def sighted(messages: tuple[Message, ...], *, sees: bool) -> tuple[Message, ...]:
    """The messages for a model that sees or does not: of an image that it is not shown, the text of its result stays.

    Of too many images the newest are shown. Those that a user shows are no business of ours: they are sent or refused.
    """
    if not shows_images(messages):
        return messages
    room = MAX_SHOWN if sees else 0
    seen: list[Message] = []
    for message in reversed(messages):
        if not _shows(message):
            seen.append(message)
            continue
        parts: list[Part] = []
        for part in reversed(message.parts):
            if isinstance(part, ToolResult) and part.images:
                room -= sum(len(image.data) for image in part.images)
            parts.append(_hidden(part) if room < 0 else part)
        seen.append(Message(message.role, tuple(reversed(parts))))
    return tuple(reversed(seen))


def apart(messages: Iterable[Message]) -> Iterator[Message]:
    """The messages for a wire on which results are text: their images follow in a message of the user.

    It comes after all results of a turn, because nothing may stand between a call and its result.
    """
    waiting: list[ToolResult] = []
    for message in messages:
        if waiting and message.role is not Role.TOOL:
            yield _shown(waiting)
            waiting = []
        yield message
        if _shows(message):
            waiting += (part for part in message.parts if isinstance(part, ToolResult) and part.images)
    if waiting:
        yield _shown(waiting)


def _shows(message: Message) -> bool:
    return message.role is Role.TOOL and any(isinstance(part, ToolResult) and part.images for part in message.parts)


def _hidden(part: Part) -> Part:
    if isinstance(part, ToolResult) and part.images:
        return replace(part, text=f"{part.text}\n{NOT_SHOWN}", images=())
    return part


def _shown(results: Iterable[ToolResult]) -> Message:
    return Message.user(*(part for result in results for part in (f"[From {result.name}]", *result.images)))
