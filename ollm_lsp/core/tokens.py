"""How much text fits into a model."""

from __future__ import annotations

from typing import TYPE_CHECKING, assert_never

from ollm_lsp.core.errors import ContextOverflow
from ollm_lsp.core.events import Warned
from ollm_lsp.core.messages import Image, Reasoning, Text
from ollm_lsp.core.tool import ToolCall, ToolResult

if TYPE_CHECKING:
    from collections.abc import Iterable

    from ollm_lsp.core.messages import Message, Part

CHARS_PER_TOKEN = 4
IMAGE_TOKENS = 1_000
"""A rough price of one image; providers differ, and none charges much more for a usual size."""
MESSAGE_TOKENS = 4
"""What the chat template of a model adds around each message."""
DEFAULT_LIMIT = 8_192
"""The context window of a model that tells nothing about itself."""


def estimate_text(text: str) -> int:
    """The number of tokens in a text, for a model whose tokenizer we do not have: ceil(chars / 4)."""
    return -(-len(text) // CHARS_PER_TOKEN)


def estimate(messages: Iterable[Message]) -> int:
    """The number of tokens in whole messages."""
    return sum(MESSAGE_TOKENS + sum(map(_estimate_part, message.parts)) for message in messages)


def answer_reserve(limit: int) -> int:
    """Tokens of a context window that are kept free for the answer."""
    return max(1, min(limit // 4, 4_096))


def check_fit(tokens: int, limit: int) -> Warned | None:
    """Refuse what is longer than the model's limit, and warn from 90 % of it."""
    if tokens > limit:
        raise ContextOverflow(
            f"The request has about {tokens:,} tokens, the model reads at most {limit:,}.",
            remedy="Close buffers that are not needed, select less, or choose a model with a larger context.",
        )
    if tokens * 10 >= limit * 9:
        return Warned(
            "context_nearly_full",
            f"The request fills {tokens * 100 // limit} % of the model's context of {limit:,} tokens.",
            "Start a new conversation or choose a model with a larger context.",
        )
    return None


def _estimate_part(part: Part) -> int:
    match part:
        case Text(text) | Reasoning(text) | ToolResult(text=text):
            return estimate_text(text)
        case ToolCall(name=name, arguments=arguments):
            return estimate_text(f"{name}{arguments}")
        case Image():
            return IMAGE_TOKENS
        case _:
            assert_never(part)
