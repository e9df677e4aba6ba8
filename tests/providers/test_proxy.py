"""The proxy for an address, as the environment names it."""

from __future__ import annotations

import pytest
from yarl import URL

from ollm_lsp.core.errors import ConnectionFailed
from ollm_lsp.providers.proxy import proxy_for
from ollm_lsp.settings.redactor import redactor
from tests.providers.listening import hear
from tests.providers.vendors import OPENAI, ask, at_home, no_proxies
from tests.support.http_server import HttpServer, Request, Responder

ELSEWHERE = URL("https://api.example/v1")


@pytest.fixture(autouse=True)
def nothing_set(monkeypatch: pytest.MonkeyPatch) -> None:
    no_proxies(monkeypatch)


@pytest.mark.parametrize(
    ("variable", "value", "url", "proxy"),
    [
        ("HTTPS_PROXY", "http://proxy:3128", "https://api.example/v1", "http://proxy:3128"),
        ("https_proxy", "proxy:3128", "https://api.example/v1", "http://proxy:3128"),
        ("ALL_PROXY", "http://proxy:3128", "https://api.example/v1", "http://proxy:3128"),
        ("HTTP_PROXY", "http://proxy:3128", "https://api.example/v1", None),
        ("HTTP_PROXY", "http://proxy:3128", "http://api.example/v1", "http://proxy:3128"),
        ("HTTP_PROXY", "http://proxy:3128", "http://127.0.0.1:8000/v1", None),
        ("HTTPS_PROXY", "http://proxy:3128", "https://localhost/v1", None),
        ("HTTPS_PROXY", "", "https://api.example/v1", None),
    ],
)
def test_the_environment_names_the_proxy_for_other_machines(
    variable: str, value: str, url: str, proxy: str | None, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv(variable, value)
    assert proxy_for(URL(url)) == proxy


def test_what_is_excepted_goes_there_itself(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HTTPS_PROXY", "http://proxy:3128")
    monkeypatch.setenv("NO_PROXY", "api.example")
    assert proxy_for(ELSEWHERE) is None


def test_a_kind_that_cannot_be_used_is_an_error_with_a_remedy(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ALL_PROXY", "socks5://proxy:1080")
    with pytest.raises(ConnectionFailed) as failed:
        proxy_for(ELSEWHERE)
    assert "ALL_PROXY is of the kind socks5" in failed.value.message
    assert "except api.example from it with NO_PROXY" in failed.value.remedy


@pytest.mark.prop("krk-41")
def test_the_password_of_a_proxy_is_a_secret(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HTTPS_PROXY", "http://me:pass%40word-1@proxy:3128")
    assert proxy_for(ELSEWHERE) == "http://me:pass%40word-1@proxy:3128"
    assert redactor.redact("pass@word-1 or pass%40word-1") == "*** or ***"


async def test_a_chat_goes_by_the_proxy(monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[str] = []

    async def forward(request: Request, responder: Responder) -> None:
        asked.append(request.path)
        await OPENAI.says_hi(request, responder)

    async with HttpServer(forward) as proxy:
        at_home(monkeypatch)
        monkeypatch.setenv("HTTP_PROXY", proxy.url)
        async with OPENAI.reaching("http://models.example") as provider:
            assert (await hear(provider.stream(ask()))).text == "Hi"
    assert asked == ["http://models.example/v1/chat/completions"]
