"""Compaction: a history that fits again, that every wire accepts, and that has lost nothing new."""

from __future__ import annotations

import asyncio
from itertools import pairwise

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from ollm_lsp.core.compaction import LEAST, Compacted, Outcome, compact, is_due
from ollm_lsp.core.errors import ServerFailed
from ollm_lsp.core.events import Finished, FinishReason, TextDelta, UsageReported
from ollm_lsp.core.messages import Image, Message, Role, Text
from ollm_lsp.core.model import Capabilities
from ollm_lsp.core.tokens import check_fit, estimate
from ollm_lsp.core.tool import ToolCall, ToolResult
from ollm_lsp.core.usage import Usage
from tests.core.values import patient
from tests.support.scripted_provider import Hang, ScriptedProvider, Step

SYSTEM = Message.system("Be brief.")
STOP = Finished(FinishReason.STOP)
SUMMARY = (TextDelta(" They spoke"), TextDelta(" of files.\n"), UsageReported(Usage(70, 5)), STOP)
RECAP = "[Summary of the conversation so far]\nThey spoke of files.\n[End of the summary]"


FOLLOWING: dict[Role | None, set[Role]] = {
    None: {Role.USER},
    Role.USER: {Role.ASSISTANT},
    Role.ASSISTANT: {Role.USER, Role.TOOL},
    Role.TOOL: {Role.USER, Role.ASSISTANT},
}


def said(text: str) -> Message:
    return Message(Role.ASSISTANT, (Text(text),))


def called(number: int, result: str) -> list[Message]:
    calls = tuple(ToolCall(f"{number}.{place}", "read", {}) for place in range(2))
    return [
        Message(Role.ASSISTANT, calls),
        Message(Role.TOOL, tuple(ToolResult(call.id, call.name, result) for call in calls)),
    ]


def exchange(number: int, words: int = 50) -> list[Message]:
    text = f"{number} " * words
    return [Message.user(f"q{text}"), *called(number, text), said(f"a{text}")]


LONG = [SYSTEM, *exchange(1), *exchange(2), *exchange(3)]


async def compacted(
    history: list[Message], *script: Step, limit: int = 300, keep_tokens: int = 130, time_limit: float = 60
) -> Compacted:
    provider = ScriptedProvider(*script)
    result = await compact(history, provider, "m", limit=limit, keep_tokens=keep_tokens, time_limit=time_limit)
    assert provider.closed == provider.opened
    return result


def assert_valid(history: list[Message], result: Compacted) -> None:
    """As every wire wants it: the system prompt, then alternating roles, every call with its results."""
    roles = [message.role for message in result.messages if message.role is not Role.SYSTEM]
    assert result.messages[: len(result.messages) - len(roles)] == tuple(history[:1] if history[0] == SYSTEM else ())
    for role, following in pairwise([None, *roles]):
        assert following in FOLLOWING[role]
    asked = [part.id for message in result.messages for part in message.parts if isinstance(part, ToolCall)]
    given = [part.call_id for message in result.messages for part in message.parts if isinstance(part, ToolResult)]
    assert asked == given
    assert result.messages[-1] == history[-1]


@patient
@given(st.integers(0, 10_000), st.integers(1, 10_000))
def test_it_is_due_before_anybody_is_warned(tokens: int, limit: int) -> None:
    assert is_due(tokens, limit) == (tokens >= 0.8 * limit)
    if tokens <= limit and check_fit(tokens, limit):
        assert is_due(tokens, limit)


async def test_older_messages_become_a_summary_and_the_newest_stay_whole() -> None:
    result = await compacted(LONG, *SUMMARY)
    assert result.outcome is Outcome.SUMMARISED
    assert result.messages == (SYSTEM, Message.user(RECAP), said("I go on from there."), *exchange(3))
    assert result.fits
    assert (result.tokens_before, result.tokens) == (estimate(LONG), estimate(result.messages))
    assert result.usage == Usage(70, 5)
    assert result.warning is not None
    assert f"about {estimate(LONG):,} tokens became {result.tokens:,}" in result.warning.message


async def test_a_history_cut_inside_an_answer_keeps_its_question() -> None:
    image = Image("image/png", b"x")
    question = Message.user("What is it?", image)
    history = [SYSTEM, *exchange(1), question, *called(2, "two " * 50), *called(3, "three " * 20)]
    result = await compacted(history, *SUMMARY, limit=2_000, keep_tokens=100)
    recap = Message.user(RECAP, "\n\n[The question that is being answered]\n", "What is it?", image)
    assert result.messages == (SYSTEM, recap, *called(3, "three " * 20))
    assert_valid(history, result)


async def test_the_model_is_shown_the_older_messages_alone_and_bounded_in_what_it_writes() -> None:
    provider = ScriptedProvider(*SUMMARY)
    await compact(LONG, provider, "small", limit=300, keep_tokens=130, time_limit=60)
    (request,) = provider.requests
    shown = request.messages[-1].text
    assert request.model == "small"
    assert all(f"user: q{number} " in shown and f"assistant: a{number} " in shown for number in (1, 2))
    assert "[calls read with {}]" in shown
    assert "q3" not in shown
    assert "Be brief." not in shown
    assert request.max_tokens is not None
    assert LEAST <= request.max_tokens <= estimate(exchange(1) + exchange(2)) // 2


