"""From what the user typed to what the model is asked."""

from __future__ import annotations

import base64
import binascii
from dataclasses import dataclass
from typing import TYPE_CHECKING

from ollm_lsp.core.errors import InvalidMessage, Unsupported
from ollm_lsp.core.messages import Image, Message
from ollm_lsp.core.question import Question
from ollm_lsp.core.tokens import DEFAULT_LIMIT, context_room, estimate, estimate_tools
from ollm_lsp.lsp.context.assembly import assemble

if TYPE_CHECKING:
    from collections.abc import Sequence

    from ollm_lsp.core.model import Capabilities
    from ollm_lsp.core.tool import ToolSpec
    from ollm_lsp.lsp.context.parts import Context
    from ollm_lsp.lsp.context.surroundings import Surroundings
    from ollm_lsp.lsp.protocol import ChatContext
    from ollm_lsp.settings.resolved import Settings

SYSTEM_PROMPT = (
    "You are a programming assistant inside the user's editor. Answer briefly and to the point, in Markdown. "
    "The user's open files, if any, come before the question and may have unsaved changes."
)


def system_prompt(settings: Settings, rules: str = "") -> Message:
    """What goes before every conversation. It changes as rarely as can be, so that prompt caches hit."""
    return Message.system("\n\n".join(filter(None, (settings.chat.system_prompt or SYSTEM_PROMPT, rules))))


@dataclass(frozen=True, slots=True)
class Composed:
    """A question, and what of the editor went into it."""

    question: Question
    context: Context


async def compose(
    text: str,
    wanted: ChatContext | None,
    past: tuple[Message, ...],
    around: Surroundings,
    capabilities: Capabilities,
    tools: Sequence[ToolSpec] = (),
) -> Composed:
    """The request for the model: system prompt and history, what of the editor fits, and the question."""
    limit = capabilities.context_window or DEFAULT_LIMIT
    images = images_in(wanted)
    asked = Message.user(text, *images)
    told = estimate_tools(tools) if capabilities.tools else 0
    spare = context_room(limit) - told - estimate((*past, asked))
    context = await assemble(around, wanted, text, max(0, spare))
    sent = Message.user(context.text, text, *images) if context.parts else asked
    return Composed(Question((*past, sent), (asked,), capabilities), context)


def images_in(wanted: ChatContext | None) -> list[Image]:
    """The images that a client attached; raises `Unsupported` for one that cannot be read."""
    images = wanted.images if wanted else []
    try:
        return [Image(image.mime_type, base64.b64decode(image.data, validate=True)) for image in images]
    except (binascii.Error, InvalidMessage) as error:
        raise Unsupported(f"An image cannot be read ({error}).", remedy="Send it as base64 with its type.") from None
