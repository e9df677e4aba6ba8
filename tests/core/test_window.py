"""The window of a chat: counted where the size matters, compacted when it becomes too long."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ollm_lsp.core.compaction import Compactor, is_due, is_due_before
from ollm_lsp.core.errors import ContextOverflow
from ollm_lsp.core.events import Finished, FinishReason, TextDelta, UsageReported, Warned
from ollm_lsp.core.messages import Message, Role, Text
from ollm_lsp.core.model import Capabilities, ModelId
from ollm_lsp.core.question import Question
from ollm_lsp.core.tokens import CHARS_PER_TOKEN, estimate
from ollm_lsp.core.usage import Cost, Spending, Usage
from ollm_lsp.core.window import SUMMARISING, Window
from tests.core.values import patient
from tests.support.history import assert_valid
from tests.support.scripted_provider import Hang, RecordingSink, ScriptedProvider, Step

if TYPE_CHECKING:
    from collections.abc import Sequence

    from ollm_lsp.core.request import ChatRequest

LIMIT = 1_000
SUMMARY: tuple[Step, ...] = (TextDelta("They spoke."), UsageReported(Usage(70, 5)), Finished(FinishReason.STOP))


class Counting(ScriptedProvider):
    """A provider whose model makes so many tokens of each that we estimate."""

    def __init__(self, *script: Step, per_token: int = 1, cost: Cost | None = None) -> None:
        super().__init__(*script, cost=cost or Cost())
        self.per_token = per_token
        self.counted = 0

    async def count(self, request: ChatRequest) -> int:
        self.counted += 1
        return estimate(request.messages) * self.per_token


def sized(tokens: int, role: Role = Role.USER) -> Message:
    """A message with so many tokens."""
    return Message(role, (Text("x" * CHARS_PER_TOKEN * (tokens - 4)),))


def exchanges(*tokens: int) -> list[Message]:
    return [sized(size, (Role.USER, Role.ASSISTANT)[place % 2]) for place, size in enumerate(tokens)]


class Case:
    """A window, and everything that has to do with it."""

    def __init__(self, messages: Sequence[Message], provider: Counting | None = None, *script: Step) -> None:
        self.provider = provider or Counting()
        self.summariser = ScriptedProvider(*(script or SUMMARY), cost=Cost(3))
        self.sink = RecordingSink()
        self.spending = Spending()
        self.question = Question(tuple(messages), (Message.user("q"),), Capabilities(context_window=LIMIT))
        self.compactor = Compactor(self.summariser, ModelId("local", "small"), 0.01)

    def window(self, *, compacts: bool = True) -> Window:
        compactor = self.compactor if compacts else None
        return Window(self.question, self.provider, "m", self.sink, self.spending, (), compactor)

    @property
    def warnings(self) -> list[str]:
        return [event.code for event in self.sink.events if isinstance(event, Warned)]


@pytest.mark.prop("core-23")
async def test_only_where_the_size_decides_something_the_provider_is_asked_for_it() -> None:
    small = Case([sized(50)])
    await small.window().request()
    assert small.provider.counted == 0
    large = Case([sized(700)])
    await large.window().request()
    assert large.provider.counted == 1


@pytest.mark.prop("core-23")
@pytest.mark.prop("core-26")
async def test_the_providers_count_decides_and_not_the_estimate() -> None:
    dense = Case([sized(600)], Counting(per_token=2))
    with pytest.raises(ContextOverflow, match=r"1,200 tokens.*1,000"):
        await dense.window(compacts=False).request()


@pytest.mark.prop("core-25")
async def test_whoever_is_nearly_full_is_warned_once() -> None:
    case = Case([sized(910)])
    window = case.window(compacts=False)
    for _ in range(3):
        await window.request()
    assert case.warnings == ["context_nearly_full"]


async def test_a_window_that_becomes_too_long_is_compacted_and_goes_on_from_there() -> None:
    case = Case([*exchanges(200, 200, 200), sized(10)])
    window = case.window()
    assert (await window.request()).messages == case.question.messages
    window.add(sized(100, Role.ASSISTANT))
    window.add(sized(100))
    request = await window.request()
    assert "They spoke." in request.messages[0].text
    assert request.messages[-2:] == (sized(100, Role.ASSISTANT), sized(100))
    assert estimate(request.messages) <= LIMIT // 2
    assert case.sink.events[0] == SUMMARISING
    assert case.warnings == ["compacted"]
    assert (case.spending.usage, case.spending.cost) == (Usage(70, 5), Cost(3))
    window.add(sized(20, Role.ASSISTANT))
    assert (await window.request()).messages == (*request.messages, sized(20, Role.ASSISTANT))
    assert len(case.summariser.requests) == 1


async def test_a_compaction_that_does_not_help_is_not_tried_in_every_turn() -> None:
    case = Case([sized(850)])
    window = case.window()
    for _ in range(5):
        await window.request()
        window.add(sized(5, Role.ASSISTANT))
        window.add(sized(5))
    assert case.sink.events.count(SUMMARISING) == 1


async def test_a_summary_that_takes_too_long_leaves_the_newest_messages() -> None:
    case = Case(exchanges(300, 300, 250), None, Hang())
    request = await case.window().request()
    assert request.messages[-1] == sized(250)
    assert estimate(request.messages) <= LIMIT // 2
    assert case.warnings == ["compacted"]
    assert case.summariser.closed == case.summariser.opened == 1


async def test_a_model_with_more_tokens_than_we_estimate_is_given_a_shorter_history() -> None:
    case = Case(exchanges(100, 100, 100, 100, 10), Counting(per_token=2))
    request = await case.window().request()
    assert await case.provider.count(request) <= LIMIT // 2


async def test_results_get_the_room_that_is_left() -> None:
    case = Case([sized(100)])
    window = case.window()
    await window.request()
    window.add(sized(50, Role.ASSISTANT))
    assert window.room(2) == (LIMIT - LIMIT // 4 - 150) * CHARS_PER_TOKEN // 2


@pytest.mark.threat("F15")
@pytest.mark.prop("core-26")
@patient
@given(st.lists(st.integers(5, 400), min_size=1, max_size=9), st.integers(1, 3))
async def test_whatever_was_said_the_model_is_sent_no_more_than_it_reads(sizes: list[int], per_token: int) -> None:
    case = Case(exchanges(*sizes[: len(sizes) // 2 * 2], 10), Counting(per_token=per_token))
    window = case.window()
    try:
        request = await window.request()
    except ContextOverflow:
        # Only what cannot be summarised is too long: the newest messages.
        assert (sum(sizes) + 10) * per_token > LIMIT
        return
    assert await case.provider.count(request) <= LIMIT
    assert_valid(request.messages)
    assert request.messages[-1] == case.question.messages[-1]


@patient
@given(st.integers(0, 10_000), st.integers(1, 10_000))
def test_before_a_chat_it_is_due_earlier_than_in_the_middle_of_one(tokens: int, limit: int) -> None:
    assert is_due_before(tokens, limit) == (tokens >= 0.6 * limit)
    assert is_due_before(tokens, limit) or not is_due(tokens, limit)
