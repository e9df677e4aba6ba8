"""What a progress tells of a chat."""

from __future__ import annotations

from typing import TYPE_CHECKING, cast

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ollm_lsp.core.errors import ConnectionFailed
from ollm_lsp.core.events import Failed, TextDelta, TurnStarted, UsageChanged
from ollm_lsp.core.usage import FREE, Usage
from ollm_lsp.lsp.chat_progress import ChatProgress

if TYPE_CHECKING:
    from ollm_lsp.lsp.progress import WorkDone

pytestmark = pytest.mark.prop("lsp-3")


class Reports:
    """A progress that keeps what it is told."""

    def __init__(self) -> None:
        self.messages: list[str] = []

    def report(self, message: str, _percentage: int | None = None) -> None:
        self.messages.append(message)


def watching() -> ChatProgress:
    progress = ChatProgress(cast("WorkDone", Reports()))
    progress.observe(TurnStarted(1))
    return progress


@given(st.text(min_size=1), st.integers(1, 9))
def test_however_a_text_is_cut_into_deltas_it_is_as_many_tokens(text: str, length: int) -> None:
    whole, cut = watching(), watching()
    whole.observe(TextDelta(text))
    for start in range(0, len(text), length):
        cut.observe(TextDelta(text[start : start + length]))
    assert cut.summary() == whole.summary()
    assert whole.summary().split()[0] == str(-(-len(text) // 4))


def test_the_tokens_that_the_provider_told_of_count() -> None:
    progress = watching()
    progress.observe(TextDelta("Hello."))
    progress.observe(UsageChanged(Usage(10, 7), FREE, 17, None))
    assert progress.summary() == "7 tokens"
    progress.observe(TextDelta("More"))
    assert progress.summary() == "8 tokens"


def test_what_failed_is_not_counted() -> None:
    progress = watching()
    progress.observe(TextDelta("Hello."))
    progress.observe(Failed(ConnectionFailed("It is gone.", remedy="Start it.")))
    assert progress.summary() == "Failed"
