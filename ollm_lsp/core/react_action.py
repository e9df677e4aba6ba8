"""One action of a ReAct answer: the name of a tool and its input, in the many ways in which small models write them."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from enum import Enum, auto
from typing import TYPE_CHECKING, TypeAlias, assert_never

from ollm_lsp.core.foreign_json import JsonError, decode, decode_arguments
from ollm_lsp.core.json_extent import JsonExtent
from ollm_lsp.core.react_label import Label, Labelled, NoLabel, Undecided, label_at
from ollm_lsp.core.written_call import offered, read_object

if TYPE_CHECKING:
    from collections.abc import Collection

    from ollm_lsp.core.foreign_json import JsonObject
    from ollm_lsp.core.growing_text import GrowingText

_SPACE = " \t\r\n"
_AROUND_NAME = " \t\r`*_\"'()[]<>:.,"
_BEHIND_NAME = re.compile(r"[ \t,]*\baction[ _]input\b.*", re.IGNORECASE | re.DOTALL)
_NOTHING = {"none", "no action", "n/a", "null", "nothing"}
_FENCE = re.compile(r"`+[a-z]*(?=[^a-z`])", re.IGNORECASE)
_UNCLOSED = "The Action Input ends before its last bracket."
_NAMELESS = "An Action needs the name of a tool."


@dataclass(frozen=True, slots=True)
class Action:
    """A complete action."""

    name: str
    arguments: JsonObject = field(hash=False)


@dataclass(frozen=True, slots=True)
class NoAction:
    """The model says that it needs no tool."""


@dataclass(frozen=True, slots=True)
class Misstep:
    """The model broke the rules; `problem` tells it how."""

    problem: str


Outcome: TypeAlias = Action | NoAction | Misstep


class _Stage(Enum):
    NAME = auto()
    INPUT = auto()
    OBJECT = auto()
    WORDS = auto()


class ActionReader:
    """Reads what stands behind `Action:`, until it has an outcome."""

    def __init__(self, text: GrowingText, names: Collection[str]) -> None:
        self.outcome: Outcome | None = None
        self._text = text
        self._names = names
        self._stage = _Stage.NAME
        self._name: str | None = None
        self._is_labelled = False
        self._is_line_start = False
        self._object: list[str] = []
        self._extent = JsonExtent()

    def read(self) -> Outcome | None:
        """The outcome, or nothing while the text does not tell it."""
        while self.outcome is None and self._step():
            pass
        return self.outcome

    def _step(self) -> bool:
        """Read a piece; false when the next one has not come."""
        match self._stage:
            case _Stage.NAME:
                return self._read_name()
            case _Stage.INPUT:
                return self._read_input()
            case _Stage.OBJECT:
                return self._read_object()
            case _Stage.WORDS:
                return self._read_words()
            case _:
                assert_never(self._stage)

    def _read_name(self) -> bool:
        line_end, brace = self._text.find("\n"), self._text.find("{")
        has_brace = brace is not None and (line_end is None or brace < line_end)
        written = self._text.read(brace) if has_brace else self._text.read_whole_line()
        if written is None:
            return False
        name = named(written)
        self._stage = _Stage.OBJECT if has_brace else _Stage.INPUT
        if name.casefold() in ("", "json"):  # a fence, or the name on the next line
            self._stage = _Stage.OBJECT if has_brace else _Stage.NAME
            if not self._text:
                self.outcome = Misstep(_NAMELESS) if self._text.is_whole else None
                return False
        elif name.casefold() in _NOTHING:
            self.outcome = NoAction()
        else:
            self._name = offered(name, self._names) or offered(re.split(r"[\s(\[<:,]", name)[0], self._names)
            if self._name is None:
                self.outcome = Misstep(f"There is no tool '{name[:80]}'. The tools are: {', '.join(self._names)}.")
        return True

    def _read_input(self) -> bool:
        self._text.skip(_SPACE)
        match self._text.peek(1):
            case "":
                if self._text.is_whole:
                    self._finish({})
                return False
            case "{":
                self._stage = _Stage.OBJECT
            case "`":
                fence = _FENCE.match(self._text.peek(40))
                if fence is None and len(self._text) < 40 and not self._text.is_whole:
                    return False
                self._text.read(fence.end() if fence else 1)
            case _:
                return self._read_label()
        return True

    def _read_label(self) -> bool:
        match label_at(self._text):
            case Undecided():
                return False
            case Labelled(Label.INPUT, size) if not self._is_labelled:
                self._text.read(size)
                self._is_labelled = True
            case NoLabel() if self._is_labelled:
                self._stage = _Stage.WORDS
            case Labelled() | NoLabel():
                self._finish({})
        return True

    def _read_object(self) -> bool:
        if not self._text:
            self.outcome = Misstep(_UNCLOSED) if self._text.is_whole else None
            return False
        if self._is_line_start:
            # No line of JSON begins with a label: the model has gone on without closing its object.
            verdict = label_at(self._text)
            if not isinstance(verdict, NoLabel):
                self.outcome = Misstep(_UNCLOSED) if isinstance(verdict, Labelled) else None
                return False
        end = self._text.find("\n")
        line = self._text.peek(len(self._text) if end is None else end + 1)
        size = self._extent.feed(line)
        self._is_line_start = end is not None
        self._object.append(self._text.read(len(line) if size is None else size))
        if size is not None:
            self._finish_object("".join(self._object))
        return True

    def _finish_object(self, text: str) -> None:
        if self._name is None:
            call = read_object(text, self._names)
            self.outcome = Misstep(_NAMELESS) if call is None else Action(*call)
            return
        try:
            self._finish(decode_arguments(text))
        except JsonError as error:
            self.outcome = Misstep(f"The Action Input is not JSON: {error}. A line break inside a string is \\n.")

    def _read_words(self) -> bool:
        """An input that does not begin as an object: the word `none`, or an object inside of a string."""
        line = self._text.read_whole_line()
        if line is None:
            return False
        words = line.strip(" \t\r`")
        try:
            inner = decode(words) if words.casefold() not in _NOTHING else "{}"
            self._finish(decode_arguments(inner if isinstance(inner, str) else words))
        except JsonError:
            self.outcome = Misstep('The Action Input is not a JSON object, such as {"key": "value"}.')
        return True

    def _finish(self, arguments: JsonObject) -> None:
        self.outcome = Misstep(_NAMELESS) if self._name is None else Action(self._name, arguments)


def named(line: str) -> str:
    """The name in a line, without what models put around it."""
    return _BEHIND_NAME.sub("", line).strip(_AROUND_NAME)
