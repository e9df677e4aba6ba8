"""What an answer costs: tokens times prices for the vendors, nothing for this machine, unknown for the rest."""

from __future__ import annotations

from contextlib import suppress
from fractions import Fraction
from math import ceil

import genai_prices
import pytest
from genai_prices.data_snapshot import get_snapshot
from hypothesis import given
from hypothesis import strategies as st

from ollm_lsp.core.price import UNKNOWN_PRICE
from ollm_lsp.core.usage import FREE, UNKNOWN_COST, Cost, Usage
from ollm_lsp.providers.prices import cost_at
from tests.core.values import patient
from tests.providers.vendors import VENDORS, Vendor

pytestmark = pytest.mark.prop("krk-7")

OPENAI = "https://api.openai.com/v1"
ANTHROPIC = "https://api.anthropic.com"
GOOGLE = "https://generativelanguage.googleapis.com/v1beta"
PRICES = {
    (OPENAI, "gpt-4o"): ("2.5", "1.25", None, "10"),
    (ANTHROPIC, "claude-sonnet-4-5"): ("3", "0.3", "3.75", "15"),
    (GOOGLE, "gemini-2.5-flash"): ("0.3", "0.03", None, "2.5"),
}
"""Dollars for a million tokens: read, read from the cache, written to it, answered. They are as old as their models."""


@st.composite
def usages(draw: st.DrawFn) -> Usage:
    """Below the length from which some vendors take more."""
    given_ = draw(st.integers(0, 100_000))
    read = draw(st.integers(0, given_))
    return Usage(given_, draw(st.integers(0, 100_000)), read, draw(st.integers(0, given_ - read)))


@pytest.mark.threat("F17")
@patient
@pytest.mark.parametrize(("where", "prices"), PRICES.items(), ids=lambda value: value[1])
@given(usages())
def test_any_usage_costs_its_tokens_at_the_prices_of_the_model(
    where: tuple[str, str], prices: tuple[str, str, str | None, str], usage: Usage
) -> None:
    fresh, cached, kept, answered = (None if price is None else Fraction(price) for price in prices)
    assert fresh is not None
    assert cached is not None
    assert answered is not None
    written = usage.cache_write_tokens
    exact = (usage.input_tokens - usage.cache_read_tokens - written) * fresh + usage.cache_read_tokens * cached
    exact += written * (kept or fresh) + usage.output_tokens * answered
    assert cost_at(*where, usage) == Cost(ceil(exact))


@pytest.mark.parametrize(
    ("url", "model"),
    [
        (OPENAI, "gpt-4o-2024-08-06"),
        (ANTHROPIC, "claude-sonnet-4-5-20250929"),
        ("https://openrouter.ai/api/v1", "anthropic/claude-sonnet-4.5"),
        ("https://api.deepseek.com", "deepseek-chat"),
    ],
)
def test_the_names_that_vendors_use_have_prices(url: str, model: str) -> None:
    cost = cost_at(url, model, Usage(1000, 1000))
    assert cost.known
    assert cost.micros > 0


@pytest.mark.parametrize(
    ("url", "model"),
    [(OPENAI, "no-such-model"), (OPENAI, ""), ("https://models.example/v1", "gpt-4o"), (ANTHROPIC, "gpt-4o")],
)
def test_a_price_that_nobody_knows_is_said_to_be_unknown(url: str, model: str) -> None:
    assert cost_at(url, model, Usage(1000, 1000)) == UNKNOWN_COST


@pytest.mark.threat("F17")
def test_counts_that_cannot_be_have_no_price() -> None:
    assert cost_at(OPENAI, "gpt-4o", Usage(10, 1, cache_read_tokens=50)) == UNKNOWN_COST


@pytest.mark.parametrize("vendor", VENDORS, ids=lambda vendor: vendor.name)
async def test_every_provider_knows_what_it_costs(vendor: Vendor) -> None:
    async with vendor.reaching("http://127.0.0.1:1") as here, vendor.reaching("https://models.example") as elsewhere:
        assert here.cost("gpt-4o", Usage(1000, 1000)) == FREE
        assert elsewhere.cost("gpt-4o", Usage(1000, 1000)) == UNKNOWN_COST


async def test_a_provider_at_its_vendor_s_address_has_the_vendor_s_prices() -> None:
    openai = VENDORS[0]
    async with openai.reaching("https://api.openai.com") as provider:
        assert provider.cost("gpt-4o", Usage(1_000_000, 100_000)) == Cost(3_500_000)


@pytest.mark.prop("krk-29")
def test_no_vendor_takes_more_than_what_counts_for_an_unknown_price() -> None:
    """A dearer model in a newer list means that the price for unknown ones has to rise."""
    vast = Usage(1_000_000, 1_000_000)
    counts = genai_prices.Usage(input_tokens=1_000_000, output_tokens=1_000_000)
    for vendor in (vendor for vendor in get_snapshot().providers if vendor.id in ("openai", "anthropic", "google")):
        for model in vendor.models:
            with suppress(LookupError, ValueError):
                price = genai_prices.calc_price(counts, model_ref=model.id, provider_id=vendor.id)
                assert price.total_price * 1_000_000 <= UNKNOWN_PRICE.cost(vast).micros, model.id
