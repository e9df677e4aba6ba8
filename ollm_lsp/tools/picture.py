"""Pictures: recognised by their first bytes, measured where that is cheap, and fit to be shown to a model or not."""

from __future__ import annotations

import struct
from dataclasses import dataclass

HEAD = 256 * 1024
"""Bytes that are enough to find the size in nearly every picture of a camera."""
MAX_SHOWN = 3_750_000
"""Bytes of a picture that is shown: 5 MB in base64, the least that one of the vendors takes."""
MAX_SIDE = 8_000
"""Pixels on a side, of which Anthropic takes no more."""
_ENDS = {"image/png": b"IEND\xaeB`\x82", "image/jpeg": b"\xff\xd9", "image/gif": b"\x3b"}
_TAIL = 64 * 1024
"""Bytes at the end of a file in which its picture ends: cameras and editors add things behind it."""


@dataclass(frozen=True, slots=True)
class Picture:
    """What some bytes begin; the size is in pixels, width first."""

    name: str
    mime_type: str
    size: tuple[int, int] | None = None

    def __str__(self) -> str:
        return f"{self.name} image, {self.size[0]} x {self.size[1]} pixels" if self.size else f"{self.name} image"


def found(data: bytes) -> Picture | None:
    """The picture that these bytes begin, if they begin one."""
    try:
        return _found(data)
    except struct.error:
        return None


def problem(picture: Picture, data: bytes) -> str | None:
    """Why a model cannot be shown a whole file. What one vendor refuses would spoil the conversation for good."""
    if picture.mime_type == "image/bmp":
        return "only PNG, JPEG, GIF and WebP can be"
    if len(data) > MAX_SHOWN:
        return f"it has more than {MAX_SHOWN:,} bytes"
    if picture.size and not all(0 < side <= MAX_SIDE for side in picture.size):
        return f"its sides must be from 1 to {MAX_SIDE:,} pixels"
    return None if _is_whole(picture, data) else "the file is cut off or damaged"


def _is_whole(picture: Picture, data: bytes) -> bool:
    if picture.mime_type == "image/webp":
        return len(data) > 20 and len(data) >= 8 + int.from_bytes(data[4:8], "little")
    return picture.size is not None and _ENDS[picture.mime_type] in data[-_TAIL:]


def _found(data: bytes) -> Picture | None:
    if data.startswith(b"\x89PNG\r\n\x1a\n"):
        return Picture("PNG", "image/png", struct.unpack(">II", data[16:24]))
    if data.startswith((b"GIF87a", b"GIF89a")):
        return Picture("GIF", "image/gif", struct.unpack("<HH", data[6:10]))
    if data.startswith(b"\xff\xd8\xff"):
        return Picture("JPEG", "image/jpeg", _jpeg_size(data))
    if data.startswith(b"RIFF") and data[8:12] == b"WEBP":
        return Picture("WebP", "image/webp")
    if data.startswith(b"BM") and len(data) > 26 and data[6:10] == b"\0\0\0\0":
        return Picture("BMP", "image/bmp", struct.unpack("<ii", data[18:26]))
    return None


def _jpeg_size(data: bytes) -> tuple[int, int] | None:
    """The size from the frame header, behind segments that each tell their length."""
    at = 2
    while at + 9 <= len(data) and data[at] == 0xFF:
        marker, length = data[at + 1], int.from_bytes(data[at + 2 : at + 4], "big")
        if 0xC0 <= marker <= 0xCF and marker not in (0xC4, 0xC8, 0xCC):
            height, width = struct.unpack(">HH", data[at + 5 : at + 9])
            return width, height
        at += 2 + max(length, 2)
    return None
