"""Compaction: a history that becomes too long is replaced by a summary of its older part and its newest messages."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass, field, replace
from enum import StrEnum
from typing import TYPE_CHECKING, assert_never

from ollm_lsp.core.errors import OllmError
from ollm_lsp.core.events import FinishReason, Warned
from ollm_lsp.core.messages import Image, Message, Role, Text
from ollm_lsp.core.summary import summarise
from ollm_lsp.core.tokens import estimate
from ollm_lsp.core.usage import Usage

if TYPE_CHECKING:
    from collections.abc import Sequence

    from ollm_lsp.core.model import ModelId
    from ollm_lsp.core.ports import Provider
    from ollm_lsp.core.usage import Cost

LEAST = 32
"""Tokens below which a summary says nothing."""
_SUMMARY = "[Summary of the conversation so far]\n{}\n[End of the summary]"
_LEFT_OUT = "[Earlier messages were left out, because they no longer fit.]"
_QUESTION = "\n\n[The question that is being answered]\n"
_GOING_ON = Message(Role.ASSISTANT, (Text("I go on from there."),))


class Outcome(StrEnum):
    """What became of the older messages."""

    UNCHANGED = "unchanged"
    SUMMARISED = "summarised"
    LEFT_OUT = "left_out"


@dataclass(frozen=True, slots=True)
class Compacted:
    """The history to go on with. `problem` says why there is no summary, `usage` what it took to try."""

    messages: tuple[Message, ...]
    outcome: Outcome
    tokens_before: int
    limit: int
    usage: Usage = field(default_factory=Usage)
    problem: str | None = None

    @property
    def tokens(self) -> int:
        return estimate(self.messages)

    @property
    def fits(self) -> bool:
        return self.tokens <= self.limit

    @property
    def warning(self) -> Warned | None:
        """What the user should know of it."""
        sizes = f"about {self.tokens_before:,} tokens became {self.tokens:,}."
        match self.outcome:
            case Outcome.UNCHANGED:
                return None
            case Outcome.SUMMARISED:
                return Warned("compacted", f"The older part of the conversation was summarised: {sizes}")
            case Outcome.LEFT_OUT:
                return Warned(
                    "compacted",
                    f"The oldest messages were left out, since there is no summary ({self.problem}): {sizes}",
                    "Start a new conversation, or choose a model with a larger context.",
                )
            case _:
                assert_never(self.outcome)


def is_due(tokens: int, limit: int) -> bool:
    """Whether it is time in the middle of a chat: from 80 % of the limit on, before the warning at 90 %."""
    return tokens * 10 >= limit * 8


def is_due_before(tokens: int, limit: int) -> bool:
    """Whether it is time before a chat: from 60 % on, because the context of the question needs room as well."""
    return tokens * 10 >= limit * 6


@dataclass(frozen=True, slots=True)
class Compactor:
    """Who summarises, and how many seconds that may take."""

    provider: Provider
    model: ModelId
    time_limit: float

    async def compact(self, history: Sequence[Message], *, window: int) -> Compacted:
        """The history in half of a window, its newest messages in a quarter: that leaves room for what comes next."""
        return await compact(
            history,
            self.provider,
            self.model.name,
            limit=window // 2,
            keep_tokens=window // 4,
            time_limit=self.time_limit,
        )

    def cost(self, usage: Usage) -> Cost:
        return self.provider.cost(self.model.name, usage)


async def compact(
    history: Sequence[Message], provider: Provider, model: str, *, limit: int, keep_tokens: int, time_limit: float
) -> Compacted:
    """Summarise all but the system prompt and the newest messages, of which about `keep_tokens` stay as they are.

    When there is no summary within so many seconds, or none that helps, the newest messages that fit the limit stay.
    A tool call and its results stay or go together, and the question that they are about stays with them.
    """
    past = _Past(history, limit)
    at = past.first_within(keep_tokens)
    older = past.before(at)
    budget = min(limit - estimate(past.from_unit(at, _SUMMARY)), estimate(older) // 2)
    if budget < LEAST:
        return past.shortened("there is too little to summarise, or no room for it")
    try:
        async with asyncio.timeout(time_limit):
            summary = await summarise(older, provider, model, tokens=budget)
    except TimeoutError:
        return past.shortened(f"it took longer than {time_limit:g} s")
    except OllmError as error:
        return past.shortened(error.message)
    messages = past.from_unit(at, _SUMMARY.format(summary.text.strip()))
    compacted = Compacted(messages, Outcome.SUMMARISED, past.tokens, limit, summary.usage)
    if not summary.text.strip() or summary.finish_reason is FinishReason.CONTENT_FILTER:
        return replace(past.shortened("the model wrote none"), usage=summary.usage)
    if not compacted.fits or compacted.tokens >= past.tokens:
        return replace(past.shortened("it was too long"), usage=summary.usage)
    return compacted


class _Past:
    """A history in units that stay or go as a whole: a question, or an answer with the results of its calls."""

    def __init__(self, history: Sequence[Message], limit: int) -> None:
        self._history = tuple(history)
        self._limit = limit
        self.tokens = estimate(history)
        self._units: list[list[Message]] = []
        size = next((at for at, message in enumerate(history) if message.role is not Role.SYSTEM), len(history))
        self._system = self._history[:size]
        for message in self._history[size:]:
            if message.role is Role.TOOL and self._units:
                self._units[-1].append(message)
            else:
                self._units.append([message])

    def first_within(self, tokens: int) -> int:
        """The oldest unit of the newest ones that have no more than so many tokens; the newest of all in any case."""
        at = len(self._units)
        while at and (tokens := tokens - estimate(self._units[at - 1])) >= 0:
            at -= 1
        return min(at, max(0, len(self._units) - 1))

    def before(self, at: int) -> list[Message]:
        return [message for unit in self._units[:at] for message in unit]

    def from_unit(self, at: int, recap: str) -> tuple[Message, ...]:
        """The history from a unit on, with a recap in place of what was before it, and in alternating roles."""
        kept = [message for unit in self._units[at:] for message in unit]
        if kept and kept[0].role is Role.USER:
            return (*self._system, Message.user(recap), _GOING_ON, *kept)
        question = next((message for message in reversed(self.before(at)) if message.role is Role.USER), None)
        asked = [part for part in question.parts if isinstance(part, Text | Image)] if question else []
        return (*self._system, Message.user(recap, *([_QUESTION] if asked else []), *asked), *kept)

    def shortened(self, problem: str) -> Compacted:
        """The newest units that fit; when not even the newest of them does, what comes nearest."""
        unchanged = Compacted(self._history, Outcome.UNCHANGED, self.tokens, self._limit, problem=problem)
        if unchanged.fits or len(self._units) <= 1:
            return unchanged
        cut = replace(unchanged, messages=self._newest_that_fit(), outcome=Outcome.LEFT_OUT)
        if not cut.fits and self._units[-1][0].role is Role.USER:
            cut = replace(cut, messages=(*self._system, *self._units[-1]))
        return cut if cut.tokens < self.tokens else unchanged

    def _newest_that_fit(self) -> tuple[Message, ...]:
        room = self._limit - estimate(self._system)
        left = sum(map(estimate, self._units))
        for at in range(1, len(self._units)):
            left -= estimate(self._units[at - 1])
            # Building them is dear, so only those are built that may fit.
            if left <= room and estimate(messages := self.from_unit(at, _LEFT_OUT)) <= self._limit:
                return messages
        return self.from_unit(len(self._units) - 1, _LEFT_OUT)
