r"""A chat as a Markdown file: front matter, and messages below the headings `## You` and `## Assistant`.

Headings in fenced code separate nothing, and all other headings belong to their message. What in an answer is not the
model's word (thoughts, tool calls, errors) is a note: quoted lines of which the first begins with `> [!ollm]`. Where an
answer has such a line of its own, a backslash stands before it. Every text can be read.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from enum import Enum
from typing import TYPE_CHECKING

from ollm_lsp.core.fence import Fence
from ollm_lsp.core.lines import body, split, usual_ending
from ollm_lsp.core.splices import Splice

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

NOTE = "> [!ollm]"
_HEADING = re.compile(r"##[ \t]+(You|Assistant)[ \t]*", re.IGNORECASE)
_NOTE = re.compile(r">[ \t]?\[!ollm\]", re.IGNORECASE)
_ESCAPABLE = re.compile(rf"\\*(?:{_HEADING.pattern}$|{_NOTE.pattern})", re.IGNORECASE)
_RULE = "---"
_FIELD = re.compile(r"([A-Za-z][\w-]*)[ \t]*:[ \t]*(.*?)[ \t]*")


class Speaker(Enum):
    """Whose message it is, as its heading says."""

    YOU = "You"
    ASSISTANT = "Assistant"

    @property
    def heading(self) -> str:
        return f"## {self.value}"


@dataclass(frozen=True, slots=True)
class Field:
    """A line of the front matter; its value stands from `start` up to `end`."""

    value: str
    line: int
    start: int
    end: int


@dataclass(frozen=True, slots=True)
class ChatMessage:
    """A message and where it stands. Its heading begins at `start`, its text ends at `stop`, the next one at `end`.

    Lines count from 0: the heading is `line`, the text ends in `last_line`. `notes` are the first and last lines of
    each note.
    """

    speaker: Speaker
    text: str
    start: int
    body: int
    stop: int
    end: int
    line: int
    last_line: int
    notes: tuple[tuple[int, int], ...] = ()


@dataclass(frozen=True, slots=True)
class Exchange:
    """A question and its answer, either of which may be missing."""

    question: str = ""
    answer: str = ""


@dataclass(frozen=True, slots=True)
class ChatFile:
    """A file that was read."""

    text: str
    front: Mapping[str, Field] = field(default_factory=dict[str, Field])
    front_end: int = 0
    """Where the closing rule of the front matter begins; 0 when there is none."""
    messages: tuple[ChatMessage, ...] = ()

    def value(self, name: str) -> str | None:
        """What the front matter says, if it says something."""
        found = self.front.get(name)
        return (found.value or None) if found else None

    def message_at(self, line: int) -> ChatMessage | None:
        """The message that a line is in."""
        return next((message for message in reversed(self.messages) if message.line <= line), None)

    def question_at(self, line: int | None = None) -> ChatMessage | None:
        """The question that a line is in, or that is answered there; without a line the last one."""
        last = len(self.messages) if line is None else self.messages_until(line)
        asked = (message for message in reversed(self.messages[:last]) if message.speaker is Speaker.YOU)
        return next(asked, None)

    def messages_until(self, line: int) -> int:
        """How many messages begin at a line or before it."""
        return sum(message.line <= line for message in self.messages)

    def before(self, question: ChatMessage) -> tuple[list[Exchange], str]:
        """What was said before a question, and the question with those right before it that nobody answered."""
        said = self.messages[: self.messages.index(question) + 1]
        exchanges = exchanges_of(said)
        return exchanges[:-1], exchanges[-1].question

    def setting(self, name: str, value: str) -> Splice:
        """The edit that sets a field of the front matter."""
        newline = usual_ending(self.text)
        if found := self.front.get(name):
            space = " " if self.text[found.start - 1] == ":" else ""
            return Splice(found.start, found.end, space + value)
        line = f"{name}: {value}{newline}"
        if self.front_end:
            return Splice(self.front_end, self.front_end, line)
        return Splice(0, 0, f"{_RULE}{newline}{line}{_RULE}{newline}{newline}")


def exchanges_of(messages: Iterable[ChatMessage]) -> list[Exchange]:
    """Messages in pairs. Several of one speaker in a row are one."""
    found: list[tuple[list[str], list[str]]] = []
    for message in messages:
        is_question = message.speaker is Speaker.YOU
        if not found or (is_question and found[-1][1]):
            found.append(([], []))
        found[-1][0 if is_question else 1].append(message.text)
    return [Exchange("\n\n".join(filter(None, asked)), "\n\n".join(filter(None, said))) for asked, said in found]


def parse(text: str) -> ChatFile:
    """Read a file."""
    lines = split(text)
    front, front_end, first = _front(lines)
    starts = [0]
    for line in lines:
        starts.append(starts[-1] + len(line))
    headings = _headings(lines, first)
    if not headings or headings[0][1] is Speaker.ASSISTANT:
        # Who just begins to write, without a heading, asks a question.
        has_words = any(line.strip() for line in lines[first : headings[0][0] if headings else None])
        headings = [(first - 1, Speaker.YOU), *headings] if has_words else headings
    borders = [*(line for line, _ in headings), len(lines)]
    messages = [
        _message(lines, starts, speaker, borders[number], borders[number + 1], max(first, 0))
        for number, (_, speaker) in enumerate(headings)
    ]
    return ChatFile(text, front, front_end, tuple(messages))


def escaped(line: str) -> str:
    """A line of a message that would be taken for a heading or a note, as it has to be written."""
    return f"\\{line}" if _ESCAPABLE.match(line) else line


def may_become_special(line: str) -> bool:
    """Whether the beginning of a line may still become a heading or a note, so that it has to wait for more."""
    return line.lstrip("\\")[:1] in ("#", ">", "")


def written(speaker: Speaker, text: str) -> str:
    """A message as it stands in a file, up to the end of its text."""
    fence = Fence()
    lines = [line if fence.feed(line) else escaped(line) for line in text.split("\n")]
    return "\n".join([speaker.heading, "", *lines, *filter(None, [fence.closing])])


def assemble(front: Mapping[str, str], messages: Sequence[str]) -> str:
    """A whole file of messages as they stand in it."""
    fields = [f"{name}: {value}" for name, value in front.items()]
    head = ["\n".join([_RULE, *fields, _RULE])] if fields else []
    return "\n\n".join([*head, *messages]) + "\n"


def _front(lines: Sequence[str]) -> tuple[dict[str, Field], int, int]:
    """The fields, where the closing rule begins, and the first line below it."""
    if not lines or body(lines[0]).rstrip() != _RULE:
        return {}, 0, 0
    fields: dict[str, Field] = {}
    offset = len(lines[0])
    for number, line in enumerate(lines[1:], 1):
        if body(line).rstrip() == _RULE:
            return fields, offset, number + 1
        if found := _FIELD.fullmatch(body(line)):
            value = found[2]
            quoted = len(value) > 1 and value[0] == value[-1] and value[0] in "\"'"
            place = (number, offset + found.start(2), offset + found.end(2))
            fields.setdefault(found[1].lower(), Field(value[1:-1] if quoted else value, *place))
        offset += len(line)
    return {}, 0, 0


def _headings(lines: Sequence[str], first: int) -> list[tuple[int, Speaker]]:
    fence = Fence()
    found: list[tuple[int, Speaker]] = []
    for number, line in enumerate(map(body, lines[first:]), first):
        if not fence.feed(line) and (heading := _HEADING.fullmatch(line)):
            found.append((number, Speaker(heading[1].title())))
    return found


def _message(
    lines: Sequence[str], starts: Sequence[int], speaker: Speaker, heading: int, end: int, first: int
) -> ChatMessage:
    """The message between two headings; the first may have none, and then begins below the front matter."""
    top = max(heading + 1, first)
    last = end
    while last > top and not lines[last - 1].strip():
        last -= 1
    stop = starts[last - 1] + len(body(lines[last - 1])) if last > top else starts[top] - _ending(lines, top)
    text, notes = _words(lines[top:last], top, has_notes=speaker is Speaker.ASSISTANT)
    begin = max(heading, first)
    last_line = max(last - 1, begin)
    return ChatMessage(speaker, text, starts[begin], starts[top], stop, starts[end], begin, last_line, notes)


def _ending(lines: Sequence[str], top: int) -> int:
    """The length of the line ending before a line."""
    return len(lines[top - 1]) - len(body(lines[top - 1])) if top else 0


def _words(lines: Sequence[str], first: int, *, has_notes: bool) -> tuple[str, tuple[tuple[int, int], ...]]:
    """What the model hears of these lines, and where the notes are."""
    fence = Fence()
    words: list[str] = []
    notes: list[tuple[int, int]] = []
    for number, line in enumerate(map(body, lines), first):
        if notes and notes[-1][1] == number - 1 and (line.startswith(">") or not line.strip()):
            if line.startswith(">"):
                notes[-1] = (notes[-1][0], number)
            continue  # a note ends with a blank line, which is not the model's either
        if fence.feed(line):
            words.append(line)
        elif has_notes and _NOTE.match(line):
            notes.append((number, number))
        else:
            words.append(line[1:] if line.startswith("\\") and _ESCAPABLE.match(line) else line)
    while words and not words[0].strip():
        words.pop(0)
    return "\n".join(words).rstrip(), tuple(notes)
