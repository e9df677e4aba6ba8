"""A recording: the store hears everything in time, and its failures stop no chat."""

from __future__ import annotations

import asyncio
from itertools import count
from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ollm_lsp.core.chat import Chat, ending
from ollm_lsp.core.conversation import Conversation, Response
from ollm_lsp.core.errors import OllmError, ServerFailed, StoreFailed
from ollm_lsp.core.events import (
    Ended,
    Finished,
    FinishReason,
    ReasoningDelta,
    Started,
    TextDelta,
    ToolCalled,
    UsageChanged,
    Warned,
)
from ollm_lsp.core.memory_store import MemoryStore
from ollm_lsp.core.messages import Message, Role, Text
from ollm_lsp.core.model import Capabilities, ModelId
from ollm_lsp.core.question import Question
from ollm_lsp.core.record import Opening
from ollm_lsp.core.recording import NoRecording, StoreRecording
from tests.core.values import patient, said
from tests.support.scripted_provider import Hang, RecordingSink, ScriptedProvider, Step

if TYPE_CHECKING:
    from ollm_lsp.core.events import ProviderEvent

MODEL = ModelId("scripted", "m")
ASKED = Message.user("why?")
DONE = Finished(FinishReason.STOP)
plain = said.filter(lambda event: not isinstance(event, ToolCalled))
"""What a model says that calls no tools."""


class WatchedStore(MemoryStore):
    """Writes down what it is asked, and fails as often as it is told."""

    def __init__(self, *fails: str) -> None:
        super().__init__(count().__next__)
        self.fails = fails
        self.asked: list[tuple[str, Any]] = []
        self.gate: asyncio.Event | None = None

    async def _hear(self, name: str, value: Any) -> None:
        self.asked.append((name, value))
        if self.gate is not None:
            await self.gate.wait()
        if name in self.fails:
            raise StoreFailed("The disk is full.", remedy="Free some space.")

    async def begin(self, conversation_id: str, opening: Opening) -> None:
        await self._hear("begin", opening)
        await super().begin(conversation_id, opening)

    def add(self, response_id: str, message: Message) -> None:
        self.asked.append((f"add to {response_id}", message))

    def grow(self, response_id: str, event: TextDelta | ReasoningDelta | UsageChanged) -> None:
        self.asked.append((f"grow {response_id}", event))

    async def finish(self, conversation_id: str, response: Response) -> None:
        await self._hear("finish", response)
        await super().finish(conversation_id, response)

    @property
    def names(self) -> list[str]:
        return [name for name, _ in self.asked]


async def chat(store: MemoryStore, *script: Step) -> tuple[RecordingSink, Conversation]:
    sink, conversation = RecordingSink(), Conversation("c")
    question = Question((ASKED,), (ASKED,), Capabilities(context_window=1_000))
    recording = StoreRecording(store, "c", sink)
    async with ending(sink) as end:
        running = Chat(ScriptedProvider(*script), MODEL, recording, recording=recording)
        response = await running.run(question, conversation, parent_id=None, response_id="r")
        end.reason = response.finish_reason
    return sink, conversation


async def kept_in(store: MemoryStore) -> Response:
    record = await store.load("c")
    assert record is not None
    (kept,) = record.responses
    return kept.response


@pytest.mark.prop("eng-3")
@patient
@given(st.lists(plain, max_size=8), st.sampled_from([DONE, ServerFailed("It broke.", remedy="Mend it."), KeyError()]))
async def test_however_a_chat_ends_the_store_has_what_the_conversation_has(
    events: list[ProviderEvent], end: Step
) -> None:
    store = WatchedStore()
    try:
        await chat(store, *events, end)
    except OllmError:
        assert end is not DONE
    assert (store.names[0], store.names[-1]) == ("begin", "finish")
    assert store.names.count("begin") == store.names.count("finish") == 1
    opening, response = store.asked[0][1], store.asked[-1][1]
    assert opening == Opening("r", None, MODEL, (ASKED,))
    assert response == await kept_in(store)
    assert tuple(value for name, value in store.asked if name == "add to r") == response.output
    assert response.finish_reason is (FinishReason.STOP if end is DONE else FinishReason.ERROR)
    grown = [value for name, value in store.asked if name == "grow r" and not isinstance(value, UsageChanged)]
    assert grown == [event for event in events if isinstance(event, TextDelta | ReasoningDelta)]


