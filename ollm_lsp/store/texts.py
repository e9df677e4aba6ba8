"""Texts that an editor opens as documents. They live in the state directory, where only this user can read them."""

from __future__ import annotations

from time import strftime
from typing import TYPE_CHECKING
from uuid import uuid4

from ollm_lsp.core.errors import StoreFailed

if TYPE_CHECKING:
    from pathlib import Path

MOST = 50


def keep(state: Path, text: str) -> str:
    """Write a text to be shown; the oldest make room for new ones. The result is its address."""
    folder = state / "shown"
    name = f"{uuid4().hex}.ollm-text.md"
    try:
        for old in sorted(folder.glob("*.md"), key=lambda path: path.stat().st_mtime)[: -MOST + 1]:
            old.unlink(missing_ok=True)
    except OSError as error:
        raise _failed(folder, error) from None
    return _write(folder, name, text)


def keep_chat(state: Path, text: str) -> str:
    """Write a chat document, which is the user's from then on. The result is its address."""
    return _write(state / "chats", f"{strftime('%Y-%m-%d-%H%M%S')}-{uuid4().hex[:6]}.ollm.md", text)


def _write(folder: Path, name: str, text: str) -> str:
    path = folder / name
    try:
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        path.touch(mode=0o600, exist_ok=False)
        # An editor may have given us half a character, which no file can hold.
        path.write_text(text, encoding="utf-8", errors="replace", newline="")
    except OSError as error:
        raise _failed(folder, error) from None
    return path.as_uri()


def _failed(folder: Path, error: OSError) -> StoreFailed:
    return StoreFailed(
        f"{folder} cannot be written ({error.strerror or error}).",
        remedy="Free some space or mend the permissions there.",
    )
