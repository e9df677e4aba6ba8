"""How much is measured: everything, or as much as a few minutes allow."""

from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass
from typing import TypeVar

Key = TypeVar("Key")
Sample = TypeVar("Sample")


@dataclass(frozen=True)
class Effort:
    """The whole suite, or the short one, whose figures have the same names."""

    is_full: bool
    most: int | None = None
    """No more rounds than that, to see that everything works; then the figures mean little."""

    def sizes(self, *full: int) -> tuple[int, ...]:
        """All sizes, or the smallest and the largest."""
        return full if self.is_full else (full[0], full[-1])

    async def interleaved(
        self, rounds: int, variants: Mapping[Key, Callable[[], Awaitable[Sample]]]
    ) -> dict[Key, list[Sample]]:
        """Samples of each variant, A B C A B C …; a round more is measured than counts, and its first is thrown away.

        The short suite takes half of the rounds, but no less than three.
        """
        count = rounds if self.is_full else max(3, rounds // 2)
        count = count if self.most is None else min(count, self.most)
        samples: dict[Key, list[Sample]] = {name: [] for name in variants}
        for number in range(1 + count):
            for name, variant in variants.items():
                sample = await variant()
                if number:
                    samples[name].append(sample)
        return samples
