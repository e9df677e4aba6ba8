"""Usage and cost."""

from __future__ import annotations

from dataclasses import astuple

from hypothesis import given

from ollm_lsp.core.usage import FREE, UNKNOWN_COST, Usage
from tests.core.values import patient, usages


@patient
@given(usages, usages, usages)
def test_usage_adds_up_in_any_order(a: Usage, b: Usage, c: Usage) -> None:
    assert a + b == b + a == Usage(*map(sum, zip(astuple(a), astuple(b), strict=True)))
    assert (a + b) + c == a + (b + c)
    assert a + Usage() == a


def test_free_is_not_the_same_as_unknown() -> None:
    assert FREE != UNKNOWN_COST
    assert FREE.known
    assert not UNKNOWN_COST.known
