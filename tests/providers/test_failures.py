"""Every failure of every vendor's server: its typed error, its remedy, and how often it is asked again."""

from __future__ import annotations

import pytest

from ollm_lsp.core.errors import (
    ConnectionFailed,
)
from ollm_lsp.core.events import TextDelta, UsageReported, Warned
from ollm_lsp.settings.secrets import Secret
from tests.providers.failures import CODES, FAILURES, KEY, Failure, check, check_waits
from tests.providers.listening import hear
from tests.providers.vendors import (
    VENDORS,
    ask,
    no_waiting,
)
from tests.support.http_server import HttpServer


@pytest.mark.prop("eng-7")
@pytest.mark.prop("krk-8")
@pytest.mark.parametrize("failure", FAILURES.values(), ids=FAILURES)
async def test_a_failure_has_its_error_its_remedy_and_its_number_of_attempts(
    failure: Failure, monkeypatch: pytest.MonkeyPatch
) -> None:
    waits = no_waiting(monkeypatch)
    vendor = failure.vendor
    async with (
        HttpServer(vendor.serving(failure.chat)) as server,
        vendor.reaching(server.url, api_key=Secret(KEY)) as provider,
    ):
        heard = await hear(provider.stream(ask()))
    check(heard, failure.error, failure.words, failure.remedy, failure.status, waits)
    assert len(vendor.chats(server.requests)) == failure.attempts == 1 + len(waits)
    check_waits(waits, failure.waits)
    said = [event for event in heard.events if not isinstance(event, Warned | UsageReported)]
    assert said in ([], [TextDelta("Hi")])
    if said:
        assert failure.attempts == 1


def test_there_are_many_failures_of_every_vendor() -> None:
    assert len(FAILURES) > 100
    for vendor in VENDORS:
        assert len({failure.error for failure in FAILURES.values() if failure.vendor is vendor}) >= 7
    assert {failure.error for failure in FAILURES.values()} == {*CODES} - {ConnectionFailed}
