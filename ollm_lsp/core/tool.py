"""Tools as values: what a model may call, what it called, what came of it."""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import StrEnum
from typing import TYPE_CHECKING

from ollm_lsp.core.errors import InvalidMessage

if TYPE_CHECKING:
    from ollm_lsp.core.foreign_json import JsonObject
    from ollm_lsp.core.image import Image


@dataclass(frozen=True, slots=True)
class ToolSpec:
    """What a model is told about a tool; `parameters` is a JSON Schema."""

    name: str
    description: str
    parameters: JsonObject


class ToolChoice(StrEnum):
    """Whether the model has to call a tool."""

    AUTO = "auto"
    NONE = "none"
    REQUIRED = "required"


@dataclass(frozen=True, slots=True)
class OneTool:
    """The model has to call this tool."""

    name: str


@dataclass(frozen=True, slots=True)
class ToolCall:
    """A complete request of the model to run a tool; `signature` is as that of thoughts."""

    id: str
    name: str
    arguments: JsonObject = field(hash=False)
    signature: str | None = None

    def __post_init__(self) -> None:
        if not self.id or not self.name:
            raise InvalidMessage("A tool call needs an id and the name of a tool.")


class ToolKind(StrEnum):
    """What a tool does, as far as its user has to know."""

    READ = "read"
    SEARCH = "search"
    EDIT = "edit"
    CREATE = "create"
    DELETE = "delete"
    MOVE = "move"
    EXECUTE = "execute"
    OTHER = "other"


class ToolStatus(StrEnum):
    """How far a call has come."""

    PENDING = "pending"
    AWAITING_PERMISSION = "awaitingPermission"
    RUNNING = "running"
    COMPLETED = "completed"
    FAILED = "failed"
    DENIED = "denied"

    @property
    def is_settled(self) -> bool:
        return self in (ToolStatus.COMPLETED, ToolStatus.FAILED, ToolStatus.DENIED)


@dataclass(frozen=True, slots=True)
class Location:
    """A place in a document that a call is about; lines count from 0."""

    uri: str
    line: int | None = None


@dataclass(frozen=True, slots=True)
class ToolOutcome:
    """What a tool gave, and whether it did what it was asked for. Images are only for a model that sees."""

    text: str
    status: ToolStatus = ToolStatus.COMPLETED
    images: tuple[Image, ...] = ()


@dataclass(frozen=True, slots=True)
class ToolResult:
    """What running a tool gave, as the model will read it. The text alone has to make sense: not every model sees."""

    call_id: str
    name: str
    text: str
    is_error: bool = False
    images: tuple[Image, ...] = ()

    def __post_init__(self) -> None:
        if not self.call_id or not self.name:
            raise InvalidMessage("A tool result names its tool and the call that it answers.")
        if self.is_error and self.images:
            raise InvalidMessage("A tool that failed shows no image.")
