"""Usage and cost."""

from __future__ import annotations

from dataclasses import astuple

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ollm_lsp.core.usage import FREE, UNKNOWN_COST, Cost, Usage
from tests.core.values import counts, patient, usages


@patient
@given(usages, usages, usages)
def test_usage_adds_up_in_any_order(a: Usage, b: Usage, c: Usage) -> None:
    assert a + b == b + a == Usage(*map(sum, zip(astuple(a), astuple(b), strict=True)))
    assert (a + b) + c == a + (b + c)
    assert a + Usage() == a


costs = st.builds(Cost, counts, st.just("USD"), st.booleans())


@patient
@given(costs, costs, costs)
def test_costs_add_up_in_any_order_and_are_known_only_if_all_of_them_are(a: Cost, b: Cost, c: Cost) -> None:
    assert a + b == b + a == Cost(a.micros + b.micros, "USD", a.known and b.known)
    assert (a + b) + c == a + (b + c)
    assert a + FREE == a
    assert not (a + UNKNOWN_COST).known


def test_money_of_two_kinds_is_not_added() -> None:
    euro = Cost(5, "EUR")
    assert FREE + euro == euro + FREE == euro
    with pytest.raises(ValueError, match="USD and EUR"):
        Cost(5) + euro  # pyright: ignore[reportUnusedExpression] - it raises


def test_free_is_not_the_same_as_unknown() -> None:
    assert FREE != UNKNOWN_COST
    assert FREE.known
    assert not UNKNOWN_COST.known
