"""Money: amounts as whole micro-dollars, and how people read them."""

from __future__ import annotations

from typing import Final

MICROS: Final = 1_000_000


def in_dollars(micros: int) -> str:
    """An amount for people, exact: cents always, smaller parts when there are any."""
    whole, part = divmod(abs(micros), MICROS)
    digits = f"{part:06d}".rstrip("0").ljust(2, "0")
    return f"{'-' if micros < 0 else ''}${whole}.{digits}"
