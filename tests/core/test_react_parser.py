"""The ReAct parser: what a model without tools writes becomes thoughts, calls and an answer, while it streams."""

from __future__ import annotations

import json
from dataclasses import dataclass
from itertools import pairwise
from typing import TYPE_CHECKING

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from ollm_lsp.core.events import ReasoningDelta, TextDelta, ToolCalled
from ollm_lsp.core.foreign_json import JsonError, decode_arguments
from ollm_lsp.core.react_action import Misstep
from ollm_lsp.core.react_parser import ReactEvent, ReactParser
from ollm_lsp.core.tool import ToolCall
from tests.core.values import patient

if TYPE_CHECKING:
    from ollm_lsp.core.foreign_json import JsonObject

NAMES = ("read_file", "list", "grep")


@dataclass(frozen=True)
class Read:
    """What came out, with deltas of a kind joined."""

    events: tuple[ReactEvent, ...]
    is_over: bool
    written: str


def joined(events: list[ReactEvent]) -> tuple[ReactEvent, ...]:
    whole: list[ReactEvent] = []
    for event in events:
        last = whole[-1] if whole else None
        if isinstance(event, TextDelta) and isinstance(last, TextDelta):
            whole[-1] = TextDelta(last.text + event.text)
        elif isinstance(event, ReasoningDelta) and isinstance(last, ReasoningDelta):
            whole[-1] = ReasoningDelta(last.text + event.text)
        else:
            whole.append(event)
    return tuple(whole)


def read(*deltas: str) -> Read:
    parser = ReactParser(NAMES)
    events = [event for delta in deltas for event in parser.feed(delta)]
    is_over = parser.is_over
    return Read(joined(events + parser.close()), is_over, parser.written)


def thought(text: str) -> ReasoningDelta:
    return ReasoningDelta(text)


def answer(text: str) -> TextDelta:
    return TextDelta(text)


def call(name: str = "read_file", arguments: JsonObject | None = None, number: int = 0) -> ToolCalled:
    return ToolCalled(ToolCall(f"written_{number}", name, {"path": "a"} if arguments is None else arguments))


INPUT = 'Action Input: {"path": "a"}'
ACTION = f"Action: read_file\n{INPUT}"

