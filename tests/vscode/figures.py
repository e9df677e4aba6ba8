"""What the tests in a browser have measured, for the end of the run."""

from __future__ import annotations

MARK = "measured: "
FIGURES: list[str] = []


def keep(output: str) -> None:
    """Take the lines that tell figures from what a program has printed."""
    FIGURES.extend(line.partition(MARK)[2].strip() for line in output.splitlines() if MARK in line)
