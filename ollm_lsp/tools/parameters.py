"""Parameters of tools: their JSON Schema, and how they are read, once, into values with a type."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from ollm_lsp.core.errors import BadArgument

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from ollm_lsp.core.foreign_json import JsonObject

AGAIN: Final = "Call the tool again with better arguments."
PATH: Final[dict[str, Any]] = {"type": "string", "minLength": 1, "description": "Path inside the workspace."}
CONTENT: Final[dict[str, Any]] = {"type": "string", "description": "The whole content, as it shall be."}
BASE: Final[dict[str, Any]] = {
    "type": "string",
    "pattern": "^[0-9a-f]{12}$",
    "description": "The tag of the text that you edit, as reading it told you. Without it, the text you read last.",
}


def parameters(properties: Mapping[str, Any], required: Sequence[str] = ()) -> JsonObject:
    """The schema of some parameters, with no others beside them."""
    schema: dict[str, Any] = {"type": "object", "properties": dict(properties), "additionalProperties": False}
    # JSON Schema allows an empty list only since draft 6.
    return {**schema, "required": list(required)} if required else schema


def text(arguments: JsonObject, name: str) -> str:
    """A parameter that is a text which a file can hold."""
    value = arguments.get(name)
    if not isinstance(value, str):
        raise BadArgument(f"'{name}' must be a text.", remedy=AGAIN)
    if "\0" in value or any("\ud800" <= letter <= "\udfff" for letter in value):
        raise BadArgument(f"'{name}' holds characters that no text file can hold.", remedy=AGAIN)
    return value


def optional_text(arguments: JsonObject, name: str) -> str | None:
    """The same, where it may be missing."""
    return text(arguments, name) if arguments.get(name) is not None else None