GOOD: dict[str, tuple[str, list[ReactEvent]]] = {
    "a call": (f"Thought: I look.\n{ACTION}", [thought("I look."), call()]),
    "a call and a line end": (f"Thought: I look.\n{ACTION}\n", [thought("I look."), call()]),
    "an answer": ("Thought: I know.\nFinal Answer: It is 42.", [thought("I know."), answer("It is 42.")]),
    "an answer of several lines": ("Final Answer: one\n\n- two\n", [answer("one\n\n- two")]),
    "an answer on the next line": ("Final Answer:\n\none", [answer("one")]),
    "an answer in the line of its thought": (
        "Thought: I know the Final Answer. Final Answer: 42\nyes",
        [thought("I know the Final Answer."), answer("42\nyes")],
    ),
    "an answer in bold": ("Final Answer: **42**", [answer("**42**")]),
    "an answer with labels in it": (
        f"Final Answer: So:\nThought: x\n{ACTION}\nObservation: y",
        [answer(f"So:\nThought: x\n{ACTION}\nObservation: y")],
    ),
    "no thought": (ACTION, [call()]),
    "a thought without its label": (f"I have to look.\n\n{ACTION}", [answer("I have to look."), call()]),
    "thoughts of several lines": (f"Thought: one\ntwo\n\nthree\n{ACTION}", [thought("one\ntwo\n\nthree"), call()]),
    "two thoughts": (f"Thought: one\nThought: two\n{ACTION}", [thought("one\ntwo"), call()]),
    "JSON of several lines": ('Action: read_file\nAction Input: {\n  "path": "a"\n}\n', [call()]),
    "JSON on the next line": ('Action: read_file\nAction Input:\n{"path": "a"}', [call()]),
    "JSON in a fence": ('Action: read_file\nAction Input: ```json\n{"path": "a"}\n```', [call()]),
    "JSON in a fence below": ('Action: read_file\nAction Input:\n```\n{\n"path": "a"}\n```\n', [call()]),
    "JSON in backticks": ('Action: read_file\nAction Input: `{"path": "a"}`', [call()]),
    "JSON without its label": ('Action: read_file\n{"path": "a"}', [call()]),
    "JSON behind the name": ('Action: read_file {"path": "a"}', [call()]),
    "everything in one line": ('Action: read_file, Action Input: {"path": "a"}', [call()]),
    "like a function": ('Action: read_file({"path": "a"})', [call()]),
    "the call as one object": ('Action: {"name": "read_file", "arguments": {"path": "a"}}', [call()]),
    "the call as one object in a fence": (
        'Action:\n```json\n{"name": "read_file", "parameters": {"path": "a"}}\n```',
        [call()],
    ),
    "the name on the next line": (f"Action:\nread_file\n{INPUT}", [call()]),
    "the name in backticks": (f"Action: `read_file`\n{INPUT}", [call()]),
    "the name in another case": (f"Action: Read-File\n{INPUT}", [call()]),
    "JSON in a string": ('Action: read_file\nAction Input: "{\\"path\\": \\"a\\"}"', [call()]),
    "brackets in strings": (
        'Action: read_file\nAction Input: {"path": "}{\\"]", "n": [{}]}\n',
        [call(arguments={"path": '}{"]', "n": [{}]})],
    ),
    "no input": ("Thought: I list.\nAction: list", [thought("I list."), call("list", {})]),
    "no input and an observation": ("Action: list\nObservation: a, b", [call("list", {})]),
    "the input is the word none": ("Action: list\nAction Input: None\n", [call("list", {})]),
    "two calls": (f"{ACTION}\nAction: list\nAction Input: {{}}", [call(), call("list", {}, 1)]),
    "a call without input, then another": (f"Action: list\n{ACTION}", [call("list", {}), call(number=1)]),
    "labels in bold": (
        '**Thought:** hm\n**Action:** read_file\n**Action Input**: {"path": "a"}',
        [thought("hm"), call()],
    ),
    "labels as headings": ("### Thought: hm\n## Final Answer:\nyes", [thought("hm"), answer("yes")]),
    "labels in another case": ("THOUGHT: hm\nfinal answer: yes", [thought("hm"), answer("yes")]),
    "windows line ends": (
        'Thought: hm\r\nAction: read_file\r\nAction Input: {"path": "a"}\r\n',
        [thought("hm"), call()],
    ),
    "action none": ("Thought: I know.\nAction: none\nFinal Answer: yes", [thought("I know."), answer("yes")]),
    "action none with an input": ("Action: None\nAction Input: N/A\nFinal Answer: yes", [answer("yes")]),
    "action none and a plain answer": (
        "Thought: I know.\nAction: None.\nIt is yes.",
        [thought("I know."), answer("It is yes.")],
    ),
    "a plain answer": (" It is 42.\n", [answer(" It is 42.\n")]),
    "a plain answer with a list": ("* Action\n* Thought\n", [answer("* Action\n* Thought\n")]),
    "a report": ("Observation: red\nAction Input: x\n", [answer("Observation: red\nAction Input: x\n")]),
    "a report with an action": ("State: bad\nAction: restart it\n", [answer("State: bad\nAction: restart it\n")]),
    "an example in a fence": (f"So:\n```\n{ACTION}\n```\n", [answer(f"So:\n```\n{ACTION}\n```\n")]),
    "an example in a fence first": (f"```\nThought: a\n{ACTION}\n```", [answer(f"```\nThought: a\n{ACTION}\n```")]),
    "an example in a quote": ("> Thought: a\n> Action: list\n", [answer("> Thought: a\n> Action: list\n")]),
    "an example in a sentence": ("Write Action: list to list.", [answer("Write Action: list to list.")]),
    "nothing": ("", []),
    "only space": (" \n", [answer(" \n")]),
    "only a thought": ("Thought: I wonder.\n", [thought("I wonder.")]),
}
CUT: dict[str, tuple[str, list[ReactEvent]]] = {
    "an observation of its own": (f"{ACTION}\nObservation: the file is empty", [call()]),
    "an answer without the result": (f"{ACTION}\nFinal Answer: empty", [call()]),
    "a thought about the result": (f"{ACTION}\nThought: So it is empty.\nAction: list\n", [call()]),
    "prose about the result": (f"{ACTION}\nThe file is empty.", [call()]),
    "the same call again": (f"{ACTION}\n{ACTION}\n", [call()]),
    "an observation without a call": ("Thought: hm\nObservation: yes\n", [thought("hm")]),
    "prose in place of the input": ("Action: list\nI wait now.", [call("list", {})]),
}
BAD: dict[str, tuple[str, str]] = {
    "no such tool": (
        "Thought: x\nAction: write_file\nAction Input: {}",
        "There is no tool 'write_file'. The tools are: ",
    ),
    "no such tool at once": (
        "Action: write_file\n",
        "There is no tool 'write_file'. The tools are: read_file, list, grep.",
    ),
    "no name": ("Action:\n", "An Action needs the name of a tool."),
    "an object without a name": ('Action: {"path": "a"}', "An Action needs the name of a tool."),
    "an input without an action": (f"Thought: x\n{INPUT}", "An Action Input needs the line with its Action before it."),
    "words for an input": ("Action: read_file\nAction Input: a.py\n", "The Action Input is not a JSON object"),
    "a list for an input": ('Action: read_file\nAction Input: ["a"]\n', "The Action Input is not a JSON object"),
    "single quotes": ("Action: read_file\nAction Input: {'path': 'a'}", "The Action Input is not JSON: "),
    "the same key twice": (
        'Action: read_file\nAction Input: {"a": 1, "a": 2}',
        "The Action Input is not JSON: the same key",
    ),
    "a line break in a string": ('Action: read_file\nAction Input: {"path": "a\nb"}', "The Action Input is not JSON: "),
    "an open object": (
        'Action: read_file\nAction Input: {"path": "a"',
        "The Action Input ends before its last bracket.",
    ),
    "an open object and an observation": (
        'Action: read_file\nAction Input: {"path": "a"\nObservation: {}}',
        "The Action Input ends before its last bracket.",
    ),
    "a good call and a bad one": (f"{ACTION}\nAction: write\n", "There is no tool 'write'."),
}


