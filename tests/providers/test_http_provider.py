"""What all providers with an address share: the user's own headers and parameters on the wire."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from ollm_lsp.core.errors import SettingsError
from ollm_lsp.core.events import Finished
from ollm_lsp.settings.headers import HeaderValue
from ollm_lsp.settings.secrets import Secret
from tests.providers.listening import hear
from tests.providers.vendors import ANTHROPIC, GOOGLE, OLLAMA, OPENAI, VENDORS, Vendor, ask
from tests.support.http_server import HttpServer

if TYPE_CHECKING:
    from tests.providers.listening import Heard
    from tests.support.http_server import Request

every_vendor = pytest.mark.parametrize("vendor", VENDORS, ids=lambda vendor: vendor.name)


async def chat(vendor: Vendor, **settings: Any) -> tuple[Heard, list[Request]]:
    """What is heard of a server that says hi, and what it was asked."""
    async with HttpServer(vendor.serving(vendor.says_hi)) as server:
        async with vendor.reaching(server.url, **settings) as provider:
            heard = await hear(provider.stream(ask(max_tokens=50, temperature=0.5)))
        return heard, server.requests


@pytest.mark.prop("eng-5")
@every_vendor
async def test_parameters_of_the_user_s_own_are_sent_beside_ours(vendor: Vendor) -> None:
    _, plain = await chat(vendor)
    heard, requests = await chat(vendor, extra={"top_k": 20, "kwargs": {"think": False}})
    assert isinstance(heard.events[-1], Finished)
    (usual,), (sent,) = vendor.chats(plain), vendor.chats(requests)
    assert sent.json == usual.json | {"top_k": 20, "kwargs": {"think": False}}
    # What is asked besides the chat is not the server's chat API.
    assert [request.body for request in requests if request is not sent] == [
        request.body for request in plain if request is not usual
    ]


OVERRIDES: dict[str, tuple[Vendor, dict[str, Any], str, Any]] = {
    "a value": (OPENAI, {"max_tokens": 7}, "max_tokens", 7),
    "an object, filled from both": (
        OPENAI,
        {"stream_options": {"continuous_usage_stats": True}},
        "stream_options",
        {"include_usage": True, "continuous_usage_stats": True},
    ),
    "deep inside": (
        GOOGLE,
        {"generationConfig": {"topK": 3, "temperature": 0}},
        "generationConfig",
        {"maxOutputTokens": 50, "temperature": 0, "topK": 3},
    ),
    "an option": (
        OLLAMA,
        {"options": {"num_ctx": 512}},
        "options",
        {"num_ctx": 512, "num_predict": 50, "temperature": 0.5},
    ),
    "something else in place of an object": (OPENAI, {"stream_options": None}, "stream_options", None),
    "a limit": (ANTHROPIC, {"max_tokens": 9}, "max_tokens", 9),
}


@pytest.mark.prop("eng-5")
@pytest.mark.parametrize(("vendor", "extra", "name", "value"), OVERRIDES.values(), ids=OVERRIDES)
async def test_what_the_user_says_counts_more_than_what_we_would_send(
    vendor: Vendor, extra: dict[str, Any], name: str, value: Any
) -> None:
    _, requests = await chat(vendor, extra=extra)
    assert vendor.chats(requests)[0].json[name] == value


@every_vendor
async def test_headers_are_sent_with_every_request_and_references_are_read_at_use(
    vendor: Vendor, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("TEAM_TOKEN", "team-canary-1")
    headers = {"X-Team": HeaderValue("X-Team", "${TEAM_TOKEN}"), "X-Title": HeaderValue("X-Title", "ollm lsp")}
    async with HttpServer(vendor.serving(vendor.says_hi)) as server:
        async with vendor.reaching(server.url, headers=headers, api_key=Secret("sk-canary-1")) as provider:
            await provider.models()
            await hear(provider.stream(ask()))
            monkeypatch.setenv("TEAM_TOKEN", "team-canary-2")
            await hear(provider.stream(ask()))
        assert {request.headers["x-title"] for request in server.requests} == {"ollm lsp"}
        teams = [request.headers["x-team"] for request in server.requests]
        assert teams[-1] == "team-canary-2"
        assert set(teams[:-1]) == {"team-canary-1"}
        assert all("sk-canary-1" in request.headers[vendor.key_header] for request in server.requests)


@every_vendor
async def test_a_header_whose_variable_is_missing_is_an_error_before_anything_is_sent(vendor: Vendor) -> None:
    headers = {"X-Team": HeaderValue("X-Team", "${OLLM_NOT_THERE}")}
    heard, requests = await chat(vendor, headers=headers)
    assert type(heard.error) is SettingsError
    assert "OLLM_NOT_THERE" in str(heard.error)
    assert requests == []
