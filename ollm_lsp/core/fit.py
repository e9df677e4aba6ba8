"""The check of arguments that looks at nothing but their shape."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from ollm_lsp.core.foreign_json import JsonObject


def any_object(schema: JsonObject, arguments: Any, /) -> str | None:  # noqa: ARG001 (a check needs the schema)
    """The `Fits` of whoever has no better one: the arguments have to be an object."""
    return None if isinstance(arguments, Mapping) else "they are not an object"
