"""Messages and their parts. An invalid message cannot be constructed."""

from __future__ import annotations

from dataclasses import dataclass, replace
from enum import StrEnum
from typing import TypeAlias

from ollm_lsp.core.errors import InvalidMessage
from ollm_lsp.core.image import Image
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
class Reasoning:
    """Thoughts of a model; `signature` is the provider's own mark that must go back unchanged.

    Of redacted thoughts there is only the signature, which holds them in a form that the provider alone can read.
    """

    text: str
    signature: str | None = None
    is_redacted: bool = False

    def __post_init__(self) -> None:
        if self.is_redacted and (self.text or not self.signature):
            raise InvalidMessage("Redacted thoughts are a signature and nothing else.")


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

    def unsigned(self) -> Message | None:
        """The message without any provider's marks; nothing when it is nothing else."""
        parts = tuple(_unsigned(part) for part in self.parts if not _is_only_a_mark(part))
        return Message(self.role, parts) if parts else None

    @property
    def text(self) -> str:
        return "".join(part.text for part in self.parts if isinstance(part, Text))


def _unsigned(part: Part) -> Part:
    match part:
        case Reasoning(text):
            return Reasoning(text)
        case ToolCall():
            return replace(part, signature=None)
        case _:
            return part


def _is_only_a_mark(part: Part) -> bool:
    return isinstance(part, Reasoning) and not part.text and part.signature is not None
