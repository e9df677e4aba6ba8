"""A snapshot: the text of a document at one moment, and how to tell later whether it is still the same."""

from __future__ import annotations

from dataclasses import dataclass
from hashlib import sha256


@dataclass(frozen=True, slots=True)
class Snapshot:
    """What an edit is computed on. `version` is that of the editor's buffer; a file that is not open has none."""

    uri: str
    text: str
    version: int | None = None

    @property
    def digest(self) -> str:
        """What tells this text from every other one."""
        return sha256(self.text.encode("utf-8", "surrogatepass")).hexdigest()
