"""Messages without secrets: what is kept has passed the redactor."""

from __future__ import annotations

import base64
from typing import TYPE_CHECKING, assert_never

from ollm_lsp.core.messages import Image, Message, Reasoning, Text
from ollm_lsp.core.tool import ToolCall, ToolResult
from ollm_lsp.settings.redactor import redactor

if TYPE_CHECKING:
    from ollm_lsp.core.messages import Part

NO_IMAGE = "(An image was left out: a secret was in it.)"


def redacted(message: Message) -> Message:
    """The message with every secret replaced, wherever in its parts."""
    return Message(message.role, tuple(_part(part) for part in message.parts))


def _part(part: Part) -> Part:
    clean = redactor.redact
    match part:
        case Text(text):
            return Text(clean(text))
        case Image():
            return part if _is_clean(part) else Text(NO_IMAGE)
        case Reasoning(text, signature, is_redacted):
            return Reasoning(clean(text), signature and clean(signature), is_redacted)
        case ToolCall(call_id, name, arguments, signature):
            return ToolCall(
                clean(call_id), clean(name), redactor.redact_json(arguments), signature and clean(signature)
            )
        case ToolResult(call_id, name, text, is_error, images):
            kept = tuple(filter(_is_clean, images))
            text = clean(text) if len(kept) == len(images) else f"{clean(text)}\n{NO_IMAGE}"
            return ToolResult(clean(call_id), clean(name), text, is_error, kept)
        case _:
            assert_never(part)


def _is_clean(image: Image) -> bool:
    encoded = base64.b64encode(image.data).decode()
    return redactor.redact(encoded) == encoded
