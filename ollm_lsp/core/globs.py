"""File name patterns as people write them in settings: `*`, `?`, `[…]` within a name, `**` for any depth."""

from __future__ import annotations

from fnmatch import fnmatchcase
from functools import lru_cache
from itertools import pairwise


@lru_cache(maxsize=4096)
def matches(path: str, pattern: str) -> bool:
    """Whether a path with forward slashes fits a pattern, in time that no pattern can make long.

    A pattern that does not begin with `/` may begin at any depth. Letter case does not hide a file.
    """
    wanted = _segments(pattern.casefold())
    reachable = {0}
    for name in path.casefold().split("/"):
        ahead = _past_depths(reachable, wanted)
        reachable = {step + 1 for step in ahead if step < len(wanted) and fnmatchcase(name, wanted[step])}
        reachable |= {step for step in ahead if step < len(wanted) and wanted[step] == "**"}
    return len(wanted) in _past_depths(reachable, wanted)


@lru_cache(maxsize=256)
def _segments(pattern: str) -> tuple[str, ...]:
    """The names in a pattern; one `**` after another adds nothing."""
    names = (pattern if pattern.startswith("/") else f"**/{pattern}").split("/")
    return tuple(name for before, name in pairwise(("", *names)) if not before == name == "**")


def _past_depths(steps: set[int], wanted: tuple[str, ...]) -> set[int]:
    """The steps themselves and those behind a `**`, which may stand for nothing."""
    return steps | {step + 1 for step in steps if step < len(wanted) and wanted[step] == "**"}
