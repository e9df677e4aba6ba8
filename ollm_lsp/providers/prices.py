"""What an answer costs: its tokens at the vendor's prices, which a library keeps and knows without a network."""

from __future__ import annotations

from math import ceil
from typing import TYPE_CHECKING

import genai_prices

from ollm_lsp.core.usage import UNKNOWN_COST, Cost

if TYPE_CHECKING:
    from ollm_lsp.core.usage import Usage


def cost_at(base_url: str, model: str, usage: Usage) -> Cost:
    """The cost at the server of a vendor, rounded up; unknown for other servers, and for models without a price."""
    counts = genai_prices.Usage(
        input_tokens=usage.input_tokens,
        cache_read_tokens=usage.cache_read_tokens,
        cache_write_tokens=usage.cache_write_tokens,
        output_tokens=usage.output_tokens,
    )
    try:
        price = genai_prices.calc_price(counts, model_ref=model, provider_api_url=base_url)
    except (LookupError, ValueError):
        return UNKNOWN_COST
    return Cost(ceil(price.total_price * 1_000_000))
