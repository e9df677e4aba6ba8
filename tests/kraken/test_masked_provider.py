"""Masked providers: no secret goes in, whatever brings it, and all of them come out."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ollm_lsp.core.events import Finished, FinishReason, ReasoningDelta, TextDelta, ToolCalled, UsageReported
from ollm_lsp.core.messages import Message, Reasoning, Role, Text
from ollm_lsp.core.model import ModelId
from ollm_lsp.core.request import ChatRequest
from ollm_lsp.core.tool import ToolCall, ToolResult
from ollm_lsp.core.usage import Cost, Usage
from ollm_lsp.kraken.labelled_provider import LabelledProvider
from ollm_lsp.kraken.mask import EXPLANATION, Mask
from ollm_lsp.kraken.masked_provider import MaskedProvider
from tests.core.values import patient
from tests.support.scripted_provider import ScriptedProvider, Step

SECRET = "sk-" + "proj-abcdefghijklmnopqrstT3BlbkFJabcd"
DONE = Finished(FinishReason.STOP)


def asked(*messages: Message) -> ChatRequest:
    return ChatRequest("m", messages)


async def said(provider: MaskedProvider | LabelledProvider, request: ChatRequest) -> list[object]:
    return [event async for event in provider.stream(request)]


@pytest.mark.prop("krk-42")
async def test_what_is_sent_is_masked_in_every_part_and_what_tools_gave_too() -> None:
    inner = ScriptedProvider(DONE)
    call = ToolCall("1", "f", {"a": [SECRET], "b": {"c": SECRET}, "d": 1})
    request = asked(
        Message.user(f"My key is {SECRET}."),
        Message(Role.ASSISTANT, (Reasoning(f"It is {SECRET}."), Text(SECRET), call)),
        Message(Role.TOOL, (ToolResult("1", "f", f"x={SECRET}"),)),
    )
    await said(MaskedProvider(inner, Mask()), request)
    (sent,) = inner.requests
    assert SECRET not in repr(sent)
    assert repr(sent).count("⟦S1⟧") == 6


@pytest.mark.prop("krk-42")
async def test_a_model_is_told_of_placeholders_by_one_that_looks_as_they_do() -> None:
    inner = ScriptedProvider(DONE)
    rules = Message.system(f"Never say {SECRET} or ⟦.\n\n{EXPLANATION}")
    await said(MaskedProvider(inner, Mask()), asked(rules, Message.user(f"{SECRET} {EXPLANATION}")))
    ((told, question),) = (request.messages for request in inner.requests)
    assert told == Message.system(f"Never say ⟦S1⟧ or ⟦S0⟧.\n\n{EXPLANATION}")
    assert question.text.startswith("⟦S1⟧ A text like ⟦S0⟧S1⟧ stands")


@pytest.mark.prop("krk-42")
@patient
@given(st.lists(st.integers(1, 5), max_size=40))
async def test_a_placeholder_comes_back_as_its_secret_however_it_is_cut(sizes: list[int]) -> None:
    text = "a ⟦S1⟧ b ⟦S2⟧ ⟦ not one ⟦S1⟧"
    deltas: list[str] = []
    for size in sizes:
        deltas.append(text[:size])
        text = text[size:]
    steps: list[Step] = [TextDelta(delta) for delta in (*deltas, text) if delta]
    inner = ScriptedProvider(ReasoningDelta("⟦S1"), *steps, DONE)
    events = await said(MaskedProvider(inner, Mask()), asked(Message.user(SECRET)))
    assert events[0] == ReasoningDelta("⟦S1")
    assert events[-1] == DONE
    joined = "".join(event.text for event in events if isinstance(event, TextDelta))
    assert joined == f"a {SECRET} b ⟦S2⟧ ⟦ not one {SECRET}"


async def test_a_call_writes_the_secret_and_no_placeholder_into_files() -> None:
    call = ToolCall("1", "write_file", {"path": "a", "text": "key = ⟦S1⟧\n"})
    inner = ScriptedProvider(ToolCalled(call), DONE)
    events = await said(MaskedProvider(inner, Mask()), asked(Message.user(SECRET)))
    assert events[0] == ToolCalled(ToolCall("1", "write_file", {"path": "a", "text": f"key = {SECRET}\n"}))


@pytest.mark.prop("krk-47")
async def test_the_answer_names_who_gives_it_first_and_what_it_took_last() -> None:
    call = ToolCalled(ToolCall("1", "f", {}))
    first: list[Step] = [TextDelta("I look. "), call, UsageReported(Usage(1_000, 10)), Finished(FinishReason.STOP)]
    second: list[Step] = [TextDelta("It is so."), UsageReported(Usage(2_000, 20)), DONE]
    inner = ScriptedProvider(*first, then=[second], cost=Cost(1_500))
    provider = LabelledProvider(inner, ModelId("big", "m"), is_plan=False, clock=lambda: 5.0)
    events = [*await said(provider, asked(Message.user("?"))), *await said(provider, asked(Message.user("?")))]
    text = "".join(event.text for event in events if isinstance(event, TextDelta))
    foot = "\n\n---\n*3,000 tokens read, 30 written · $0.003 · 0.0 s*"
    assert text == f"**big** · m\n\nI look. It is so.{foot}"


@pytest.mark.parametrize(
    ("cost", "is_plan", "words"),
    [(Cost(0), True, "covered by your plan"), (Cost(7, known=False), False, "price unknown, counted as $0.000007")],
)
async def test_the_foot_tells_of_plans_and_of_prices_that_nobody_knows(cost: Cost, is_plan: bool, words: str) -> None:
    inner = ScriptedProvider(TextDelta("Yes."), UsageReported(Usage(1, 1)), DONE, cost=cost)
    events = await said(LabelledProvider(inner, ModelId("b", "m"), is_plan=is_plan), asked(Message.user("?")))
    assert any(isinstance(event, TextDelta) and words in event.text for event in events)
