"""The incremental parser of ReAct answers: thoughts, tool calls and the final answer, while they stream."""

from __future__ import annotations

from enum import Enum, auto
from typing import TYPE_CHECKING, TypeAlias, assert_never

from ollm_lsp.core.events import ReasoningDelta, TextDelta, ToolCalled
from ollm_lsp.core.growing_text import GrowingText
from ollm_lsp.core.react_action import Action, ActionReader, Misstep, NoAction, named
from ollm_lsp.core.react_label import Label, Labelled, NoLabel, Undecided, label_at
from ollm_lsp.core.tool import ToolCall
from ollm_lsp.core.written_call import fresh_id, offered

if TYPE_CHECKING:
    from collections.abc import Collection

    from ollm_lsp.core.react_label import Verdict

_SPACE = " \t\r\n"
_FENCE = "```"
_ANSWER = "Final Answer:"

ReactEvent: TypeAlias = TextDelta | ReasoningDelta | ToolCalled | Misstep


class _Mode(Enum):
    PLAIN = auto()
    """No label has counted yet: perhaps an answer without any protocol."""
    THOUGHT = auto()
    ACTION = auto()
    CALLED = auto()
    """Behind a complete action."""
    UNCALLED = auto()
    """Behind an action that is none."""
    ANSWER = auto()


