"""A recap in a conversation: it stands for everything before it, and only for who comes after it."""

from __future__ import annotations

from dataclasses import replace

import pytest

from ollm_lsp.core.compaction import Compactor
from ollm_lsp.core.conversation import Conversation
from ollm_lsp.core.errors import ServerFailed
from ollm_lsp.core.events import Finished, FinishReason, TextDelta, UsageReported
from ollm_lsp.core.messages import Message
from ollm_lsp.core.model import ModelId
from ollm_lsp.core.recap import recap
from ollm_lsp.core.tokens import estimate
from ollm_lsp.core.usage import Cost, Usage
from tests.core.test_conversation import MODEL, response
from tests.support.scripted_provider import Hang, ScriptedProvider, Step


def texts(conversation: Conversation, response_id: str) -> list[str]:
    return [message.text for message in conversation.history(response_id, MODEL)]


@pytest.mark.prop("eng-3")
def test_a_recap_stands_for_everything_before_it() -> None:
    conversation = Conversation("c")
    between = replace(response(2, 1, answered=False), is_recap=True)
    for one in (response(0, None), response(1, 0), between, response(3, 2)):
        conversation.append(one)
    assert texts(conversation, "3") == ["question 2", "question 3", "answer 3"]
    assert texts(conversation, "1") == ["question 0", "answer 0", "question 1", "answer 1"]


@pytest.mark.prop("eng-3")
def test_who_branches_from_before_a_recap_has_the_whole() -> None:
    conversation = Conversation("c")
    for one in (response(0, None), replace(response(1, 0, answered=False), is_recap=True), response(2, 0)):
        conversation.append(one)
    assert texts(conversation, "2") == ["question 0", "answer 0", "question 2", "answer 2"]


def compactor(*script: Step) -> Compactor:
    return Compactor(ScriptedProvider(*script, cost=Cost(3)), ModelId("local", "small"), 0.01)


def long_conversation() -> Conversation:
    conversation = Conversation("c")
    for number in range(6):
        asked = Message.user(f"question {number} " + "x" * 400)
        conversation.append(replace(response(number, number - 1 if number else None), input=(asked,)))
    return conversation


@pytest.mark.prop("eng-3")
async def test_a_summary_follows_what_it_sums_up_and_knows_what_it_took() -> None:
    conversation = long_conversation()
    whole = conversation.history("5", MODEL)
    said = (TextDelta("They spoke."), UsageReported(Usage(70, 5)), Finished(FinishReason.STOP))
    made = await recap(conversation, "5", MODEL, compactor(*said), window=600, recap_id="recap")
    assert made.response is not None
    assert made.response is conversation.get("recap")
    assert conversation.head == "recap"
    assert (made.response.parent_id, made.response.model) == ("5", ModelId("local", "small"))
    assert (made.response.usage, made.response.cost) == (Usage(70, 5), Cost(3))
    history = conversation.history("recap", MODEL)
    assert history == made.compacted.messages
    assert "They spoke." in history[0].text
    assert history[-1] == whole[-1]
    assert estimate(history) <= 300 < estimate(whole)
    assert conversation.history("5", MODEL) == whole


@pytest.mark.prop("eng-3")
@pytest.mark.parametrize("script", [[Hang()], [ServerFailed("It broke.", remedy="Mend it.")]], ids=["slow", "broken"])
async def test_without_a_summary_the_conversation_stays_as_it_is(script: list[Step]) -> None:
    conversation = long_conversation()
    made = await recap(conversation, "5", MODEL, compactor(*script), window=600, recap_id="recap")
    assert made.response is None
    assert conversation.head == "5"
    assert made.compacted.problem
    assert estimate(made.compacted.messages) <= 300
