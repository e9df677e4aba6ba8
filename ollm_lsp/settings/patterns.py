"""Patterns of permissions: which of them are about files and which about tools."""

from __future__ import annotations


def is_path_pattern(text: str) -> bool:
    """Whether a pattern is about files. One with a slash or a dot is, any other is about tools."""
    return "/" in text or "." in text
