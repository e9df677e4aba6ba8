"""Cautions: what a person should know about a proposal before they say yes, found in the very text they allow."""

from __future__ import annotations

import re
from collections import Counter
from typing import TYPE_CHECKING, assert_never

from ollm_lsp.core.change import CreateFile, DeleteFile, EditText, RenameFile
from ollm_lsp.core.hidden import hidden

if TYPE_CHECKING:
    from ollm_lsp.core.change import Change

_ADDRESS = re.compile(
    r"""(?:https?|ftp|wss?|file)://[^\s"'<>)\]}]+|(?<![:\w])//[\w-]+(?:\.[\w-]+)+[^\s"'<>)\]}]*""", re.IGNORECASE
)
_SETTINGS = re.compile(
    r"\.(?:json[5c]?|ya?ml|toml|xml|ini|cfg|conf|properties|code-workspace|xsd|plist)$", re.IGNORECASE
)
"""Files that editors and tools act on by themselves when they change."""
_SHOWN = 5


def cautions(change: Change) -> list[str]:
    """What a change brings in that is easily overlooked, one sentence each."""
    match change:
        case EditText(uri, base, text):
            return _of_text(uri, text, base.text)
        case CreateFile(uri, text):
            return _of_text(uri, text, "")
        case RenameFile() | DeleteFile():
            return []
        case _:
            assert_never(change)


def _of_text(uri: str, text: str, before: str) -> list[str]:
    found: list[str] = []
    there, now = (Counter(one.character for one in hidden(version)) for version in (before, text))
    if fresh := [str(one) for one in hidden(text) if one.character in now - there]:
        found.append(f"It adds characters that cannot be seen: {_listed(fresh)}.")
    if _SETTINGS.search(uri):
        known = set(_ADDRESS.findall(before))
        if addresses := [one for one in dict.fromkeys(_ADDRESS.findall(text)) if one not in known]:
            found.append(f"It adds remote addresses, which an editor may open by itself: {_listed(addresses)}.")
    return found


def _listed(items: list[str]) -> str:
    more = f" and {len(items) - _SHOWN} more" if len(items) > _SHOWN else ""
    return ", ".join(items[:_SHOWN]) + more
