"""From what the user typed to what the model is asked."""

from __future__ import annotations

import base64
import binascii
from typing import TYPE_CHECKING

from ollm_lsp.core.errors import InvalidMessage, Unsupported
from ollm_lsp.core.messages import Image, Message
from ollm_lsp.core.question import Question
from ollm_lsp.core.tokens import DEFAULT_LIMIT, context_room, estimate, estimate_tools
from ollm_lsp.lsp.context import assemble

if TYPE_CHECKING:
    from collections.abc import Sequence

    from ollm_lsp.core.model import Capabilities
    from ollm_lsp.core.ports import Sink
    from ollm_lsp.core.tool import ToolSpec
    from ollm_lsp.lsp.documents import Documents
    from ollm_lsp.lsp.protocol import ChatSendParams
    from ollm_lsp.settings.resolved import Settings

SYSTEM_PROMPT = (
    "You are a programming assistant inside the user's editor. Answer briefly and to the point, in Markdown. "
    "The user's open files, if any, come before the question and may have unsaved changes."
)


def system_prompt(settings: Settings, rules: str = "") -> Message:
    """What goes before every conversation. It changes as rarely as can be, so that prompt caches hit."""
    return Message.system("\n\n".join(filter(None, (settings.chat.system_prompt or SYSTEM_PROMPT, rules))))


def compose(
    params: ChatSendParams,
    system: Message,
    history: tuple[Message, ...],
    documents: Documents,
    settings: Settings,
    capabilities: Capabilities,
    sink: Sink,
    tools: Sequence[ToolSpec] = (),
) -> Question:
    """The request for the model: system prompt, history, open buffers as far as they fit, and the question."""
    limit = capabilities.context_window or DEFAULT_LIMIT
    images = _images(params)
    asked = Message.user(params.text, *images)
    told = estimate_tools(tools) if capabilities.tools else 0
    spare = context_room(limit) - told - estimate((system, *history, asked))
    context = assemble(documents, params.context, settings.context, max(0, spare))
    for warning in context.warnings:
        sink.emit(warning)
    sent = Message.user(context.text, params.text, *images) if context.parts else asked
    messages = (system, *history, sent)
    return Question(messages, (asked,), capabilities)


def _images(params: ChatSendParams) -> list[Image]:
    images = params.context.images if params.context else []
    try:
        return [Image(image.mime_type, base64.b64decode(image.data, validate=True)) for image in images]
    except (binascii.Error, InvalidMessage) as error:
        raise Unsupported(f"An image cannot be read ({error}).", remedy="Send it as base64 with its type.") from None
