"""Calls written as text: recognised when they are the whole answer, and in no other case."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ollm_lsp.core.fit import any_object
from ollm_lsp.core.json_extent import JsonExtent
from ollm_lsp.core.tool import ToolSpec
from ollm_lsp.core.written_call import CallWatch, fresh_id, offered, written_calls
from tests.core.values import patient

if TYPE_CHECKING:
    from ollm_lsp.core.foreign_json import JsonObject

TOOLS = tuple(ToolSpec(name, "", {"required": ["path"]}) for name in ("read_file", "Grep", "two-words"))
NAMES = [tool.name for tool in TOOLS]
BODY = '{"name": "read_file", "arguments": {"path": "a"}}'
CALL = ("read_file", {"path": "a"})

CALLS: dict[str, tuple[str, list[tuple[str, JsonObject]]]] = {
    "tags": (f"<tool_call>\n{BODY}\n</tool_call>", [CALL]),
    "tags on one line": (f"<tool_call>{BODY}</tool_call>", [CALL]),
    "tags without the last": (f"<tool_call>\n{BODY}\n", [CALL]),
    "two in tags": (f"<tool_call>{BODY}</tool_call>\n<tool_call>{BODY}</tool_call>", [CALL, CALL]),
    "a tag as an argument": (
        '<tool_call>{"name": "Grep", "arguments": {"path": "</tool_call>"}}</tool_call>',
        [("Grep", {"path": "</tool_call>"})],
    ),
    "bare": (BODY, [CALL]),
    "bare with space around": (f"\n {BODY} \n", [CALL]),
    "bare over several lines": (json.dumps(json.loads(BODY), indent=2), [CALL]),
    "a fence": (f"```json\n{BODY}\n```", [CALL]),
    "a fence without a language": (f"\n```\n{BODY}\n```\n", [CALL]),
    "parameters": ('{"name": "read_file", "parameters": {"path": "a"}}', [CALL]),
    "arguments in a string": (json.dumps({"name": "read_file", "arguments": '{"path": "a"}'}), [CALL]),
    "arguments first": ('{"arguments": {"path": "a"}, "name": "read_file"}', [CALL]),
    "an id and a type": ('{"type": "function", "id": 7, "name": "read_file", "arguments": {"path": "a"}}', [CALL]),
    "another case": ('{"name": "READ_FILE", "arguments": {"path": "a"}}', [CALL]),
    "a hyphen": ('{"name": "read-file", "arguments": {"path": "a"}}', [CALL]),
    "an underscore": ('{"name": "Two_Words", "arguments": {}}', [("two-words", {})]),
}
OTHERS: dict[str, str] = {
    "nothing": "",
    "prose": "I would call read_file.",
    "prose before": f"I call: {BODY}",
    "prose before tags": f"Now.\n<tool_call>{BODY}</tool_call>",
    "prose behind": f"{BODY}\nThat is how.",
    "prose behind tags": f"<tool_call>{BODY}</tool_call> is the way.",
    "prose behind a fence": f"```json\n{BODY}\n```\nThat is an example.",
    "prose between": f"<tool_call>{BODY}</tool_call> and <tool_call>{BODY}</tool_call>",
    "two bare": f"{BODY}\n{BODY}",
    "two fences": f"```json\n{BODY}\n```\n```json\n{BODY}\n```",
    "quoted": f'"{BODY}"',
    "in a quotation": f"> {BODY}",
    "in backticks": f"`{BODY}`",
    "in a list": f"[{BODY}]",
    "in another object": f'{{"call": {BODY}}}',
    "in another language": f"```python\n{BODY}\n```",
    "a fence left open": f"```json\n{BODY}\n",
    "cut": BODY[:-1],
    "no such tool": '{"name": "write_file", "arguments": {"path": "a"}}',
    "no name": '{"arguments": {"path": "a"}}',
    "a name that is none": '{"name": ["read_file"], "arguments": {"path": "a"}}',
    "no arguments": '{"name": "read_file"}',
    "arguments twice": '{"name": "read_file", "arguments": {}, "parameters": {}}',
    "the same key twice": '{"name": "read_file", "name": "Grep", "arguments": {}}',
    "arguments that are none": '{"name": "read_file", "arguments": ["a"]}',
    "arguments that are words": '{"name": "read_file", "arguments": "a"}',
    "something else too": '{"name": "read_file", "arguments": {}, "description": "reads"}',
    "a NUL": r'{"name": "read_file", "arguments": {"path": "\u0000"}}',
    "no JSON": "{'name': 'read_file', 'arguments': {}}",
    "too deep": '{"name": "read_file", "arguments": {"path": ' + "[" * 200 + "]" * 200 + "}}",
}


def calls_in(text: str) -> list[tuple[str, JsonObject]]:
    return [(call.name, call.arguments) for call in written_calls(text, TOOLS, any_object)]


@pytest.mark.parametrize("name", CALLS)
def test_these_are_calls(name: str) -> None:
    text, calls = CALLS[name]
    assert calls_in(text) == calls


@pytest.mark.parametrize("name", OTHERS)
def test_these_are_not(name: str) -> None:
    assert calls_in(OTHERS[name]) == []


def test_arguments_that_do_not_fit_make_no_call() -> None:
    def fits(schema: JsonObject, arguments: JsonObject) -> str | None:
        assert schema == {"required": ["path"]}
        return None if "path" in arguments else "There is no path."

    assert written_calls('{"name": "read_file", "arguments": {}}', TOOLS, fits) == []
    assert len(written_calls(BODY, TOOLS, fits)) == 1


def test_two_tools_that_differ_by_case_alone_are_told_apart_only_by_their_exact_names() -> None:
    assert offered("Read", ["read", "READ"]) is None
    assert offered("READ", ["read", "READ"]) == "READ"


@patient
@given(st.sets(st.integers(0, 20).map("written_{}".format)))
def test_an_id_is_never_one_of_those_taken(taken: set[str]) -> None:
    assert fresh_id(taken) not in taken


def test_each_of_several_calls_has_its_own_id() -> None:
    first, second = written_calls(CALLS["two in tags"][0], TOOLS, any_object, taken=["written_1"])
    assert len({first.id, second.id, "written_1"}) == 3


@pytest.mark.parametrize("name", CALLS)
def test_whatever_is_a_call_could_be_one_from_its_first_character_on(name: str) -> None:
    watch = CallWatch(NAMES)
    assert all(watch.feed(character) for character in CALLS[name][0])


STOPS = {
    "It": "I",
    "{}": "{}",
    '{"name": "my-package", "version": 1}': '{"name": "my-package"',
    '{"error": 1}': '{"error"',
    '{"name": "read_file", "note': '{"name": "read_file", "note"',
    "```python": "```p",
    "```json\n[": "```json\n[",
    "<tool>": "<tool>",
    "<b>": "<b",
    "# Title": "#",
    f"{BODY} So": f"{BODY} S",
}


@pytest.mark.parametrize("text", STOPS)
def test_it_is_given_up_at_the_first_character_that_no_call_could_have(text: str) -> None:
    watch = CallWatch(NAMES)
    held = STOPS[text]
    assert [watch.feed(character) for character in held] == [True] * (len(held) - 1) + [False]
    assert not watch.feed(text)


awkward = st.text('a"\\{}[]\n<`', max_size=5)
objects = st.dictionaries(awkward, awkward | st.sampled_from([None, 1, [{"": "]}"}], {"a": {"\\": '"'}}]), max_size=3)


@patient
@given(
    objects,
    st.sampled_from(NAMES),
    st.sampled_from([None, 1]),
    st.sampled_from(["{}", "```json\n{}\n```", "<tool_call>{}"]),
)
def test_any_arguments_survive_being_written(arguments: JsonObject, name: str, indent: int | None, form: str) -> None:
    text = form.replace("{}", json.dumps({"name": name, "arguments": arguments}, indent=indent))
    assert calls_in(text) == [(name, arguments)]
    watch = CallWatch(NAMES)
    assert watch.feed(text)


@patient
@given(objects, awkward, st.integers(0, 100))
def test_an_object_ends_at_its_last_bracket_however_it_is_cut(value: JsonObject, behind: str, at: int) -> None:
    text = json.dumps(value)
    at %= len(text)
    extent = JsonExtent()
    assert extent.feed(text[:at]) is None
    assert extent.feed(text[at:] + behind) == len(text) - at


@patient
@given(st.text(" \nab.\"'>`*", min_size=1, max_size=10), st.sampled_from(list(CALLS)), st.booleans())
def test_a_call_with_anything_around_it_is_a_quoted_example(words: str, name: str, before: bool) -> None:
    if not words.strip(" \n`"):
        words += "x"
    text = CALLS[name][0]
    assert calls_in(f"{words}{text}" if before else f"{text}{words}") == []
