"""A before-image: a file as it was before a proposal changed it."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class BeforeImage:
    """Its bytes on the disk, or nothing when it was not there."""

    uri: str
    data: bytes | None
