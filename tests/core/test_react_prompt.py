"""ReAct in words: what a model without tools is told."""

from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ollm_lsp.core.events import ToolCalled
from ollm_lsp.core.messages import Image, Message, Reasoning, Role, Text
from ollm_lsp.core.react_parser import ReactParser
from ollm_lsp.core.react_prompt import as_text, corrected
from ollm_lsp.core.request import ChatRequest
from ollm_lsp.core.tool import OneTool, ToolCall, ToolChoice, ToolResult, ToolSpec
from tests.core.values import arguments, messages_of, patient

READ = ToolSpec(
    "read_file",
    "Read a file.\nOnly text.",
    {
        "type": "object",
        "properties": {
            "path": {"type": "string", "description": "Where\nit is."},
            "lines": {"type": "array", "items": {"type": "integer"}},
            "mode": {"enum": ["text", "hex"]},
            "range": {"type": "object", "properties": {"from": {"type": "integer"}}},
            "any": {},
        },
        "required": ["path", "mode"],
    },
)
LIST = ToolSpec("list", "List the files.", {"type": "object", "properties": {}})
ASKED = Message.user("why?")
CALLS = (ToolCall("1", "read_file", {"path": "ä"}), ToolCall("2", "list", {}))


def assistant(*parts: Text | Reasoning | ToolCall) -> Message:
    return Message(Role.ASSISTANT, parts)


def told(*messages: Message, tools: tuple[ToolSpec, ...] = (READ, LIST)) -> tuple[Message, ...]:
    return as_text(ChatRequest("m", messages, tools)).messages


def texts(*messages: Message) -> list[str]:
    """The messages behind the system prompt."""
    return [message.text for message in told(*messages)[1:]]


@pytest.mark.prop("core-17")
def test_the_tools_are_described_in_few_lines() -> None:
    prompt = told(ASKED)[0].text
    described = prompt[prompt.index("The tools:") : prompt.index("An example")].splitlines()
    assert described[1:] == [
        "- read_file: Read a file. Only text.",
        '  "path" (string): Where it is.',
        '  "lines" (array of integer, optional)',
        '  "mode" ("text" or "hex")',
        '  "range" ({"type": "object", "properties": {"from": {"type": "integer"}}}, optional)',
        '  "any" (anything, optional)',
        "- list: List the files.",
        "",
    ]


@pytest.mark.prop("core-17")
def test_the_example_is_a_call_that_we_would_read() -> None:
    example = told(ASKED)[0].text.split("An example of the form:\n\n")[1]
    parser = ReactParser(["read_file", "list"])
    (_, event) = parser.feed(example) + parser.close()
    assert isinstance(event, ToolCalled)
    assert (event.call.name, event.call.arguments) == ("read_file", {"path": "…", "mode": "text"})


names = st.text("abc_", min_size=1, max_size=8)
specs = st.builds(
    ToolSpec,
    names,
    st.text("ab \n", max_size=20),
    st.dictionaries(
        names,
        st.sampled_from([{"type": "string"}, {"type": "integer", "description": "so many"}, {"enum": [1, None]}, {}]),
        max_size=3,
    ).map(lambda properties: {"type": "object", "properties": properties, "required": list(properties)[:1]}),
)


@pytest.mark.prop("core-17")
@patient
@given(st.lists(specs, min_size=1, max_size=4, unique_by=lambda tool: tool.name))
def test_every_tool_is_named_with_its_description_and_its_parameters(tools: list[ToolSpec]) -> None:
    prompt = told(ASKED, tools=tuple(tools))[0].text
    for tool in tools:
        assert f"- {tool.name}: {' '.join(tool.description.split())}\n" in prompt
        properties = tool.parameters["properties"]
        assert isinstance(properties, dict)
        assert all(f'\n  "{name}" (' in prompt for name in properties)


def test_the_system_prompt_stays_first_and_there_is_one_system_message() -> None:
    system, asked = told(Message.system("Be brief."), ASKED)
    assert system.text.startswith("Be brief.\n\nYou can use tools.")
    assert (system.role, asked) == (Role.SYSTEM, ASKED)
    assert told(ASKED)[0].text == system.text.removeprefix("Be brief.\n\n")


@pytest.mark.parametrize(
    ("choice", "words"),
    [(ToolChoice.REQUIRED, "Now you have to use a tool."), (OneTool("list"), "Now you have to use the tool list.")],
)
def test_a_tool_that_has_to_be_used_is_named(choice: ToolChoice | OneTool, words: str) -> None:
    prompt = as_text(ChatRequest("m", (ASKED,), (READ, LIST), tool_choice=choice)).messages[0].text
    assert words in prompt
    assert words not in told(ASKED)[0].text


def test_nothing_is_said_of_tools_that_must_not_be_used() -> None:
    request = as_text(ChatRequest("m", (ASKED,), (READ,), tool_choice=ToolChoice.NONE))
    assert request == ChatRequest("m", (ASKED,))


