"""What a chat is asked."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from ollm_lsp.core.tokens import DEFAULT_LIMIT, estimate

if TYPE_CHECKING:
    from ollm_lsp.core.messages import Message
    from ollm_lsp.core.model import Capabilities


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
