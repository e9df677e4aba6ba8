"""JSON that somebody else wrote: decoded strictly, looked into with forgiveness."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from math import isinf
from typing import Any, NoReturn, TypeAlias, cast

JsonValue: TypeAlias = "str | int | float | bool | Sequence[JsonValue] | Mapping[str, JsonValue] | None"
JsonObject: TypeAlias = Mapping[str, JsonValue]

MAX_DEPTH = 100
"""A value inside so many others might be decoded here and then fail to be encoded where the stack is higher."""
_BLANKS = " \t\n\r"
"""What may surround a value; `str.strip` would take away more."""


class JsonError(ValueError):
    """The text is not JSON that we accept; the message says why."""


def decode(text: str | bytes) -> Any:
    """Decode JSON in which no two parsers could read different things; every failure is a `JsonError`."""
    try:
        text = (text if isinstance(text, str) else text.decode()).strip(_BLANKS)
        value, end = _decoder.raw_decode(text)
    except RecursionError:
        raise JsonError("nested too deeply") from None
    except ValueError as error:
        raise JsonError(str(error)) from None
    if end < len(text):
        raise JsonError(f"more text after the end of the value (char {end})")
    if text.count("[") + text.count("{") >= MAX_DEPTH:
        _refuse_depth(value)
    return value


def decode_arguments(text: str) -> JsonObject:
    """Decode a tool's arguments: an object whose strings can be paths, file texts and database values."""
    value = decode(text)
    if not isinstance(value, dict):
        raise JsonError("the arguments are not a JSON object")
    arguments = cast("JsonObject", value)
    canonical = json.dumps(arguments, ensure_ascii=False)
    if "\\u0000" in canonical.replace("\\\\", ""):
        raise JsonError("a NUL character in a string")
    try:
        canonical.encode()
    except UnicodeEncodeError:
        raise JsonError("a lone surrogate in a string") from None
    return arguments


def object_in(value: Any) -> dict[str, Any]:
    """The value if it is an object, else an empty one."""
    return cast("dict[str, Any]", value) if isinstance(value, dict) else {}


def list_in(value: Any) -> list[Any]:
    """The value if it is a list, else an empty one."""
    return cast("list[Any]", value) if isinstance(value, list) else []


def text_in(value: Any) -> str:
    """The value if it is a string, else an empty one."""
    return value if isinstance(value, str) else ""


def count_in(value: Any) -> int:
    """The value if it is a sensible count, else 0."""
    return value if type(value) is int and 0 < value < 2**53 else 0


def _refuse_depth(value: Any) -> None:
    level = [value]
    for _ in range(MAX_DEPTH):
        level = [inner for outer in level for inner in (*list_in(outer), *object_in(outer).values())]
    if level:
        raise JsonError("nested too deeply")


def _finite(number: str) -> float:
    value = float(number)
    if isinf(value):
        raise JsonError("a number without limit")
    return value


def _refuse_constant(name: str) -> NoReturn:
    raise JsonError(f"{name} is not JSON")


def _refuse_duplicates(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    members = dict(pairs)
    if len(members) != len(pairs):
        raise JsonError("the same key twice in one object")
    return members


_decoder = json.JSONDecoder(object_pairs_hook=_refuse_duplicates, parse_float=_finite, parse_constant=_refuse_constant)
