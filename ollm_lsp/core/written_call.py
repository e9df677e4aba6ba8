"""Tool calls that a model wrote into its answer as text, and what such an answer looks like while it grows.

The answer is one JSON object, bare or in a code fence, or one or more of them in `<tool_call>` tags, and nothing else.
An object holds the `name` of a tool and its `arguments` or `parameters`, and at most an `id` and a `type` beside them.
"""

from __future__ import annotations

import json
import re
from typing import TYPE_CHECKING, Any, cast

from ollm_lsp.core.foreign_json import JsonError, decode, decode_arguments
from ollm_lsp.core.json_extent import JsonExtent
from ollm_lsp.core.tool import ToolCall

if TYPE_CHECKING:
    from collections.abc import Collection, Generator, Iterable, Sequence

    from ollm_lsp.core.foreign_json import JsonObject
    from ollm_lsp.core.messages import Message
    from ollm_lsp.core.ports import Fits
    from ollm_lsp.core.tool import ToolSpec

_SPACE = " \t\r\n"
_OPEN, _CLOSE, _FENCE, _LANGUAGE = "<tool_call>", "</tool_call>", "```", "json"
_FENCED = re.compile(rf"{_FENCE}(?:{_LANGUAGE})?[ \t\r\n]*(\{{.*\}})[ \t\r\n]*{_FENCE}", re.DOTALL)
_ARGUMENTS = {"arguments", "parameters"}
_BESIDE = {"id", "type"}
_KEYS = {"name", *_ARGUMENTS, *_BESIDE}


def written_calls(text: str, tools: Sequence[ToolSpec], fits: Fits, taken: Iterable[str] = ()) -> list[ToolCall]:
    """The calls that the whole text is; none when it is anything else. Their ids are none of those taken."""
    taken = set(taken)
    calls: list[ToolCall] = []
    for body in _bodies(text.strip(_SPACE)):
        call = _call(body, tools, fits)
        if call is None:
            return []
        calls.append(ToolCall(fresh_id(taken), *call))
        taken.add(calls[-1].id)
    return calls


def read_object(text: str, names: Collection[str]) -> tuple[str, JsonObject] | None:
    """The name of an offered tool and the arguments, from an object that holds both."""
    try:
        value = decode(text)
        if not isinstance(value, dict):
            return None
        members = cast("dict[str, Any]", value)
        given = _ARGUMENTS & members.keys()
        name = members.get("name")
        if not isinstance(name, str) or len(given) != 1 or members.keys() - _KEYS:
            return None
        arguments = members[given.pop()]
        arguments = decode_arguments(arguments if isinstance(arguments, str) else json.dumps(arguments))
    except JsonError:
        return None
    known = offered(name, names)
    return None if known is None else (known, arguments)


def offered(name: str, names: Collection[str]) -> str | None:
    """The tool that a name means: that one, or the only one that differs in case, hyphens and underscores alone."""
    if name in names:
        return name
    alike = [known for known in names if _plain(known) == _plain(name)]
    return alike[0] if len(alike) == 1 else None


def call_ids(messages: Iterable[Message]) -> set[str]:
    """The ids of all calls in some messages."""
    return {part.id for message in messages for part in message.parts if isinstance(part, ToolCall)}


def fresh_id(taken: Collection[str]) -> str:
    """An id for a call that came without one."""
    number = len(taken)
    while (call_id := f"written_{number}") in taken:
        number += 1
    return call_id


class CallWatch:
    """Tells, as an answer grows, whether it could still become nothing but calls."""

    def __init__(self, names: Collection[str]) -> None:
        self._reader = _answer(names)
        self.is_possible = True
        next(self._reader)

    def feed(self, text: str) -> bool:
        for character in text:
            if not self.is_possible:
                break
            try:
                self._reader.send(character)
            except _NotACall:
                self.is_possible = False
        return self.is_possible


def _bodies(text: str) -> list[str]:
    """The objects of an answer, or nothing when it is not made of objects."""
    if text.startswith("{"):
        return [text]
    if fenced := _FENCED.fullmatch(text):
        return [fenced[1]]
    bodies: list[str] = []
    while text.startswith(_OPEN):
        text = text[len(_OPEN) :].lstrip(_SPACE)
        end = JsonExtent().feed(text) if text.startswith("{") else None
        if end is None:
            return []
        bodies.append(text[:end])
        text = text[end:].lstrip(_SPACE)
        # Small models forget the last tag.
        if text and not text.startswith(_CLOSE):
            return []
        text = text[len(_CLOSE) :].lstrip(_SPACE)
    return [] if text else bodies


def _call(body: str, tools: Sequence[ToolSpec], fits: Fits) -> tuple[str, JsonObject] | None:
    specs = {tool.name: tool for tool in tools}
    call = read_object(body, specs)
    return call if call is not None and fits(specs[call[0]].parameters, call[1]) is None else None


def _plain(name: str) -> str:
    return name.casefold().replace("-", "_")


class _NotACall(Exception):
    """What has been read cannot be the beginning of a call."""


# The grammar of an answer that is nothing but calls. Each rule is given the first character that it may look at, asks
# for more with `yield`, and returns the first character that is not its own.


def _answer(names: Collection[str]) -> Generator[None, str, None]:
    character = yield from _space((yield))
    match character:
        case "{":
            character = yield from _object(character, names)
        case "`":
            character = yield from _word(character, _FENCE)
            if character == _LANGUAGE[0]:
                character = yield from _word(character, _LANGUAGE)
            character = yield from _space(character)
            character = yield from _object(character, names)
            character = yield from _space(character)
            character = yield from _word(character, _FENCE)
        case _:
            while character == "<":
                character = yield from _word(character, _OPEN)
                character = yield from _space(character)
                character = yield from _object(character, names)
                character = yield from _space(character)
                character = yield from _word(character, _CLOSE)
                character = yield from _space(character)
    yield from _space(character)
    raise _NotACall


def _object(character: str, names: Collection[str]) -> Generator[None, str, str]:
    character = yield from _word(character, "{")
    while True:
        character = yield from _space(character)
        key, character = yield from _string(character, _KEYS)
        character = yield from _space(character)
        character = yield from _word(character, ":")
        character = yield from _space(character)
        if key == "name":
            _, character = yield from _string(character, names, alike=True)
        else:
            character = yield from _value(character)
        character = yield from _space(character)
        if character != ",":
            return (yield from _word(character, "}"))
        character = yield


def _string(character: str, allowed: Collection[str], *, alike: bool = False) -> Generator[None, str, tuple[str, str]]:
    """A string that is one of those allowed. Whoever escapes a letter in it means something else."""
    text = ""
    character = yield from _word(character, '"')
    while character != '"':
        text += character
        # A letter may be three when its case is folded.
        if character == "\\" or len(text) > 3 * max(map(len, allowed), default=0):
            raise _NotACall
        character = yield
    if (offered(text, allowed) if alike else text) not in allowed:
        raise _NotACall
    return text, (yield)


def _value(character: str) -> Generator[None, str, str]:
    """Any value; only brackets and quotes are looked at."""
    if character in "{[":
        extent = JsonExtent()
        while extent.feed(character) is None:
            character = yield
        return (yield)
    if character == '"':
        while (character := (yield)) != '"':
            if character == "\\":
                yield
        return (yield)
    while character not in f",}}{_SPACE}":
        character = yield
    return character


def _space(character: str) -> Generator[None, str, str]:
    while character in _SPACE:
        character = yield
    return character


def _word(character: str, word: str) -> Generator[None, str, str]:
    for expected in word:
        if character != expected:
            raise _NotACall
        character = yield
    return character
