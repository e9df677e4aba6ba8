"""Prices: whole numbers, never too little, and never nothing for what nobody knows."""

from __future__ import annotations

from fractions import Fraction
from math import ceil

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ollm_lsp.core.price import UNKNOWN_PRICE, Price, PriceList
from ollm_lsp.core.usage import FREE, UNKNOWN_COST, Cost, Usage
from tests.core.values import patient
from tests.support.scripted_provider import ScriptedProvider

amounts = st.integers(0, 10**9)
prices = st.builds(Price, amounts, amounts, st.none() | amounts, st.none() | amounts)


@st.composite
def usages(draw: st.DrawFn) -> Usage:
    given_ = draw(st.integers(0, 10**6))
    read = draw(st.integers(0, given_))
    return Usage(given_, draw(st.integers(0, 10**6)), read, draw(st.integers(0, given_ - read)))


@pytest.mark.prop("krk-25")
@patient
@given(prices, usages())
def test_any_usage_costs_its_tokens_at_their_prices_rounded_up(price: Price, usage: Usage) -> None:
    read, written = usage.cache_read_tokens, usage.cache_write_tokens
    parts = [
        (usage.input_tokens - read - written, price.input),
        (usage.output_tokens, price.output),
        (read, price.input if price.cache_read is None else price.cache_read),
        (written, price.input if price.cache_write is None else price.cache_write),
    ]
    assert price.cost(usage) == Cost(ceil(sum(Fraction(tokens * each, 10**6) for tokens, each in parts)))


@pytest.mark.prop("krk-26")
@patient
@given(prices, usages())
def test_no_usage_within_its_bounds_costs_more_than_the_most(price: Price, usage: Usage) -> None:
    listed = PriceList("p", ScriptedProvider(), {"m": price})
    assert listed.cost("m", usage).micros <= listed.most("m", usage.input_tokens, usage.output_tokens).micros


@pytest.mark.prop("krk-25")
def test_the_user_s_own_price_comes_before_the_vendor_s() -> None:
    own = {"m": Price(1, 1), "p:m": Price(10**6, 2 * 10**6), "q:n": Price(1, 1)}
    listed = PriceList("p", ScriptedProvider(cost=Cost(77)), own)
    assert listed.cost("m", Usage(3, 4)) == Cost(11)
    assert listed.cost("n", Usage(3, 4)) == Cost(77)
    assert PriceList("other", ScriptedProvider(), own).cost("m", Usage(10**6, 0)) == Cost(1)


def test_a_price_of_nothing_is_a_price() -> None:
    listed = PriceList("p", ScriptedProvider(cost=UNKNOWN_COST), {"m": Price(0, 0)})
    assert listed.cost("m", Usage(10**6, 10**6)) == FREE


@pytest.mark.prop("krk-29")
def test_an_unknown_price_is_said_to_be_unknown_and_counts_as_the_dearest() -> None:
    listed = PriceList("p", ScriptedProvider(cost=UNKNOWN_COST), {})
    assert listed.cost("m", Usage(1000, 100)) == Cost(210_000, known=False)
    assert listed.most("m", 1000, 100) == Cost(210_000, known=False)
    assert UNKNOWN_PRICE.cost(Usage(1, 0)).micros == 150
