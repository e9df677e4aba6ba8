"""How tools put things for a model: counts, cuts, and names on one line."""

from __future__ import annotations

from ollm_lsp.core.visible import visible_name

_LONGEST = 120


def titled(text: str) -> str:
    """Somebody's words in a title: on one line, not too many, and nothing hidden in them."""
    return visible_name(text) if len(text) <= _LONGEST else f"{visible_name(text[:_LONGEST])}…"


def counted(count: int, noun: str) -> str:
    """A number of things."""
    return f"{count:,} {noun}{'' if count == 1 else 's'}"


def sized(size: int) -> str:
    """A size in bytes, as people write it."""
    if size < 1024:
        return counted(size, "byte")
    if size < 1024**2:
        return f"{size / 1024:.0f} KB"
    return f"{size / 1024**2:.1f} MB"