def test_without_tools_the_history_is_no_example_of_the_protocol() -> None:
    results = Message(Role.TOOL, (ToolResult("1", "read_file", "No.", is_error=True), ToolResult("2", "list", "a b")))
    history = (ASKED, assistant(Reasoning("hm"), Text("I look."), *CALLS), results, assistant(Text("So.")), ASKED)
    assert [message.text for message in told(*history, tools=())] == [
        "why?",
        'I look.\nI used read_file with {"path": "ä"}.\nI used list with {}.',
        "read_file failed: No.\nlist gave: a b",
        "So.",
        "why?",
    ]


def test_without_tools_now_or_earlier_the_request_is_left_as_it_is() -> None:
    request = ChatRequest("m", (ASKED, assistant(Reasoning("hm", "mark"), Text(" So. ")), ASKED, ASKED))
    assert as_text(request) == request


def test_the_rest_of_the_request_stays() -> None:
    request = as_text(ChatRequest("m", (ASKED,), (READ,), 100, 0.5, OneTool("read_file")))
    assert (request.model, request.max_tokens, request.temperature) == ("m", 100, 0.5)
    assert (request.tools, request.tool_choice) == ((), ToolChoice.AUTO)


def test_calls_and_results_are_written_out() -> None:
    results = Message(Role.TOOL, (ToolResult("1", "read_file", "No.", is_error=True), ToolResult("2", "list", "a b")))
    assert texts(ASKED, assistant(Reasoning("I look."), *CALLS), results, assistant(Text("So."))) == [
        "why?",
        'Thought: I look.\nAction: read_file\nAction Input: {"path": "ä"}\nAction: list\nAction Input: {}',
        "Observation: (read_file) Error: No.\nObservation: (list) a b",
        "Final Answer: So.",
    ]


@pytest.mark.prop("core-20")
@patient
@given(st.text("ab \n:", max_size=30), st.booleans())
def test_any_result_is_an_observation(text: str, is_error: bool) -> None:
    result = Message(Role.TOOL, (ToolResult("2", "list", text, is_error),))
    observation = told(ASKED, assistant(CALLS[1]), result)[-1]
    assert observation == Message.user(f"Observation: {'Error: ' if is_error else ''}{text}")


@pytest.mark.prop("core-18")
@patient
@given(arguments)
def test_a_call_in_the_history_is_written_as_we_would_read_it(given: dict[str, object]) -> None:
    text = texts(ASKED, assistant(ToolCall("1", "list", json.loads(json.dumps(given)))))[1]
    (event,) = ReactParser(["list"]).feed(text)
    assert isinstance(event, ToolCalled)
    assert event.call.arguments == given


def test_neighbours_of_one_role_become_one_message() -> None:
    image = Image("image/png", b"x")
    result = Message(Role.TOOL, (ToolResult("2", "list", "a"),))
    system, asked, called, last = told(Message.user("one"), ASKED, assistant(CALLS[1]), result, Message.user(image))
    assert [message.role for message in (system, asked, called, last)] == ["system", "user", "assistant", "user"]
    assert asked.text == "one\n\nwhy?"
    assert last.parts == (Text("Observation: a"), Text("\n\n"), image)


def test_an_image_of_a_tool_follows_its_observation() -> None:
    image = Image("image/png", b"x")
    result = Message(Role.TOOL, (ToolResult("2", "list", "a.png", images=(image,)),))
    assert told(ASKED, assistant(CALLS[1]), result)[-1] == Message.user("Observation: a.png", image)


def test_what_only_its_provider_can_read_is_left_out() -> None:
    secret = assistant(Reasoning("", "mark", is_redacted=True))
    assert texts(ASKED, secret, Message.user("well?")) == ["why?\n\nwell?"]
    assert texts(secret) == []


@patient
@given(
    st.lists(
        st.sampled_from(Role).filter(lambda role: role is not Role.SYSTEM).flatmap(messages_of), min_size=1, max_size=6
    )
)
def test_any_history_becomes_text_in_alternating_roles(messages: list[Message]) -> None:
    sent = told(ASKED, *messages)[1:]
    assert all(isinstance(part, Text | Image) for message in sent for part in message.parts)
    assert [message.role for message in sent] == [Role.USER, Role.ASSISTANT] * (len(sent) // 2) + [Role.USER] * (
        len(sent) % 2
    )


@pytest.mark.prop("core-33")
def test_a_correction_shows_the_model_what_it_wrote_and_what_is_wrong_with_it() -> None:
    request = as_text(ChatRequest("m", (ASKED,), (READ,)))
    again = corrected(request, "Action: x", "There is no tool 'x'.")
    *before, wrong, hint = again.messages
    assert tuple(before) == request.messages
    assert wrong == assistant(Text("Action: x"))
    assert hint.role is Role.USER
    assert hint.text.startswith("Observation: Error: There is no tool 'x'.")
