"""Addresses of documents. One spelling per document, whatever way a client escapes it."""

from __future__ import annotations

import re
from pathlib import Path
from urllib.parse import quote, unquote

CHAT_SUFFIX = ".ollm.md"
TEXT_SUFFIX = ".ollm-text.md"
"""How the names of texts end that were shown as files."""
_DRIVE = re.compile(r"^/([A-Za-z]):")


def key(uri: str) -> str:
    """The same for all spellings of an address; for looking up only, never sent back."""
    decoded = unquote(uri)
    scheme, colon, rest = decoded.partition(":")
    if scheme.lower() != "file" or not colon:
        return decoded
    path = rest.removeprefix("//")
    return "file:" + _DRIVE.sub(lambda drive: f"/{drive[1].lower()}:", path)


def moved(uri: str, old: str, new: str) -> str | None:
    """The address that a document has after a file, or a folder above it, was renamed; nothing when it was not."""
    path, place = key(uri), key(old).rstrip("/")
    if path == place:
        return new
    if not path.startswith(f"{place}/"):
        return None
    return f"{new.rstrip('/')}/{quote(path[len(place) + 1 :])}"


def display_path(uri: str) -> str:
    """The path that people know a document by; for other schemes than `file` the address itself. It never raises.

    Taken apart by hand: what a parser would take for a query or a fragment is part of many file names.
    """
    scheme, _, rest = uri.partition(":")
    if scheme.lower() != "file":
        return unquote(uri)
    _, slash, path = rest.removeprefix("//").partition("/") if rest.startswith("//") else ("", "", rest)
    path = slash + unquote(path)
    return path[1:] if _DRIVE.match(path) else path


def is_chat(uri: str) -> bool:
    """Whether a document is a chat as a file, whatever language the editor takes it for."""
    return unquote(uri).lower().endswith(CHAT_SUFFIX)


def is_own(uri: str) -> bool:
    """Whether a document is a chat or a text of ours, and not the user's work."""
    return unquote(uri).lower().endswith((CHAT_SUFFIX, TEXT_SUFFIX)) or uri.lower().startswith("ollm:")


def folder(uri: str) -> Path | None:
    """A workspace folder as a path, when it is on this machine."""
    path = display_path(uri)
    return Path(path) if uri.lower().startswith("file:") and "\0" not in path else None