@pytest.mark.prop("core-18")
@pytest.mark.parametrize("name", GOOD)
def test_it_reads(name: str) -> None:
    text, events = GOOD[name]
    assert read(text).events == tuple(events)


@pytest.mark.prop("core-18")
@pytest.mark.parametrize("name", CUT)
def test_it_ends_an_answer_at(name: str) -> None:
    text, events = CUT[name]
    assert read(f"{text}\n") == Read(tuple(events), True, read(text).written)


@pytest.mark.prop("core-19")
@pytest.mark.parametrize("name", BAD)
def test_it_tells_what_is_wrong_with(name: str) -> None:
    text, problem = BAD[name]
    misstep = read(text).events[-1]
    assert isinstance(misstep, Misstep)
    assert misstep.problem.startswith(problem)


EVERY = [text for text, _ in (*GOOD.values(), *CUT.values(), *BAD.values())]


@pytest.mark.prop("core-18")
def test_wherever_an_answer_is_cut_the_same_comes_out() -> None:
    for text in EVERY:
        whole = read(text)
        assert read(*text) == whole, text
        for at in range(len(text) + 1):
            assert read(text[:at], text[at:]) == whole, (text[:at], text[at:])


PIECES = [
    *(
        "Thought:",
        "Fi",
        "Action:",
        "Action Input:",
        "Observation:",
        "Final Answer:",
        "**",
        "_",
        "#",
        " ",
        "\n",
        "```",
        "`",
    ),
    *("{", "}", '"', "\\", ":", "[", "none", "read_file", "list", '{"path": "a"}', "x", "json", "Th", "é", ACTION),
]


