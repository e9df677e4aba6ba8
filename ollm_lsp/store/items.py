"""Messages as JSON and back, without loss. Pure."""

from __future__ import annotations

import base64
import json
from typing import Any, assert_never

from ollm_lsp.core.messages import Image, Message, Part, Reasoning, Role, Text
from ollm_lsp.core.tool import ToolCall, ToolResult


class UnreadableItem(ValueError):
    """This is no message that we wrote."""


def encode(message: Message) -> str:
    """A message as JSON in plain ASCII, which every database can hold whatever the text is."""
    return json.dumps({"role": message.role.value, "parts": [_encode(part) for part in message.parts]})


def decode(text: str) -> Message:
    """The message that was encoded, or `UnreadableItem`."""
    try:
        value: Any = json.loads(text)
        return Message(Role(value["role"]), tuple(_decode(part) for part in value["parts"]))
    except (ValueError, KeyError, TypeError, AttributeError, RecursionError) as error:
        raise UnreadableItem(f"{type(error).__name__}: {error}") from None


def _encode(part: Part) -> dict[str, Any]:
    match part:
        case Text(text):
            return {"type": "text", "text": text}
        case Image(mime_type, data):
            return {"type": "image", "mimeType": mime_type, "data": base64.b64encode(data).decode()}
        case Reasoning(text, signature, is_redacted):
            return {"type": "reasoning", "text": text, "signature": signature, "isRedacted": is_redacted}
        case ToolCall(call_id, name, arguments, signature):
            return {"type": "toolCall", "id": call_id, "name": name, "arguments": arguments, "signature": signature}
        case ToolResult(call_id, name, text, is_error, images):
            result = {"type": "toolResult", "id": call_id, "name": name, "text": text, "isError": is_error}
            return {**result, "images": [_encode(image) for image in images]} if images else result
        case _:
            assert_never(part)


def _decode(item: dict[str, Any]) -> Part:
    match item["type"]:
        case "text":
            return Text(item["text"])
        case "image":
            return _image(item)
        case "reasoning":
            return Reasoning(item["text"], item["signature"], item["isRedacted"])
        case "toolCall":
            return ToolCall(item["id"], item["name"], item["arguments"], item["signature"])
        case "toolResult":
            images = tuple(map(_image, item.get("images", ())))
            return ToolResult(item["id"], item["name"], item["text"], item["isError"], images)
        case kind:
            raise UnreadableItem(f"no such part: {kind}")


def _image(item: dict[str, Any]) -> Image:
    return Image(item["mimeType"], base64.b64decode(item["data"], validate=True))
