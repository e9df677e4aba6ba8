"""How many tokens a request has: estimated, and counted by the provider where that decides something."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ollm_lsp.core.errors import OllmError
from ollm_lsp.core.ports import CountsTokens
from ollm_lsp.core.tokens import estimate_request, most

if TYPE_CHECKING:
    from ollm_lsp.core.ports import Provider
    from ollm_lsp.core.request import ChatRequest

HOPELESS = 4
"""So many times over the limit, no better count makes a request fit."""


async def count(provider: Provider, request: ChatRequest, limit: int) -> int:
    """The tokens of a request. Counting costs a request of its own, so that it is left out where it changes nothing."""
    estimated = estimate_request(request)
    is_clear = most(request) * 10 < limit * 9 or estimated > HOPELESS * limit
    return estimated if is_clear else await counted(provider, request) or estimated


async def counted(provider: Provider, request: ChatRequest) -> int | None:
    """The tokens of a request as the provider itself counts them, if it can."""
    if not isinstance(provider, CountsTokens):
        return None
    try:
        return await provider.count(request)
    except OllmError:
        return None  # the chat itself will tell what is wrong
