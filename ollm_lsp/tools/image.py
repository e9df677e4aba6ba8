"""Images: recognised by their first bytes, and measured where that is cheap."""

from __future__ import annotations

import struct

HEAD = 256 * 1024
"""Bytes that are enough to find the size in nearly every picture of a camera."""


def described(data: bytes) -> str | None:
    """What kind of image these bytes begin, with its size in pixels; nothing when they begin none."""
    try:
        found = _found(data)
    except struct.error:
        return None
    if found is None:
        return None
    name, size = found
    return f"{name} image, {size[0]} x {size[1]} pixels" if size else f"{name} image"


def _found(data: bytes) -> tuple[str, tuple[int, int] | None] | None:
    if data.startswith(b"\x89PNG\r\n\x1a\n"):
        return "PNG", struct.unpack(">II", data[16:24])
    if data.startswith((b"GIF87a", b"GIF89a")):
        return "GIF", struct.unpack("<HH", data[6:10])
    if data.startswith(b"\xff\xd8\xff"):
        return "JPEG", _jpeg_size(data)
    if data.startswith(b"RIFF") and data[8:12] == b"WEBP":
        return "WebP", None
    if data.startswith(b"BM") and len(data) > 26 and data[6:10] == b"\0\0\0\0":
        return "BMP", struct.unpack("<ii", data[18:26])
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
