"""Texts that an editor shows as documents. They live in the state directory, and the oldest make room for new ones."""

from __future__ import annotations

from typing import TYPE_CHECKING
from uuid import uuid4

from ollm_lsp.core.errors import StoreFailed

if TYPE_CHECKING:
    from pathlib import Path

MOST = 50


def keep(state: Path, text: str) -> str:
    """Write a text that only this user can read; the result is its address."""
    folder = state / "shown"
    try:
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        for old in sorted(folder.glob("*.md"), key=lambda path: path.stat().st_mtime)[: -MOST + 1]:
            old.unlink(missing_ok=True)
        path = folder / f"{uuid4().hex}.md"
        path.touch(mode=0o600, exist_ok=False)
        path.write_text(text, encoding="utf-8")
    except OSError as error:
        raise StoreFailed(
            f"{folder} cannot be written ({error.strerror or error}).",
            remedy="Free some space or mend the permissions there.",
        ) from None
    return path.as_uri()
