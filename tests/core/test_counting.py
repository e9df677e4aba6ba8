"""Counting the tokens of a request: by the provider where the number decides something, else by our estimate."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ollm_lsp.core.counting import HOPELESS, count
from ollm_lsp.core.errors import OllmError, ServerFailed, SettingsError
from ollm_lsp.core.messages import Message
from ollm_lsp.core.request import ChatRequest
from ollm_lsp.core.tokens import estimate_request, most
from tests.core.values import patient
from tests.support.scripted_provider import ScriptedProvider

if TYPE_CHECKING:
    from collections.abc import Sequence


class CountingProvider(ScriptedProvider):
    """A provider that counts, as often as it is asked."""

    def __init__(self, answer: int | OllmError | None) -> None:
        super().__init__()
        self.asked: list[ChatRequest] = []
        self._answer = answer

    async def count(self, request: ChatRequest) -> int | None:
        self.asked.append(request)
        if isinstance(self._answer, OllmError):
            raise self._answer
        return self._answer


def ask(texts: Sequence[str]) -> ChatRequest:
    return ChatRequest("m", tuple(map(Message.user, texts)))


requests = st.lists(st.text(max_size=200), min_size=1, max_size=4).map(ask)


def run(provider: ScriptedProvider, request: ChatRequest, limit: int) -> int:
    return asyncio.run(count(provider, request, limit))


@pytest.mark.prop("core-22")
@pytest.mark.prop("core-23")
@patient
@given(requests, st.integers(1, 10_000), st.data())
def test_the_provider_counts_whatever_might_not_fit(request: ChatRequest, counted: int, data: st.DataObject) -> None:
    lowest = -(-estimate_request(request) // HOPELESS)
    limit = data.draw(st.integers(lowest, most(request) * 10 // 9))
    provider = CountingProvider(counted)
    assert run(provider, request, limit) == counted
    assert provider.asked == [request]


@pytest.mark.prop("core-23")
@patient
@given(requests, st.data())
def test_nobody_is_asked_about_what_fits_or_does_not_in_any_case(request: ChatRequest, data: st.DataObject) -> None:
    limits = st.integers(most(request) * 10 // 9 + 1, 1_000_000)
    if hopeless := (estimate_request(request) - 1) // HOPELESS:
        limits |= st.integers(1, hopeless)
    provider = CountingProvider(1)
    assert run(provider, request, data.draw(limits)) == estimate_request(request)
    assert provider.asked == []


@pytest.mark.prop("core-24")
@pytest.mark.parametrize(
    "provider",
    [
        ScriptedProvider(),
        CountingProvider(None),
        CountingProvider(ServerFailed("It failed.", remedy="Try again.")),
        CountingProvider(SettingsError("There is no key.", remedy="Set it.")),
    ],
    ids=["cannot count", "not this model", "fails", "has no key"],
)
def test_where_the_provider_does_not_count_the_estimate_does(provider: ScriptedProvider) -> None:
    request = ask(["x" * 400])
    assert run(provider, request, 100) == estimate_request(request) == 104