FAILURES: dict[str, tuple[list[Step], str]] = {
    "an error": ([ServerFailed("It broke.", remedy="Mend it.")], "It broke."),
    "a stream without an end": ([TextDelta("They")], "stopped without finishing"),
    "nothing": ([STOP], "the model wrote none"),
    "only space": ([TextDelta(" \n"), STOP], "the model wrote none"),
    "a refusal": ([TextDelta("I"), Finished(FinishReason.CONTENT_FILTER)], "the model wrote none"),
    "too many words": ([TextDelta("word " * 5_000), STOP], "it was too long"),
}


@pytest.mark.parametrize("name", FAILURES)
async def test_without_a_summary_the_newest_messages_that_fit_stay(name: str) -> None:
    script, problem = FAILURES[name]
    result = await compacted(LONG, *script)
    notice = Message.user("[Earlier messages were left out, because they no longer fit.]")
    assert result.outcome is Outcome.LEFT_OUT
    assert result.messages == (SYSTEM, notice, said("I go on from there."), *exchange(2), *exchange(3))
    assert result.fits
    assert problem in (result.problem or "")
    assert result.warning is not None
    assert problem in result.warning.message


async def test_a_model_that_takes_too_long_is_not_waited_for() -> None:
    provider = ScriptedProvider(TextDelta("They"), Hang())
    result = await compact(LONG, provider, "m", limit=300, keep_tokens=130, time_limit=0)
    assert result.outcome is Outcome.LEFT_OUT
    assert result.problem == "it took longer than 0 s"
    assert provider.closed == provider.opened


@pytest.mark.prop("core-5")
async def test_it_can_be_cancelled_and_the_stream_is_closed() -> None:
    provider = ScriptedProvider(TextDelta("They"), Hang())
    compacting = asyncio.create_task(compact(LONG, provider, "m", limit=300, keep_tokens=130, time_limit=600))
    await provider.waiting.wait()
    compacting.cancel()
    with pytest.raises(asyncio.CancelledError):
        await compacting
    assert provider.closed == provider.opened == 1


async def test_a_history_that_fits_is_left_alone_when_there_is_no_summary() -> None:
    result = await compacted(LONG, STOP, limit=10_000)
    assert (result.messages, result.outcome, result.warning) == (tuple(LONG), Outcome.UNCHANGED, None)


async def test_nobody_is_asked_when_there_is_nothing_to_summarise() -> None:
    history = [SYSTEM, *exchange(1, words=2)]
    result = await compacted(history)
    assert (result.messages, result.outcome) == (tuple(history), Outcome.UNCHANGED)
    assert result.usage == Usage()


async def test_what_cannot_fit_is_said_not_to_fit() -> None:
    history = [SYSTEM, *exchange(1), Message.user("why " * 500)]
    result = await compacted(history, *SUMMARY)
    assert not result.fits
    assert result.messages == (SYSTEM, history[-1])


async def test_a_summary_is_summarised_again() -> None:
    first = await compacted(LONG, *SUMMARY)
    history = [*first.messages, *exchange(4), *exchange(5)]
    provider = ScriptedProvider(TextDelta("Again."), STOP)
    second = await compact(history, provider, "m", limit=300, keep_tokens=130, time_limit=60)
    assert second.messages[1].text == RECAP.replace("They spoke of files.", "Again.")
    assert "They spoke of files." in provider.requests[0].messages[-1].text
    assert_valid(history, second)


@st.composite
def histories(draw: st.DrawFn) -> list[Message]:
    history = [SYSTEM] if draw(st.booleans()) else []
    sizes = st.sampled_from([1, 10, 300])
    for number in range(draw(st.integers(1, 4))):
        history.append(Message.user("q" * draw(sizes)))
        for turn in range(draw(st.integers(0, 2))):
            history += called(10 * number + turn, "r" * draw(sizes))
        history.append(said("a" * draw(sizes)))
    cut = draw(st.sampled_from([0, 0, 1]))
    return history[: len(history) - cut] if cut and len(history) > 2 else history


@patient
@given(
    histories(),
    st.integers(20, 600),
    st.integers(0, 400),
    st.sampled_from([SUMMARY, (STOP,), (TextDelta("x" * 900), STOP)]),
)
@example([SYSTEM, Message.user("q" * 300), said("a" * 300), Message.user("q")], 60, 10, SUMMARY)
async def test_any_history_fits_afterwards_or_it_is_said_that_it_cannot(
    history: list[Message], limit: int, keep_tokens: int, script: tuple[Step, ...]
) -> None:
    result = await compacted(history, *script, limit=limit, keep_tokens=keep_tokens)
    assert_valid(history, result)
    assert result.fits == (estimate(result.messages) <= limit)
    assert result.tokens <= result.tokens_before
    assert (result.outcome is Outcome.UNCHANGED) == (result.messages == tuple(history))
    if not result.fits:
        # Not even the system prompt, the notice and the newest unit would have.
        newest = 2 if history[-1].role is Role.TOOL else 1
        assert limit < estimate([SYSTEM, *history[-newest:]]) + estimate([Message.user("x" * 110 + "q" * 300)])


@patient
@given(histories(), st.integers(200, 2_000))
async def test_what_the_model_is_shown_fits_its_own_window(history: list[Message], window: int) -> None:
    provider = ScriptedProvider(*SUMMARY, capabilities=Capabilities(context_window=window))
    await compact(history, provider, "m", limit=10_000, keep_tokens=0, time_limit=60)
    for request in provider.requests:
        assert estimate(request.messages) + (request.max_tokens or 0) <= window
