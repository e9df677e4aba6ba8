"""Addresses of documents. One spelling per document, whatever way a client escapes it."""

from __future__ import annotations

import re
from pathlib import Path
from urllib.parse import unquote, urlsplit

_DRIVE = re.compile(r"^/([A-Za-z]):")


def key(uri: str) -> str:
    """The same for all spellings of an address; for looking up only, never sent back."""
    decoded = unquote(uri)
    scheme, colon, rest = decoded.partition(":")
    if scheme.lower() != "file" or not colon:
        return decoded
    path = rest.removeprefix("//")
    return "file:" + _DRIVE.sub(lambda drive: f"/{drive[1].lower()}:", path)


def display_path(uri: str) -> str:
    """The path that people know a document by; for other schemes than `file` the address itself."""
    parts = urlsplit(uri)
    if parts.scheme.lower() != "file":
        return unquote(uri)
    path = unquote(parts.path)
    return path[1:] if _DRIVE.match(path) else path


def folder(uri: str) -> Path | None:
    """A workspace folder as a path, when it is on this machine."""
    return Path(display_path(uri)) if uri.lower().startswith("file:") else None
