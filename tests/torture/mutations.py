"""Harm: what happens to bytes and to JSON values on the way from somebody who means it, or who is broken."""

from __future__ import annotations

import copy
from typing import TYPE_CHECKING, Any, cast

if TYPE_CHECKING:
    import random

JUNK: tuple[Any, ...] = (
    None, True, False, 0, -1, 1.5, 2**63, 10**30, -0.0, 1e308, "", "x", "\x00", "\ud800", "\udc00x", "é", [], {}, [[]],
    [None],
    {"": None}, {"type": "error"}, {"error": "x"}, "null", "9" * 40, "a" * 3000, [0] * 200, {"x": {"y": {"z": [1]}}},
    "\x1b[31m", "../../etc/passwd", "file:///x", "[DONE]", "stop", "error",
)  # fmt: skip
TOKENS: tuple[bytes, ...] = (
    b"", b"\n", b"\r", b"\r\n", b"\n\n", b"data:", b"data: [DONE]\n\n", b"event: error\n", b"\xff", b"\xc3",
    b"\xe2\x80\xa8",
    b"\x00",
    b"\xef\xbb\xbf", b"{", b"}", b"[", b"]", b'"', b"\\", b"\\u", b"\\ud800", b"NaN", b"Infinity", b"-", b"1e999",
    b"9" * 5000,
    b"[" * 3000, b'{"a":' * 3000, b"null", b"true", b",", b":", b"<html>", b'{"error":"x"}', b'{"error":{"code":429}}',
    b"\x1b[2J",
    b'"a":1,"a":2', b'data: {"error":{"message":"x"}}\n\n', b"done", b'"done":true', b"finish_reason",
)  # fmt: skip


def harm_bytes(raw: bytes, chance: random.Random) -> bytes:
    """The bytes after a few accidents."""
    for _ in range(chance.choice((1, 1, 2, 4))):
        at, to = sorted((chance.randint(0, len(raw)), chance.randint(0, len(raw))))
        match chance.randrange(8):
            case 0 if raw:
                at = min(at, len(raw) - 1)
                raw = raw[:at] + bytes([chance.randrange(256)]) + raw[at + 1 :]
            case 1:
                raw = raw[:at] + raw[to:]
            case 2:
                raw = raw[:to] + raw[at:to] + raw[to:]
            case 3:
                raw = raw[:at] + chance.choice(TOKENS) + raw[at:]
            case 4:
                raw = raw[:at]
            case 5:
                raw = raw[to:] + raw[at:to] + raw[:at]
            case 6:
                raw = raw[:to] + raw[at:to][:64] * chance.choice((2, 150)) + raw[to:]
            case _:
                raw = raw.replace(chance.choice(TOKENS) or b"x", chance.choice(TOKENS), 1)
    return raw


def harm_frames(frames: list[Any], chance: random.Random) -> list[Any]:
    """The frames after some of their values have become others, or changed their places."""
    frames = copy.deepcopy(frames)
    for _ in range(chance.choice((1, 1, 2, 5))):
        if not frames:
            return frames
        at = chance.randrange(len(frames))
        match chance.randrange(6):
            case 0:
                frames.insert(at, copy.deepcopy(chance.choice(frames)))
            case 1:
                del frames[at]
            case 2:
                chance.shuffle(frames)
            case _:
                frames[at] = harm_value(frames[at], chance)
    return frames


def harm_value(value: Any, chance: random.Random, *, stays: float = 0.85) -> Any:
    """The value with something of it replaced, left out or added, at any depth."""
    if not isinstance(value, dict | list) or not value or chance.random() > stays:
        return copy.deepcopy(chance.choice(JUNK))
    if isinstance(value, dict):
        members = cast("dict[str, Any]", value)
        key = chance.choice([*members])
        match chance.randrange(5):
            case 0:
                return {name: one for name, one in members.items() if name != key}
            case 1:
                return {**members, chance.choice((*members, "error", "type", "id")): chance.choice(JUNK)}
            case _:
                return {**members, key: harm_value(members[key], chance)}
    items = cast("list[Any]", value)
    at = chance.randrange(len(items))
    match chance.randrange(4):
        case 0:
            return items[:at] + items[at + 1 :]
        case 1:
            return items * 2
        case _:
            return [*items[:at], harm_value(items[at], chance), *items[at + 1 :]]
