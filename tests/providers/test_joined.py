"""Deltas of one chunk are joined, and nothing else about them changes."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ollm_lsp.core.errors import MalformedAnswer
from ollm_lsp.core.events import Finished, FinishReason, ReasoningDelta, TextDelta
from ollm_lsp.core.turn import Turn
from ollm_lsp.providers.wire.codec import MOST_JOINED, joined

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from ollm_lsp.core.events import ProviderEvent

STOP = Finished(FinishReason.STOP)
EVENTS = st.lists(st.builds(TextDelta, st.text(max_size=3)) | st.builds(ReasoningDelta, st.text(max_size=3)))


def collected(events: Sequence[ProviderEvent]) -> Turn:
    turn = Turn()
    for event in events:
        turn.add(event)
    return turn


def test_the_first_delta_of_a_chunk_goes_on_at_once() -> None:
    def events() -> Iterator[ProviderEvent]:
        yield TextDelta("a")
        raise AssertionError("nobody needs more yet")

    assert next(joined(events())) == TextDelta("a")


def test_further_deltas_become_one_but_never_too_many() -> None:
    deltas = [TextDelta(str(number % 10)) for number in range(1 + 2 * MOST_JOINED + 3)]
    found = list(joined([*deltas, STOP]))
    assert [len(delta.text) for delta in found if isinstance(delta, TextDelta)] == [1, MOST_JOINED, MOST_JOINED, 3]
    assert found[-1] == STOP


@given(EVENTS)
def test_the_message_is_the_same(events: list[ProviderEvent]) -> None:
    assert collected(list(joined(events))).message == collected(events).message
    thoughts = [event for event in events if isinstance(event, ReasoningDelta)]
    assert [event for event in joined(events) if isinstance(event, ReasoningDelta)] == thoughts


def test_what_came_before_a_failure_has_come() -> None:
    def events() -> Iterator[ProviderEvent]:
        yield from (TextDelta("a"), TextDelta("b"), TextDelta("c"))
        raise MalformedAnswer("Broken.", remedy="None.")

    heard: list[ProviderEvent] = []
    with pytest.raises(MalformedAnswer):
        heard.extend(joined(events()))
    assert heard == [TextDelta("a"), TextDelta("bc")]