class ReactParser:
    """Fed with the deltas of one answer. However the answer is cut, the same comes out; only deltas end elsewhere.

    Behind an action only another action is read. Whatever else stands there was written without knowing the result,
    so that the answer `is_over` and its stream can be closed. A final answer goes on to the end, whatever is in it.
    """

    def __init__(self, names: Collection[str], taken: Collection[str] = ()) -> None:
        self.is_over = False
        self._names = names
        self._taken = set(taken)
        self._text = GrowingText()
        self._mode = _Mode.PLAIN
        self._is_line_start = True
        self._is_fenced = False
        self._has_spoken = False
        self._gap = ""
        """Space that is shown when something follows it."""
        self._reader = ActionReader(self._text, names)
        self._actions: list[Action] = []
        self._events: list[ReactEvent] = []

    def feed(self, delta: str) -> list[ReactEvent]:
        """What is new."""
        self._text.feed(delta)
        return self._run()

    def close(self) -> list[ReactEvent]:
        """What is left when the model has ended."""
        self._text.is_whole = True
        events = self._run()
        if self._mode is _Mode.PLAIN and self._gap:
            events.append(TextDelta(self._gap))
        self.is_over = True
        return events

    @property
    def written(self) -> str:
        """The thoughts and actions as the model wrote them."""
        return self._text.kept

    def _run(self) -> list[ReactEvent]:
        while not self.is_over and self._step():
            pass
        events, self._events = self._events, []
        return events

    def _step(self) -> bool:
        """Read a piece; false when the next one has not come."""
        match self._mode:
            case _Mode.PLAIN | _Mode.THOUGHT:
                return self._read_prose()
            case _Mode.ACTION:
                return self._read_action()
            case _Mode.CALLED:
                return self._read_on()
            case _Mode.UNCALLED:
                return self._read_past()
            case _Mode.ANSWER:
                self._show(self._text.read())
                return False
            case _:
                assert_never(self._mode)

    def _read_prose(self) -> bool:
        if not self._text:
            return False
        if not self._is_line_start:
            return self._read_line()
        match self._verdict():
            case Undecided():
                return False
            case NoLabel():
                self._is_line_start = False
            case Labelled(label, size):
                self._begin(label, size)
        return True

    def _read_line(self) -> bool:
        """The rest of a line. Small models often write their answer into the line of the thought."""
        end = self._text.find("\n")
        line = self._text.peek(len(self._text) if end is None else end + 1)
        if self._mode is _Mode.THOUGHT:
            before, answer, _ = line.partition(_ANSWER)
            if answer:
                self._show(self._text.read(len(before)))
                self._begin(Label.ANSWER, len(_ANSWER))
                return True
            line = line if self._text.is_whole else line[: len(line) - _begun(line, _ANSWER)]
        self._is_line_start = line.endswith("\n")
        self._show(self._text.read(len(line)))
        return line != ""

    def _verdict(self) -> Verdict:
        """Which label begins the line, if any that counts here."""
        if self._mode is _Mode.THOUGHT:
            return label_at(self._text)
        start = self._text.peek(40)
        bare = start.lstrip(" ")[: len(_FENCE)]
        if bare != _FENCE and _FENCE.startswith(bare) and len(start) < 40 and not self._text.is_whole:
            return Undecided()
        if bare == _FENCE:
            self._is_fenced = not self._is_fenced
        if self._is_fenced:
            return NoLabel()
        verdict = label_at(self._text)
        match verdict:
            case Labelled(Label.OBSERVATION | Label.INPUT):
                return NoLabel()  # a report has such lines too
            case Labelled(Label.ACTION, size) if self._has_spoken:
                return self._named_action(size)
            case _:
                return verdict

    def _named_action(self, size: int) -> Verdict:
        """In the middle of a plain answer, only a line that names a tool is an action."""
        end = self._text.find("\n")
        if end is None and not self._text.is_whole:
            return Undecided()
        line = self._text.peek(len(self._text) if end is None else end)[size:]
        return Labelled(Label.ACTION, size) if offered(named(line.partition("{")[0]), self._names) else NoLabel()

    def _begin(self, label: Label, size: int) -> None:
        self._text.keeps = label is not Label.ANSWER
        match label:
            case Label.THOUGHT:
                self._gap = "\n" if self._mode is _Mode.THOUGHT and self._has_spoken else ""
                self._mode, self._has_spoken, self._is_line_start = _Mode.THOUGHT, False, False
            case Label.ANSWER:
                self._gap = ""
                self._mode, self._has_spoken = _Mode.ANSWER, False
            case Label.ACTION:
                self._gap = ""
                self._mode, self._reader = _Mode.ACTION, ActionReader(self._text, self._names)
            case Label.INPUT:
                self._end(Misstep("An Action Input needs the line with its Action before it."))
            case Label.OBSERVATION:
                self._end()
                return
            case _:
                assert_never(label)
        self._text.read(size)

    def _read_action(self) -> bool:
        outcome = self._reader.read()
        match outcome:
            case None:
                return False
            case NoAction():
                self._mode = _Mode.UNCALLED
            case Misstep():
                self._end(outcome)
            case Action() if outcome in self._actions:
                self._end()  # it has begun to repeat itself
            case Action(name, arguments):
                self._actions.append(outcome)
                call = ToolCall(fresh_id(self._taken), name, arguments)
                self._taken.add(call.id)
                self._events.append(ToolCalled(call))
                self._mode = _Mode.CALLED
        return True

    def _read_on(self) -> bool:
        self._text.skip(_SPACE + "`)]")
        if not self._text:
            return False
        match label_at(self._text):
            case Undecided():
                return False
            case Labelled(Label.ACTION as label, size):
                self._begin(label, size)
            case Labelled() | NoLabel():
                self._end()
        return True

    def _read_past(self) -> bool:
        """Pass over the input of no action; what follows is read as if it had not been there."""
        self._text.skip(_SPACE)
        if not self._text:
            return False
        match label_at(self._text):
            case Undecided():
                return False
            case Labelled(Label.INPUT):
                return self._text.read_whole_line() is not None
            case Labelled() | NoLabel() if self._actions:
                self._end()
            case Labelled() | NoLabel():
                self._mode, self._is_line_start, self._has_spoken = _Mode.PLAIN, True, False
                self._text.keeps = False
        return True

    def _show(self, text: str) -> None:
        """Pass prose on; space around it waits for what it separates, and behind a label it is left out."""
        if not self._has_spoken and self._mode is not _Mode.PLAIN:
            text = text.lstrip()
        body = text.rstrip()
        if not body:
            self._gap += text
            return
        shown, self._gap = self._gap + body, text[len(body) :]
        self._has_spoken = True
        self._events.append(ReasoningDelta(shown) if self._mode is _Mode.THOUGHT else TextDelta(shown))

    def _end(self, misstep: Misstep | None = None) -> None:
        if misstep:
            self._events.append(misstep)
        self.is_over = True


def _begun(line: str, word: str) -> int:
    """How much of a word the line ends with."""
    return next((size for size in range(len(word) - 1, 0, -1) if line.endswith(word[:size])), 0)
