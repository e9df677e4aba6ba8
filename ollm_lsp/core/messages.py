"""Messages and their parts. An invalid message cannot be constructed."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from typing import TypeAlias

from ollm_lsp.core.errors import InvalidMessage
from ollm_lsp.core.tool import ToolCall, ToolResult


class Role(StrEnum):
    """Who speaks."""

    SYSTEM = "system"
    USER = "user"
    ASSISTANT = "assistant"
    TOOL = "tool"


@dataclass(frozen=True, slots=True)
class Text:
    """Words."""

    text: str


@dataclass(frozen=True, slots=True)
class Image:
    """A picture, as the bytes of its file."""

    mime_type: str
    data: bytes

    def __post_init__(self) -> None:
        if not self.mime_type.startswith("image/") or not self.data:
            raise InvalidMessage(f"An image needs bytes and an image MIME type, not '{self.mime_type}'.")


@dataclass(frozen=True, slots=True)
class Reasoning:
    """Thoughts of a model; `signature` is the provider's own mark that must go back unchanged."""

    text: str
    signature: str | None = None


Part: TypeAlias = Text | Image | Reasoning | ToolCall | ToolResult

_ALLOWED: dict[Role, tuple[type[Part], ...]] = {
    Role.SYSTEM: (Text,),
    Role.USER: (Text, Image),
    Role.ASSISTANT: (Text, Reasoning, ToolCall),
    Role.TOOL: (ToolResult,),
}


@dataclass(frozen=True, slots=True)
class Message:
    """An ordered list of parts that one role said."""

    role: Role
    parts: tuple[Part, ...]

    def __post_init__(self) -> None:
        if not self.parts:
            raise InvalidMessage(f"A {self.role} message needs at least one part.")
        for part in self.parts:
            if not isinstance(part, _ALLOWED[self.role]):
                raise InvalidMessage(f"A {self.role} message cannot hold a {type(part).__name__} part.")

    @classmethod
    def system(cls, text: str) -> Message:
        return cls(Role.SYSTEM, (Text(text),))

    @classmethod
    def user(cls, *parts: str | Text | Image) -> Message:
        return cls(Role.USER, tuple(Text(part) if isinstance(part, str) else part for part in parts))

    @property
    def text(self) -> str:
        return "".join(part.text for part in self.parts if isinstance(part, Text))
