"""What an answer costs: its tokens at the vendor's prices, which a library keeps and knows without a network."""

from __future__ import annotations

from math import ceil
from typing import TYPE_CHECKING

import genai_prices

from ollm_lsp.core.usage import UNKNOWN_COST, Cost

if TYPE_CHECKING:
    from collections.abc import Callable

    from genai_prices.types import PriceCalculation

    from ollm_lsp.core.usage import Usage


def cost_at(base_url: str, model: str, usage: Usage) -> Cost:
    """The cost at the server of a vendor, rounded up; unknown for other servers, and for models without a price."""
    return _cost(lambda: genai_prices.calc_price(_counts(usage), model_ref=model, provider_api_url=base_url))


def cost_by(vendor: str, model: str, usage: Usage) -> Cost:
    """The cost by a vendor's own prices, wherever the server is that passes the requests on to it."""
    return _cost(lambda: genai_prices.calc_price(_counts(usage), model_ref=model, provider_id=vendor))


def _cost(price: Callable[[], PriceCalculation]) -> Cost:
    try:
        return Cost(ceil(price().total_price * 1_000_000))
    except (LookupError, ValueError):
        return UNKNOWN_COST


def _counts(usage: Usage) -> genai_prices.Usage:
    return genai_prices.Usage(
        input_tokens=usage.input_tokens,
        cache_read_tokens=usage.cache_read_tokens,
        cache_write_tokens=usage.cache_write_tokens,
        output_tokens=usage.output_tokens,
    )