@pytest.mark.prop("core-18")
@patient
@given(st.lists(st.sampled_from(PIECES), max_size=14), st.data())
@example(["**", "Thought:", "x"], None)
def test_however_any_answer_is_cut_the_same_comes_out(pieces: list[str], data: st.DataObject | None) -> None:
    text = "".join(pieces)
    cuts = data.draw(st.sets(st.integers(0, len(text)))) if data else set[int]()
    deltas = [text[begin:end] for begin, end in pairwise(sorted({0, len(text), *cuts}))]
    assert read(*deltas) == read(text) == read(*text)


@pytest.mark.prop("core-21")
@patient
@given(st.lists(st.sampled_from(PIECES), max_size=14))
def test_a_final_answer_is_text_to_its_end_whatever_is_in_it(pieces: list[str]) -> None:
    text = "".join(pieces)
    answered = (answer(text.strip()),) if text.strip() else ()
    assert read(f"Thought: hm\nFinal Answer: {text}\n").events == (thought("hm"), *answered)


@pytest.mark.prop("core-19")
@patient
@given(st.text('a{}"\\:, 1', max_size=12))
@example('{"a": 1}')
@example('"{}"')
@example('{"a": 1} and')
def test_an_input_is_run_only_when_it_is_a_json_object(text: str) -> None:
    (event,) = read(f"Action: list\nAction Input: {text}\n").events
    if isinstance(event, Misstep):
        with pytest.raises(JsonError):
            decode_arguments(text)
    else:
        value = json.JSONDecoder().raw_decode(text.strip() or "{}")[0]
        assert event == call("list", json.loads(value) if isinstance(value, str) else value)


@pytest.mark.prop("core-18")
@patient
@given(st.text("ab:* \n`{}", max_size=40))
def test_an_answer_without_any_label_comes_through_unchanged(text: str) -> None:
    assert read(text).events == ((TextDelta(text),) if text else ())
    assert read(*text).events == read(text).events


@pytest.mark.prop("core-18")
def test_the_answer_and_the_thoughts_are_shown_while_they_stream() -> None:
    parser = ReactParser(NAMES)
    assert parser.feed("Thought: I") == [ReasoningDelta("I")]
    assert parser.feed(" see") == [ReasoningDelta(" see")]
    assert parser.feed("\nFinal An") == []
    assert parser.feed("swer: 4") == [TextDelta("4")]
    assert parser.feed("2") == [TextDelta("2")]


def test_a_plain_answer_is_shown_at_once() -> None:
    parser = ReactParser(NAMES)
    assert parser.feed("It") == [TextDelta("It")]
    assert parser.feed(" is") == [TextDelta(" is")]
    assert parser.feed(" so.\nBut") == [TextDelta(" so."), TextDelta("\nBut")]


@pytest.mark.prop("core-18")
def test_a_call_is_told_as_soon_as_its_last_bracket_is_there() -> None:
    parser = ReactParser(NAMES)
    assert parser.feed(ACTION[:-1]) == []
    assert parser.feed("}") == [call()]


def test_ids_that_are_taken_are_not_given_again() -> None:
    parser = ReactParser(NAMES, {"written_1", "written_2"})
    ids = [
        event.call.id
        for event in parser.feed(f"{ACTION}\nAction: list\n") + parser.close()
        if isinstance(event, ToolCalled)
    ]
    assert len({*ids, "written_1", "written_2"}) == 4


def test_what_was_written_ends_where_the_answer_was_over() -> None:
    text = f"Thought: hm\n{ACTION}\n"
    assert read(f"{text}Observation: x\n").written == text
    assert read("Thought: hm\nObservation: x").written == "Thought: hm\n"
    assert read(f"Sure.\n{ACTION}").written == ACTION
