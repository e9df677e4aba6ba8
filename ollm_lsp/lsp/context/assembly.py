"""Assembling the context of a question."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ollm_lsp.lsp.context.gathering import gather
from ollm_lsp.lsp.context.selecting import select

if TYPE_CHECKING:
    from ollm_lsp.lsp.context.parts import Context
    from ollm_lsp.lsp.context.surroundings import Surroundings
    from ollm_lsp.lsp.protocol import ChatContext


async def assemble(around: Surroundings, wanted: ChatContext | None, text: str, budget: int) -> Context:
    """What goes into a number of tokens with a question. What the user named and cannot be had is a warning."""
    if around.settings.max_tokens is not None:
        budget = min(budget, around.settings.max_tokens)
    return select(await gather(around, wanted, text), budget)
