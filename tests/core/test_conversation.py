"""Conversations: a tree of responses, and who may add to it."""

from __future__ import annotations

import asyncio
from dataclasses import replace
from itertools import count
from typing import TYPE_CHECKING

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ollm_lsp.core.conversation import Conversation, Conversations, Response
from ollm_lsp.core.errors import Busy, ConversationNotFound
from ollm_lsp.core.events import FinishReason
from ollm_lsp.core.memory_store import MemoryStore
from ollm_lsp.core.messages import Message, Reasoning, Role, Text
from ollm_lsp.core.model import ModelId
from ollm_lsp.core.repair import repaired
from ollm_lsp.core.tool import ToolCall
from ollm_lsp.core.usage import FREE, Usage
from tests.core.values import messages, messages_of, patient
from tests.support.history import assert_valid

if TYPE_CHECKING:
    from ollm_lsp.core.record import ConversationRecord

MODEL = ModelId("p", "m")


def response(
    number: int, parent: int | None, *, answered: bool = True, reason: FinishReason = FinishReason.STOP
) -> Response:
    output = (Message(Role.ASSISTANT, (Text(f"answer {number}"),)),) if answered else ()
    return Response(
        id=str(number),
        parent_id=None if parent is None else str(parent),
        model=MODEL,
        input=(Message.user(f"question {number}"),),
        output=output,
        usage=Usage(),
        cost=FREE,
        finish_reason=reason,
    )


@st.composite
def trees(draw: st.DrawFn) -> list[tuple[int | None, bool]]:
    """For each response in turn, whose child it is and whether it has output."""
    size = draw(st.integers(1, 12))
    parents = [draw(st.none() | st.integers(0, number - 1)) if number else None for number in range(size)]
    return [(parent, draw(st.booleans())) for parent in parents]


@pytest.mark.prop("eng-3")
@pytest.mark.prop("core-29")
@patient
@given(trees())
def test_the_history_of_any_response_is_the_path_from_the_root_to_it(tree: list[tuple[int | None, bool]]) -> None:
    conversation = Conversation("c")
    for number, (parent, answered) in enumerate(tree):
        conversation.append(response(number, parent, answered=answered))
        assert conversation.head == str(number)
    for number in range(len(tree)):
        path: list[str] = []
        step: int | None = number
        while step is not None:
            parent, answered = tree[step]
            if answered:
                path[:0] = [f"question {step}", f"answer {step}"]
            step = parent
        assert [message.text for message in conversation.history(str(number), MODEL)] == path


@pytest.mark.prop("eng-3")
@patient
@given(trees(), st.data())
def test_what_is_appended_elsewhere_never_changes_a_history(
    tree: list[tuple[int | None, bool]], data: st.DataObject
) -> None:
    conversation = Conversation("c")
    histories: list[tuple[Message, ...]] = []
    for number, (parent, answered) in enumerate(tree):
        conversation.append(response(number, parent, answered=answered))
        histories.append(conversation.history(str(number), MODEL))
    number = data.draw(st.integers(0, len(tree) - 1))
    assert conversation.history(str(number), MODEL) == histories[number]


def test_a_new_conversation_has_no_history() -> None:
    conversation = Conversation("c")
    assert conversation.head is None
    assert conversation.history(None, MODEL) == ()
    assert conversation.get("r") is None


@pytest.mark.prop("core-29")
@patient
@given(st.lists(messages_of(Role.USER), min_size=1, max_size=3), st.lists(messages_of(Role.ASSISTANT), max_size=3))
def test_a_response_that_answers_nothing_is_left_out_together_with_its_question(
    said: list[Message], answers: list[Message]
) -> None:
    conversation = Conversation("c")
    kept = Response("r", None, MODEL, tuple(said), tuple(answers), Usage(), FREE, FinishReason.ERROR)
    conversation.append(kept)
    spoken = [part for message in answers for part in message.parts if not isinstance(part, Reasoning)]
    assert conversation.history("r", MODEL) == (repaired((*said, *answers)) if spoken else ())
    assert conversation.get("r") is kept
    assert kept.text == "".join(message.text for message in answers)


def test_a_long_conversation_is_no_deep_recursion() -> None:
    conversation = Conversation("c")
    for number in range(5_000):
        conversation.append(response(number, number - 1 if number else None))
    assert len(conversation.history(conversation.head, MODEL)) == 10_000


def test_a_response_of_another_conversation_is_not_found() -> None:
    conversation = Conversation("c")
    conversation.append(response(0, None))
    with pytest.raises(ConversationNotFound, match="Conversation c has no response 1") as refused:
        conversation.history("1", MODEL)
    assert "parentId" in refused.value.remedy


@pytest.mark.prop("eng-6")
def test_a_second_chat_in_a_busy_conversation_is_refused_and_does_not_free_it() -> None:
    conversation = Conversation("c")
    with conversation.answering():
        for _ in range(2):
            with pytest.raises(Busy) as refused, conversation.answering():
                pytest.fail("both answered")
            assert refused.value.remedy
    with conversation.answering():
        pass


@pytest.mark.prop("eng-6")
@pytest.mark.parametrize("failure", [RuntimeError, KeyboardInterrupt])
def test_a_chat_that_fails_frees_its_conversation(failure: type[BaseException]) -> None:
    conversation = Conversation("c")
    with pytest.raises(failure), conversation.answering():
        raise failure
    with conversation.answering():
        pass


