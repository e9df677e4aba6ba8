"""What a chat is asked."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from ollm_lsp.core.messages import Message, Text
from ollm_lsp.core.tokens import DEFAULT_LIMIT, estimate

if TYPE_CHECKING:
    from ollm_lsp.core.model import Capabilities


def kept_as(question: Question, typed: str) -> Question:
    """The same question, of which the conversation keeps what the user typed and not the words for the model."""
    (asked,) = question.input
    others = (part for part in asked.parts if not isinstance(part, Text))
    return replace(question, input=(Message(asked.role, (Text(typed), *others)),))


@dataclass(frozen=True, slots=True)
class Question:
    """`messages` are sent to the model, `input` is kept in the conversation.

    They differ by what is true only now, such as the text of the open buffers.
    """

    messages: tuple[Message, ...]
    input: tuple[Message, ...]
    capabilities: Capabilities

    @property
    def tokens(self) -> int:
        return estimate(self.messages)

    @property
    def limit(self) -> int:
        return self.capabilities.context_window or DEFAULT_LIMIT
