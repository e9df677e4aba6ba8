"""Tools with a real model: by ReAct, and by native calls. What the model says is its own, its form is forced."""

from __future__ import annotations

from contextlib import aclosing
from typing import TYPE_CHECKING, Any

import aiohttp
import pytest

from ollm_lsp.core.call_repair import RepairingProvider, repaired
from ollm_lsp.core.completion import collect
from ollm_lsp.core.events import FinishReason
from ollm_lsp.core.messages import Message, Reasoning, Role
from ollm_lsp.core.model import Capabilities
from ollm_lsp.core.react import suited
from ollm_lsp.core.request import ChatRequest
from ollm_lsp.core.tool import ToolCall, ToolChoice, ToolResult, ToolSpec
from ollm_lsp.core.usage import FREE
from ollm_lsp.providers.framing import SseFramer
from ollm_lsp.providers.wire import openai_chat
from tests.support.tool_llama import KEY, NAME, tool_llama

if TYPE_CHECKING:
    from collections.abc import AsyncGenerator, Generator
    from pathlib import Path

    from ollm_lsp.core.completion import Completion
    from ollm_lsp.core.events import ProviderEvent
    from ollm_lsp.core.foreign_json import JsonObject
    from ollm_lsp.core.usage import Cost, Usage

COUNT = ToolSpec(
    "count_words",
    "Count the words of a text.",
    {"type": "object", "properties": {"text": {"type": "string", "maxLength": 9}}, "required": ["text"]},
)
ASKED = Message.user("How many words are in the sentence: the cat sat on the mat?")
# Both forms of a call go on, as small models do when nobody stops them: what follows takes longer than the test may.
WRONG = r'root ::= "Thought: " [a-z ]{3,9} "\nAction: count_words\nAction Input: " [a-z]{3,6} "\n" [a-z ]{400}'
ACTION = (
    r'root ::= "Thought: " [a-z ]{3,9} "\nAction: count_words\nAction Input: {\n  \"text\": \"" [a-z ]{3,9} "\"\n}\n'
    r'Observation: " [a-z ]{400}'
)
ANSWER = r'root ::= "Thought: " [a-z ]{3,9} "\nFinal Answer: " [A-Za-z ]{3,9} "."'


class Llama:
    """The model behind llama.cpp, with parameters of its own for each request in turn."""

    name = "llama"

    def __init__(self, port: int, *parameters: dict[str, Any]) -> None:
        self._url = f"http://127.0.0.1:{port}/v1/chat/completions"
        self._parameters = iter(parameters)

    async def stream(self, request: ChatRequest) -> AsyncGenerator[ProviderEvent]:
        body = openai_chat.encode(request) | {"temperature": 0, "max_tokens": 160} | next(self._parameters)
        framer, decoder = SseFramer(), openai_chat.Decoder()
        headers = {"Authorization": f"Bearer {KEY}"}
        async with aiohttp.ClientSession() as client, client.post(self._url, json=body, headers=headers) as answer:
            assert answer.status == 200, await answer.text()
            async for chunk in answer.content.iter_any():
                for frame in framer.feed(chunk):
                    for event in decoder.feed(frame):
                        yield event

    async def complete(self, request: ChatRequest) -> Completion:
        return await collect(self.stream(request))

    async def capabilities(self, model: str) -> Capabilities:  # noqa: ARG002 (part of the contract)
        return Capabilities()

    def cost(self, model: str, usage: Usage) -> Cost:  # noqa: ARG002 (part of the contract)
        return FREE

    async def close(self) -> None:
        pass


@pytest.fixture(scope="module")
def port(real_model_path: Path) -> Generator[int]:
    with tool_llama(real_model_path) as port:
        yield port


def fits(schema: JsonObject, arguments: JsonObject) -> str | None:
    return None if isinstance(arguments.get("text"), str) else "'text' has to be a string."


def calls_of(completion: Completion) -> list[ToolCall]:
    return [part for part in completion.message.parts if isinstance(part, ToolCall)] if completion.message else []


@pytest.mark.prop("core-18")
@pytest.mark.prop("core-20")
@pytest.mark.prop("core-21")
@pytest.mark.prop("core-33")
async def test_a_model_without_tools_is_corrected_calls_a_tool_and_answers(port: int) -> None:
    llama = Llama(port, {"grammar": WRONG}, {"grammar": ACTION}, {"grammar": ANSWER})
    provider = suited(llama, await llama.capabilities(NAME), tools_wanted=True, fits=fits)

    called = await provider.complete(ChatRequest(NAME, (ASKED,), (COUNT,)))
    assert called.finish_reason is FinishReason.TOOL_USE
    assert called.message is not None
    assert called.message.text == ""
    (call,) = calls_of(called)
    assert call.name == "count_words"
    text = call.arguments["text"]
    assert isinstance(text, str)
    assert any(isinstance(part, Reasoning) and part.text.count("\n") == 1 for part in called.message.parts)
    assert called.usage.output_tokens > 0

    result = Message(Role.TOOL, (ToolResult(call.id, call.name, str(len(text.split()))),))
    answered = await provider.complete(ChatRequest(NAME, (ASKED, called.message, result), (COUNT,)))
    assert answered.finish_reason is FinishReason.STOP
    assert answered.text.endswith(".")
    assert "Final Answer" not in answered.text
    assert calls_of(answered) == []


async def test_a_model_with_tools_makes_a_native_call_and_goes_on_with_its_result(port: int) -> None:
    llama = Llama(port, {"tool_choice": "required", "parallel_tool_calls": False}, {"max_tokens": 12})
    provider = suited(llama, Capabilities(tools=True), tools_wanted=True)
    assert isinstance(provider, RepairingProvider)

    request = ChatRequest(NAME, (ASKED,), (COUNT,), tool_choice=ToolChoice.REQUIRED)
    called = await collect(repaired(provider.stream(request), request.tools, fits))
    assert called.finish_reason is FinishReason.TOOL_USE
    calls = calls_of(called)
    assert {call.name for call in calls} == {"count_words"}
    assert all(fits(COUNT.parameters, call.arguments) is None for call in calls)
    assert called.message is not None

    results = Message(Role.TOOL, tuple(ToolResult(call.id, call.name, "6") for call in calls))
    again = ChatRequest(NAME, (ASKED, called.message, results), (COUNT,))
    async with aclosing(repaired(provider.stream(again), again.tools, fits)) as events:
        assert await anext(events)


async def test_a_call_that_the_model_writes_as_text_is_made(port: int) -> None:
    form = {
        "type": "object",
        "properties": {
            "name": {"const": "count_words"},
            "arguments": {
                "type": "object",
                "properties": {"text": {"type": "string", "maxLength": 9}},
                "required": ["text"],
            },
        },
        "required": ["name", "arguments"],
    }
    llama = Llama(port, {"json_schema": form, "tools": None})
    called = await collect(repaired(llama.stream(ChatRequest(NAME, (ASKED,))), (COUNT,), fits))
    assert called.finish_reason is FinishReason.TOOL_USE
    (call,) = calls_of(called)
    assert call.name == "count_words"
