"""A preview: the parts of a request that would be sent, all of them, in their order and with their words."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from ollm_lsp.core.counting import counted
from ollm_lsp.core.events import Warned
from ollm_lsp.core.messages import Image, Role
from ollm_lsp.core.provider_around import ProviderAround
from ollm_lsp.core.tokens import estimate_request, text_of, told_of
from ollm_lsp.lsp.context.parts import ContextPart, Source

if TYPE_CHECKING:
    from collections.abc import Iterator

    from ollm_lsp.core.messages import Message
    from ollm_lsp.core.model import ModelId
    from ollm_lsp.core.ports import Provider
    from ollm_lsp.core.request import ChatRequest
    from ollm_lsp.lsp.context.parts import Context
    from ollm_lsp.lsp.question import Composed

COMPACTION_DUE = Warned(
    "compaction_due", "The conversation is long: with the next question its older part would be summarised first."
)


@dataclass(frozen=True, slots=True)
class Preview:
    """What a model would get. The total is the provider's own count where it has one, and else an estimate."""

    model: ModelId
    parts: tuple[ContextPart, ...]
    total_tokens: int
    limit: int
    is_estimate: bool


async def preview_of(provider: Provider, model: ModelId, request: ChatRequest, composed: Composed) -> Preview:
    """Take a request apart, as it leaves for the provider."""
    sent = provider.as_sent(request) if isinstance(provider, ProviderAround) else request
    counts = await counted(provider, request)
    total = estimate_request(sent) if counts is None else counts
    parts = tuple(_parts(sent, composed.context))
    return Preview(model, parts, total, composed.question.limit, counts is None)


def _parts(sent: ChatRequest, context: Context) -> Iterator[ContextPart]:
    *past, asked = sent.messages
    for message in past:
        is_system = message.role is Role.SYSTEM
        text = "".join(map(text_of, message.parts))
        if is_system:
            yield ContextPart(Source.SYSTEM, text, "system prompt and project rules")
        else:
            yield ContextPart(Source.HISTORY, text, f"said before ({message.role.value})")
    if sent.tools:
        yield ContextPart(Source.TOOLS, "\n".join(map(told_of, sent.tools)), "tools that the model may call")
    yield from _asked(asked, context)


def _asked(message: Message, context: Context) -> Iterator[ContextPart]:
    text = message.text
    if not text.startswith(context.text):
        raise AssertionError("the context stands before the question")
    yield from context.parts
    yield ContextPart(Source.QUESTION, text[len(context.text) :], "what you ask")
    for image in message.parts:
        if isinstance(image, Image):
            yield ContextPart(Source.IMAGE, "", f"attached ({image.mime_type})")
