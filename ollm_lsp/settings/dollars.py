"""Dollars: amounts as people write them, in whole micro-dollars."""

from __future__ import annotations

from decimal import ROUND_DOWN, ROUND_UP, Decimal

from ollm_lsp.core.money import MICROS


def at_most(dollars: float) -> int:
    """Micro-dollars of a limit, never more than written."""
    return int((Decimal(repr(dollars)) * MICROS).to_integral_value(ROUND_DOWN))


def at_least(dollars: float) -> int:
    """Micro-dollars of a price, never less than written."""
    return int((Decimal(repr(dollars)) * MICROS).to_integral_value(ROUND_UP))
