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
        case Image(_, data):
            encoded = base64.b64encode(data).decode()
            return part if clean(encoded) == encoded else Text(NO_IMAGE)
        case Reasoning(text, signature, is_redacted):
            return Reasoning(clean(text), signature and clean(signature), is_redacted)
        case ToolCall(call_id, name, arguments, signature):
            return ToolCall(
                clean(call_id), clean(name), redactor.redact_json(arguments), signature and clean(signature)
            )
        case ToolResult(call_id, name, text, is_error):
            return ToolResult(clean(call_id), clean(name), clean(text), is_error)
        case _:
            assert_never(part)