def test_another_conversation_may_answer_at_the_same_time() -> None:
    held, other = Conversation("a"), Conversation("b")
    with held.answering(), other.answering():
        for busy in (held, other):
            with pytest.raises(Busy), busy.answering():
                raise AssertionError("a second chat in one conversation")


async def test_conversations_are_found_again_by_their_id() -> None:
    numbers, store = count(), MemoryStore(count().__next__)
    conversations = Conversations(lambda: f"id-{next(numbers)}")
    first, second = await conversations.open(None, store), await conversations.open(None, store)
    assert (first.id, second.id) == ("id-0", "id-1")
    assert await conversations.open("id-0", store) is first
    assert await conversations.open("id-1", store) is second


async def test_an_unknown_conversation_is_an_error_that_says_what_to_do() -> None:
    conversations = Conversations(lambda: "id")
    with pytest.raises(ConversationNotFound, match="no conversation nowhere") as refused:
        await conversations.open("nowhere", MemoryStore(count().__next__))
    assert "conversationId" in refused.value.remedy
    assert refused.value.__cause__ is None


@pytest.mark.prop("eng-3")
@patient
@given(trees())
async def test_a_conversation_of_the_store_has_all_its_histories(tree: list[tuple[int | None, bool]]) -> None:
    store, known = MemoryStore(count().__next__), Conversation("c")
    for number, (parent, answered) in enumerate(tree):
        known.append(response(number, parent, answered=answered))
        await store.finish("c", response(number, parent, answered=answered))
    opened = await Conversations(lambda: "id").open("c", store)
    assert opened.head == known.head
    for number in range(len(tree)):
        assert opened.get(str(number)) == known.get(str(number))
        assert opened.history(str(number), MODEL) == known.history(str(number), MODEL)


@pytest.mark.prop("eng-3")
async def test_a_response_that_another_server_kept_can_be_gone_on_from() -> None:
    store, conversations = MemoryStore(count().__next__), Conversations(lambda: "c")
    conversation = await conversations.open(None, store)
    for number, parent in ((0, None), (1, 0)):
        await store.finish("c", response(number, parent))
    conversation.append(response(0, None))
    assert await conversations.open("c", store) is conversation
    assert conversation.get("1") is None
    assert await conversations.open("c", store, "1") is conversation
    assert [message.text for message in conversation.history("1", MODEL)][2:] == ["question 1", "answer 1"]


@pytest.mark.prop("eng-3")
async def test_a_response_whose_parent_was_not_kept_begins_anew() -> None:
    store = MemoryStore(count().__next__)
    for number, parent in ((1, 0), (2, 1), (3, 3)):
        await store.finish("c", response(number, parent))
    conversation = await Conversations(lambda: "id").open("c", store)
    assert [message.text for message in conversation.history("2", MODEL)][::2] == ["question 1", "question 2"]
    assert [message.text for message in conversation.history("3", MODEL)][::2] == ["question 3"]


async def test_a_conversation_that_two_ask_for_at_once_is_one() -> None:
    opened = asyncio.Event()

    class SlowStore(MemoryStore):
        async def load(self, conversation_id: str) -> ConversationRecord | None:
            await opened.wait()
            return await super().load(conversation_id)

    store, conversations = SlowStore(count().__next__), Conversations(lambda: "id")
    await store.finish("c", response(0, None))
    both = [asyncio.ensure_future(conversations.open("c", store)) for _ in range(2)]
    await asyncio.sleep(0)
    opened.set()
    first, second = await asyncio.gather(*both)
    assert first is second
    assert first.head == "0"


async def test_a_forgotten_conversation_is_not_found() -> None:
    conversations, store = Conversations(lambda: "id"), MemoryStore(count().__next__)
    conversation = conversations.new()
    assert conversations.get("id") is conversation
    assert conversations.forget("id")
    assert not conversations.forget("id")
    with pytest.raises(ConversationNotFound):
        await conversations.open("id", store)


@pytest.mark.prop("eng-3")
def test_what_another_model_signed_goes_to_nobody_else() -> None:
    signed = Message(
        Role.ASSISTANT,
        (
            Reasoning("hm", "mark"),
            Reasoning("", "veiled", is_redacted=True),
            Text("I look."),
            ToolCall("1", "read", {}, signature="mark"),
        ),
    )
    only_a_mark = Message(Role.ASSISTANT, (Reasoning("", "mark"),))
    conversation = Conversation("c")
    conversation.append(replace(response(1, None), output=(signed, only_a_mark)))
    asked = Message.user("question 1")
    assert conversation.history("1", MODEL) == repaired((asked, signed, only_a_mark))
    plain = Message(Role.ASSISTANT, (Reasoning("hm"), Text("I look."), ToolCall("1", "read", {})))
    assert conversation.history("1", ModelId("p", "other")) == repaired((asked, plain))


@pytest.mark.threat("F43", "F49")
@pytest.mark.prop("eng-3")
@pytest.mark.prop("core-8")
@patient
@given(st.lists(st.lists(messages, max_size=3), min_size=1, max_size=4))
async def test_whatever_a_crash_left_in_the_store_the_history_is_a_valid_request(outputs: list[list[Message]]) -> None:
    store = MemoryStore(count().__next__)
    for number, output in enumerate(outputs):
        spoken = tuple(message for message in output if message.role in {Role.ASSISTANT, Role.TOOL})
        await store.finish("c", replace(response(number, number - 1 if number else None), output=spoken))
    conversation = await Conversations(lambda: "id").open("c", store)
    assert_valid(conversation.history(conversation.head, MODEL))
