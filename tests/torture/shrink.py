"""Shrinking: from a case that fails to a small one that still does."""

from __future__ import annotations

from typing import TYPE_CHECKING, TypeVar

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

T = TypeVar("T")
MOST_TRIES = 2_000


def shrink(case: Sequence[T], fails: Callable[[list[T]], bool]) -> list[T]:
    """Leave out ever smaller pieces as long as it still fails."""
    left = list(case)
    tries = 0
    width = max(1, len(left) // 2)
    while width and tries < MOST_TRIES:
        at = 0
        while at < len(left) and tries < MOST_TRIES:
            fewer = left[:at] + left[at + width :]
            tries += 1
            if fails(fewer):
                left = fewer
            else:
                at += width
        width //= 2
    return left


def shrink_bytes(case: bytes, fails: Callable[[bytes], bool]) -> bytes:
    """The same for bytes."""
    return bytes(shrink(case, lambda octets: fails(bytes(octets))))