@pytest.mark.prop("eng-3")
async def test_the_response_is_kept_before_the_chat_says_that_it_ended() -> None:
    store, sink = WatchedStore(), RecordingSink()
    store.gate = asyncio.Event()

    async def answer() -> None:
        recording = StoreRecording(store, "c", sink)
        async with ending(sink):
            question = Question((ASKED,), (ASKED,), Capabilities())
            chat = Chat(ScriptedProvider(TextDelta("a"), DONE), MODEL, recording, recording=recording)
            await chat.run(question, Conversation("c"), parent_id=None, response_id="r")

    task = asyncio.ensure_future(answer())
    while "begin" not in store.names:
        await asyncio.sleep(0)
    assert sink.events == []
    store.gate.set()
    while not sink.events:
        await asyncio.sleep(0)
    store.gate = asyncio.Event()
    while "finish" not in store.names:
        await asyncio.sleep(0)
    assert not any(isinstance(event, Ended) for event in sink.events)
    store.gate.set()
    await task
    assert isinstance(sink.events[-1], Ended)


@pytest.mark.prop("eng-3")
@pytest.mark.prop("core-5")
async def test_a_cancelled_chat_is_kept_as_far_as_it_came() -> None:
    store, provider = WatchedStore(), ScriptedProvider(TextDelta("Once "), Hang())
    sink = RecordingSink()
    recording = StoreRecording(store, "c", sink)
    question = Question((ASKED,), (ASKED,), Capabilities())
    running = Chat(provider, MODEL, recording, recording=recording)
    task = asyncio.ensure_future(running.run(question, Conversation("c"), parent_id=None, response_id="r"))
    await provider.waiting.wait()
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    kept = await kept_in(store)
    assert (kept.text, kept.finish_reason) == ("Once ", FinishReason.CANCELLED)


@pytest.mark.prop("eng-3")
@pytest.mark.prop("core-35")
@pytest.mark.parametrize("fails", [("begin",), ("finish",), ("begin", "finish")])
async def test_a_store_that_fails_is_one_warning_and_the_chat_goes_on(fails: tuple[str, ...]) -> None:
    store = WatchedStore(*fails)
    sink, conversation = await chat(store, TextDelta("a"), DONE)
    warnings = [event for event in sink.events if isinstance(event, Warned)]
    assert [(warning.code, warning.remedy) for warning in warnings] == [("store", "Free some space.")]
    assert "not being kept. The disk is full." in warnings[0].message
    assert sink.events[-1] == Ended(FinishReason.STOP)
    response = conversation.get("r")
    assert response is not None
    assert response.text == "a"
    assert store.names == ["begin", *(["grow r", "add to r"] if "begin" not in fails else []), "finish"]
    if "finish" not in fails:
        assert await kept_in(store) == response


@pytest.mark.prop("eng-3")
@pytest.mark.parametrize("fails", [(), ("begin",)])
async def test_messages_are_added_to_a_response_that_is_open(fails: tuple[str, ...]) -> None:
    message = Message(Role.ASSISTANT, (Text("I look."),))
    store, sink = WatchedStore(*fails), RecordingSink()
    recording = StoreRecording(store, "c", sink)
    recording.add(message)
    await recording.begin("r", None, MODEL, (ASKED,))
    recording.add(message)
    recording.emit(delta := TextDelta("more"))
    await recording.drain()
    assert store.asked[1:] == ([] if fails else [("add to r", message), ("grow r", delta)])
    assert [type(event) for event in sink.events] == [*([Warned] if fails else []), TextDelta]
    assert sink.drains == 1


@pytest.mark.prop("eng-3")
async def test_a_chat_needs_no_store() -> None:
    sink, conversation = RecordingSink(), Conversation("c")
    question = Question((ASKED,), (ASKED,), Capabilities())
    running = Chat(ScriptedProvider(TextDelta("a"), DONE), MODEL, sink)
    response = await running.run(question, conversation, parent_id=None, response_id="r")
    assert response.text == "a"
    assert isinstance(sink.events[0], Started)
    assert NoRecording().add(ASKED) is None
