"""Images, which a user shows and a tool may give."""

from __future__ import annotations

from dataclasses import dataclass

from ollm_lsp.core.errors import InvalidMessage


@dataclass(frozen=True, slots=True)
class Image:
    """A picture, as the bytes of its file."""

    mime_type: str
    data: bytes

    def __post_init__(self) -> None:
        if not self.mime_type.startswith("image/") or not self.data:
            raise InvalidMessage(f"An image needs bytes and an image MIME type, not '{self.mime_type}'.")
