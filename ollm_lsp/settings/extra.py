"""Extra: parameters of a server that ollm-lsp does not know, passed on as JSON."""

from __future__ import annotations

from math import isfinite
from typing import TYPE_CHECKING, cast

from ollm_lsp.core.errors import SettingsError

if TYPE_CHECKING:
    from collections.abc import Mapping

DEEPEST = 16
_LARGEST = 2**64
_OWN = frozenset(
    {
        "contents", "messages", "model", "n", "stream", "system", "systemInstruction", "system_instruction",
        "toolConfig", "tool_choice", "tool_config", "tools",
    }
)  # fmt: skip


def check_extra(members: Mapping[str, object]) -> None:
    """Refuse what is no JSON, and what only the conversation decides."""
    for name in sorted(_OWN & set(members)):
        raise SettingsError(f"ollm-lsp itself writes {name} into each request.", remedy="Leave it out of extra.")
    if not _is_json(members, DEEPEST):
        raise SettingsError(
            "A request cannot hold a value in here.",
            remedy="Use texts, numbers, true, false, null, lists and mappings of these; put dates in quotes.",
        )


def _is_json(value: object, depth: int) -> bool:
    match value:
        case None | bool():
            return True
        case int():
            return abs(value) < _LARGEST
        case float():
            return isfinite(value)
        case str():
            return _is_unicode(value)
        case list():
            return depth > 0 and all(_is_json(item, depth - 1) for item in cast("list[object]", value))
        case dict():
            members = cast("dict[object, object]", value)
            return depth > 0 and all(
                isinstance(key, str) and _is_unicode(key) and _is_json(item, depth - 1) for key, item in members.items()
            )
        case _:
            return False


def _is_unicode(text: str) -> bool:
    try:
        text.encode()
    except UnicodeEncodeError:
        return False
    return True
