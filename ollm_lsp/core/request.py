"""What a provider is asked."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from ollm_lsp.core.errors import InvalidMessage

if TYPE_CHECKING:
    from ollm_lsp.core.messages import Message
    from ollm_lsp.core.tool import ToolSpec


@dataclass(frozen=True, slots=True)
class ChatRequest:
    """One request for one model response; `model` is the name without its provider."""

    model: str
    messages: tuple[Message, ...]
    tools: tuple[ToolSpec, ...] = ()
    max_tokens: int | None = None
    temperature: float | None = None

    def __post_init__(self) -> None:
        if not self.model or not self.messages:
            raise InvalidMessage("A request needs a model and at least one message.")
