"""From frames to bytes, in any of the forms that a format allows."""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from ollm_lsp.core.foreign_json import object_in

if TYPE_CHECKING:
    import random

    from tests.torture.dialects import Dialect, Told

ENDS = ("\n", "\r\n", "\r")
NEWS = (": ping", "id: 7", "retry: 10", ":", "unknown: x", "event:")


@dataclass(frozen=True)
class Stream:
    """The bytes; before `complete_at` there is no complete answer in them."""

    raw: bytes
    complete_at: int


def render(told: Told, dialect: Dialect, chance: random.Random) -> Stream:
    """The frames as a server may write them."""
    end = chance.choice(ENDS)
    is_ascii = chance.random() < 0.5
    parts: list[bytes] = [b"\xef\xbb\xbf"] if chance.random() < 0.1 else []
    complete_at = 0
    for number, frame in enumerate(told.frames):
        text = frame if isinstance(frame, str) else _json(frame, chance, is_ascii=is_ascii, is_sse=dialect.is_sse)
        if dialect.is_sse:
            lines = [chance.choice(NEWS) for _ in range(chance.choice((0, 0, 0, 1)))]
            if dialect.name == "anthropic" and (kind := object_in(frame).get("type")):
                lines.append(f"event: {kind}".replace("\n", " ").replace("\r", " "))
            colon = chance.choice(("data: ", "data:"))
            lines += [colon + line for line in text.split("\n")]
        else:
            lines = [""] * chance.choice((0, 0, 0, 1)) + [text]
        parts.append(end.join(lines).encode("utf-8", "surrogatepass"))
        if number == told.terminal:
            complete_at = sum(map(len, parts))
        parts.append((end * (2 if dialect.is_sse else 1)).encode())
    return Stream(b"".join(parts), complete_at)


def _json(value: Any, chance: random.Random, *, is_ascii: bool, is_sse: bool) -> str:
    try:
        # Several data lines make one event: a newline between two tokens of JSON is as good as a blank.
        indent = chance.choice((None, None, None, 0)) if is_sse else None
        return json.dumps(value, ensure_ascii=is_ascii, indent=indent)
    except (RecursionError, ValueError):
        return "{}"
