"""Tools as values: what a model may call, what it called, what came of it."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from ollm_lsp.core.errors import InvalidMessage

if TYPE_CHECKING:
    from ollm_lsp.core.foreign_json import JsonObject


@dataclass(frozen=True, slots=True)
class ToolSpec:
    """What a model is told about a tool; `parameters` is a JSON Schema."""

    name: str
    description: str
    parameters: JsonObject


@dataclass(frozen=True, slots=True)
class ToolCall:
    """A complete request of the model to run a tool."""

    id: str
    name: str
    arguments: JsonObject = field(hash=False)

    def __post_init__(self) -> None:
        if not self.id or not self.name:
            raise InvalidMessage("A tool call needs an id and the name of a tool.")


@dataclass(frozen=True, slots=True)
class ToolResult:
    """What running a tool gave, as the model will read it."""

    call_id: str
    name: str
    text: str
    is_error: bool = False

    def __post_init__(self) -> None:
        if not self.call_id or not self.name:
            raise InvalidMessage("A tool result names its tool and the call that it answers.")
