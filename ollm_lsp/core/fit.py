"""Whether the arguments of a tool call are what the tool's schema asks for."""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeAlias

from ollm_lsp.core.foreign_json import JsonObject

Fits: TypeAlias = Callable[[JsonObject, JsonObject], str | None]
"""Takes the schema and the arguments; says what is wrong, in words for the model, or nothing when they fit."""


def accept(schema: JsonObject, arguments: JsonObject) -> str | None:  # noqa: ARG001 (the shape of `Fits`)
    """The judge that takes everything."""
    return None
