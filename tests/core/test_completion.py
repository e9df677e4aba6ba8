"""A whole answer: the same as the stream it was collected from."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ollm_lsp.core.errors import IncompleteAnswer, RateLimited
from ollm_lsp.core.events import Finished, FinishReason, ProviderEvent, TextDelta
from ollm_lsp.core.messages import Message
from ollm_lsp.core.request import ChatRequest
from ollm_lsp.core.turn import Turn
from tests.core.values import patient, reasons, said
from tests.support.scripted_provider import ScriptedProvider

REQUEST = ChatRequest("m", (Message.user("why?"),))


@pytest.mark.prop("eng-2")
@patient
@given(st.lists(said, max_size=12), reasons)
async def test_it_is_what_the_stream_says(events: list[ProviderEvent], reason: FinishReason) -> None:
    turn = Turn()
    for event in events:
        turn.add(event)
    provider = ScriptedProvider(*events, Finished(reason))
    completion = await provider.complete(REQUEST)
    assert (completion.message, completion.usage, completion.finish_reason) == (turn.message, turn.usage, reason)
    assert completion.text == (turn.message.text if turn.message else "")
    assert provider.closed == 1


async def test_a_stream_without_an_end_is_no_answer() -> None:
    with pytest.raises(IncompleteAnswer):
        await ScriptedProvider(TextDelta("so far")).complete(REQUEST)


async def test_a_failure_is_the_stream_s() -> None:
    provider = ScriptedProvider(TextDelta("so far"), RateLimited("Slow down.", remedy="Wait."))
    with pytest.raises(RateLimited):
        await provider.complete(REQUEST)
    assert provider.closed == 1
