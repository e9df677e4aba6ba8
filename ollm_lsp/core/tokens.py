"""How much text fits into a model."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, assert_never

from ollm_lsp.core.errors import ContextOverflow
from ollm_lsp.core.events import Warned
from ollm_lsp.core.messages import Image, Reasoning, Text
from ollm_lsp.core.tool import ToolCall, ToolResult

if TYPE_CHECKING:
    from collections.abc import Iterable

    from ollm_lsp.core.messages import Message, Part
    from ollm_lsp.core.request import ChatRequest
    from ollm_lsp.core.tool import ToolSpec

CHARS_PER_TOKEN = 4
IMAGE_TOKENS = 1_000
"""A rough price of one image; providers differ, and none charges much more for a usual size."""
MESSAGE_TOKENS = 4
"""What the chat template of a model adds around each message."""
MIN_SHARE = 1_000
"""Characters of a text below which it would be useless. What does not fit even so is refused, not cut."""
DEFAULT_LIMIT = 8_192
"""The context window of a model that tells nothing about itself."""


def estimate_text(text: str) -> int:
    """The number of tokens in a text, for a model whose tokenizer we do not have: ceil(chars / 4)."""
    return estimate_length(len(text))


def estimate_length(length: int) -> int:
    """The number of tokens in so many characters."""
    return -(-length // CHARS_PER_TOKEN)


def estimate(messages: Iterable[Message]) -> int:
    """The number of tokens in whole messages."""
    return sum(MESSAGE_TOKENS + sum(map(_estimate_part, message.parts)) for message in messages)


def estimate_tools(tools: Iterable[ToolSpec]) -> int:
    """The number of tokens in what a model is told about its tools."""
    return sum(MESSAGE_TOKENS + estimate_text(told_of(tool)) for tool in tools)


def estimate_request(request: ChatRequest) -> int:
    """The number of tokens in all that is sent, with the tools that are offered."""
    return estimate(request.messages) + estimate_tools(request.tools)


def count_images(messages: Iterable[Message]) -> int:
    """How many images messages hold, with those that tools gave."""
    return sum(_images(part) for message in messages for part in message.parts)


def most(request: ChatRequest) -> int:
    """More tokens than any tokenizer makes of a request: none makes two of one byte."""
    texts = (text_of(part) for message in request.messages for part in message.parts)
    size = sum(len(text.encode("utf-8", "replace")) for text in (*texts, *map(told_of, request.tools)))
    around = 2 * MESSAGE_TOKENS * (len(request.messages) + len(request.tools))
    return size + around + 2 * IMAGE_TOKENS * count_images(request.messages)


def context_room(limit: int) -> int:
    """Tokens of a window that a question may fill with all that goes with it. The rest is for tools and answers."""
    return limit * 3 // 4


def answer_reserve(limit: int) -> int:
    """Tokens of a context window that are kept free for the answer."""
    return max(1, min(limit // 4, 4_096))


def chars_left(tokens: int, limit: int, shares: int) -> int:
    """How long each of some texts may be, if they are to go into a context that holds so many tokens already."""
    spare = limit - answer_reserve(limit) - tokens
    return max(MIN_SHARE, spare * CHARS_PER_TOKEN // shares)


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
    return IMAGE_TOKENS * _images(part) + estimate_text(text_of(part))


def _images(part: Part) -> int:
    return len(part.images) if isinstance(part, ToolResult) else isinstance(part, Image)


def text_of(part: Part) -> str:
    """The words of a part, as far as they can be counted."""
    match part:
        case Text(text) | Reasoning(text) | ToolResult(text=text):
            return text
        case ToolCall(name=name, arguments=arguments):
            return f"{name}{arguments}"
        case Image():
            return ""
        case _:
            assert_never(part)


def told_of(tool: ToolSpec) -> str:
    """What a model is told about a tool."""
    return f"{tool.name}{tool.description}{json.dumps(tool.parameters)}"
