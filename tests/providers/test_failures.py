"""Every failure of every vendor's server: its typed error, its remedy, and how often it is asked again."""

from __future__ import annotations

import asyncio
import gzip
import json
import socket
import ssl
import sys
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from ollm_lsp.core.errors import (
    AuthenticationFailed,
    ConnectionFailed,
    ContentFiltered,
    ContextOverflow,
    IncompleteAnswer,
    MalformedAnswer,
    ModelNotFound,
    ProviderError,
    RateLimited,
    ServerFailed,
    TimedOut,
    Unsupported,
)
from ollm_lsp.core.events import TextDelta, UsageReported, Warned
from ollm_lsp.settings.resolved import TimeLimits
from ollm_lsp.settings.secrets import Secret
from tests.providers.listening import hear
from tests.providers.vendors import (
    ANTHROPIC,
    GOOGLE,
    HOST,
    OLLAMA,
    OPENAI,
    VENDORS,
    Vendor,
    ask,
    at_home,
    no_waiting,
)
from tests.support import http_server
from tests.support.clock import Clock
from tests.support.http_server import HttpServer

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from tests.providers.listening import Heard
    from tests.support.http_server import Handler, Request, Responder

CODES: dict[type[ProviderError], str] = {
    AuthenticationFailed: "authentication",
    ConnectionFailed: "connection",
    ContentFiltered: "content_filter",
    ContextOverflow: "context_overflow",
    IncompleteAnswer: "incomplete",
    MalformedAnswer: "protocol",
    ModelNotFound: "model_not_found",
    RateLimited: "rate_limit",
    ServerFailed: "server_error",
    TimedOut: "timeout",
    Unsupported: "unsupported",
}
KEY = "sk-canary-4711"
AGAIN = 4
"""One attempt and three more."""


@dataclass(frozen=True)
class Failure:
    """What a server does, and what becomes of it."""

    vendor: Vendor
    chat: Handler
    error: type[ProviderError]
    words: str
    remedy: str
    attempts: int = 1
    status: int | None = None
    waits: float | None = None
    """What the server asks for; without that, each wait is longer than the one before."""


def says(
    vendor: Vendor,
    status: int,
    body: Any,
    error: type[ProviderError],
    words: str,
    remedy: str,
    attempts: int = 1,
    waits: float | None = None,
    **headers: str,
) -> Failure:
    """A server that refuses with a status and a body."""
    content = body if isinstance(body, bytes | str) else json.dumps(body)

    async def chat(_: Request, responder: Responder) -> None:
        await responder.whole(status, content, {name.replace("_", "-"): value for name, value in headers.items()})

    return Failure(vendor, chat, error, words, remedy, attempts, status, waits)


def streams(
    vendor: Vendor,
    frames: Sequence[str | Any],
    error: type[ProviderError],
    words: str,
    remedy: str,
    attempts: int = 1,
    waits: float | None = None,
) -> Failure:
    """A server that begins well and fails inside its answer."""
    texts = [frame if isinstance(frame, str) else vendor.frame(frame) for frame in frames]

    async def chat(_: Request, responder: Responder) -> None:
        await vendor.streams(responder, *texts)
        await responder.end()

    return Failure(vendor, chat, error, words, remedy, attempts, None, waits)


def openai(message: str, kind: str | None = None, code: str | None = None) -> Any:
    return {"error": {"message": message, "type": kind, "param": None, "code": code}}


def anthropic(kind: str, message: str) -> Any:
    return {"type": "error", "error": {"type": kind, "message": message}, "request_id": "req_1"}


def google(number: int, status: str, message: str, *details: Any) -> Any:
    return {"error": {"code": number, "message": message, "status": status, "details": list(details)}}


def compatible(number: int, kind: str, message: str) -> Any:
    """As vLLM and llama.cpp write it."""
    return {"error": {"message": message, "type": kind, "param": None, "code": number}}


def litellm(number: int, kind: str, message: str) -> Any:
    return {"error": {"message": f"litellm.{message}", "type": kind, "param": "None", "code": str(number)}}


def openrouter(number: int, message: str, **metadata: Any) -> Any:
    return {"error": {"message": message, "code": number, "metadata": metadata}, "user_id": "user_1"}


ADDRESS = "baseUrl in the settings: that path is not there"
APIKEY = "Check the provider's apiKey"
RIGHTS = "what the provider's apiKey"
MONEY = "quota and credit"
LATER = "Wait a little"
BUSY = "overloaded: wait a little"
LOG = "server's log"
SHORTER = "start a new conversation"
FILTERED = "Word the message differently"
ABLE = "Choose a model that can do this"
HAS = "It has: a, b."
PULL = "It has: a, b. Fetch it with `ollm-lsp models pull ollama:m`."
NONE = "has no model 'm'"
RETRY_INFO = {"@type": "type.googleapis.com/google.rpc.RetryInfo", "retryDelay": "37s"}
WRONG_KEY = {"@type": "type.googleapis.com/google.rpc.ErrorInfo", "reason": "API_KEY_INVALID"}


def quota(name: str) -> Any:
    violations = [{"quotaMetric": "generativelanguage.googleapis.com/x", "quotaId": name}]
    failure = {"@type": "type.googleapis.com/google.rpc.QuotaFailure", "violations": violations}
    return google(429, "RESOURCE_EXHAUSTED", "You exceeded your current quota.", failure, RETRY_INFO)


_OPENAI_SAYS: dict[str, tuple[Any, ...]] = {
    "key": (
        401,
        openai("Incorrect API key provided", None, "invalid_api_key"),
        AuthenticationFailed,
        "API key",
        APIKEY,
    ),
    "country": (
        403,
        openai("Country, region, or territory not supported", "r", "unsupported_country_region_territory"),
        AuthenticationFailed,
        "Country",
        RIGHTS,
    ),
    "model": (404, openai("The model `m` does not exist", "x", "model_not_found"), ModelNotFound, NONE, HAS),
    "path": (404, openai("Invalid URL (POST /v1/v1/chat/completions)"), MalformedAnswer, "Invalid URL", ADDRESS),
    "rate": (
        429,
        openai("Rate limit reached on requests per min (RPM)", "requests", "rate_limit_exceeded"),
        RateLimited,
        "Rate limit reached",
        LATER,
        AGAIN,
    ),
    "day": (
        429,
        openai("Rate limit reached on requests per day (RPD)", "requests", "rate_limit_exceeded"),
        RateLimited,
        "per day",
        MONEY,
    ),
    "quota": (429, openai("You exceeded your current quota", None, "insufficient_quota"), RateLimited, "quota", MONEY),
    "too large": (
        429,
        openai("Request too large for gpt on tokens per min", "tokens", "rate_limit_exceeded"),
        ContextOverflow,
        "too large",
        SHORTER,
    ),
    "context": (400, openai("too long", None, "context_length_exceeded"), ContextOverflow, "too long", SHORTER),
    "policy": (400, openai("flagged", None, "content_policy_violation"), ContentFiltered, "flagged", FILTERED),
    "parameter": (400, openai("No 'temperature'", None, "unsupported_parameter"), Unsupported, "No 'temp", ABLE),
    "invalid": (400, openai("Invalid 'messages'", "invalid_request_error"), ServerFailed, "Invalid 'm", LOG),
    "500": (500, openai("The server had an error", "server_error"), ServerFailed, "had an error", LOG, AGAIN),
    "503": (503, openai("The engine is currently overloaded"), ServerFailed, "currently overloaded", BUSY, AGAIN),
    "408": (408, "", TimedOut, "answered 408", "Send the message again", AGAIN),
    "409": (409, openai("Conflict"), ServerFailed, "Conflict", LOG),
}
_VLLM_SAYS: dict[str, tuple[Any, ...]] = {
    "model": (404, compatible(404, "NotFoundError", "The model `m` does not exist."), ModelNotFound, NONE, HAS),
    "path": (404, {"detail": "Not Found"}, MalformedAnswer, "answered 404: Not Found", ADDRESS),
    "context": (
        400,
        compatible(400, "BadRequestError", "This model's maximum context length is 9 tokens."),
        ContextOverflow,
        "maximum context length",
        SHORTER,
    ),
    "key": (401, {"error": "Unauthorized"}, AuthenticationFailed, "Unauthorized", APIKEY),
    "image": (400, compatible(400, "BadRequestError", "m is not a multimodal model"), Unsupported, "multimodal", ABLE),
    "500": (500, compatible(500, "InternalServerError", "EngineCore died"), ServerFailed, "died", LOG, AGAIN),
    "fields": (422, {"detail": [{"msg": "field required"}]}, ServerFailed, "field required", LOG),
}
_LLAMA_SAYS: dict[str, tuple[Any, ...]] = {
    "loading": (503, compatible(503, "unavailable_error", "Loading model"), ServerFailed, "Loading", BUSY, AGAIN),
    "context": (
        400,
        compatible(400, "exceed_context_size_error", "the request exceeds it"),
        ContextOverflow,
        "exceeds it",
        SHORTER,
    ),
    "key": (401, compatible(401, "authentication_error", "Invalid API Key"), AuthenticationFailed, "Invalid", APIKEY),
    "image": (500, compatible(500, "server_error", "image input is not supported"), Unsupported, "image input", ABLE),
    "path": (404, compatible(404, "not_found_error", "File Not Found"), MalformedAnswer, "File Not Found", ADDRESS),
    "memory": (500, compatible(500, "server_error", "failed to allocate"), ServerFailed, "allocate", "free memory"),
}
_LITELLM_SAYS: dict[str, tuple[Any, ...]] = {
    "key": (401, litellm(401, "auth_error", "AuthenticationError: No key"), AuthenticationFailed, "No key", APIKEY),
    "rate": (
        429,
        litellm(429, "throttling_error", "RateLimitError: OpenAIException - slow down"),
        RateLimited,
        "slow down",
        LATER,
        AGAIN,
    ),
    "context": (
        400,
        litellm(400, "None", "ContextWindowExceededError: maximum context length is 8192 tokens"),
        ContextOverflow,
        "8192",
        SHORTER,
    ),
    "model": (
        400,
        openai("/chat/completions: Invalid model name passed in model=m.", "invalid_request_error", "400"),
        ModelNotFound,
        NONE,
        HAS,
    ),
    "model behind": (
        404,
        litellm(404, "None", "NotFoundError: OpenAIException - The model `m` does not exist"),
        ModelNotFound,
        NONE,
        HAS,
    ),
    "budget": (400, openai("Budget has been exceeded!", "budget_exceeded", "400"), RateLimited, "Budget", MONEY),
    "500": (500, litellm(500, "None", "APIConnectionError: it broke"), ServerFailed, "it broke", LOG, AGAIN),
    "504": (504, litellm(408, "None", "Timeout: too slow"), TimedOut, "too slow", "Send the message again", AGAIN),
}
_OPENROUTER_SAYS: dict[str, tuple[Any, ...]] = {
    "credit": (402, openrouter(402, "Insufficient credits"), RateLimited, "Insufficient credits", MONEY),
    "nobody": (404, openrouter(404, "No endpoints found for m."), ModelNotFound, NONE, HAS),
    "name": (400, openrouter(400, "m is not a valid model ID"), ModelNotFound, NONE, HAS),
    "tools": (404, openrouter(404, "No endpoints found that support tool use."), Unsupported, "tool use", ABLE),
    "flagged": (
        403,
        openrouter(403, "Your chosen model requires moderation and your input was flagged.", reasons=["violence"]),
        ContentFiltered,
        "flagged",
        FILTERED,
    ),
    "rate": (429, openrouter(429, "Provider returned error"), RateLimited, "Provider returned", LATER, AGAIN),
    "502": (502, openrouter(502, "Provider returned error"), ServerFailed, "Provider returned", LOG, AGAIN),
    "503": (503, openrouter(503, "No instances available"), ServerFailed, "No instances", BUSY, AGAIN),
}
_ANTHROPIC_SAYS: dict[str, tuple[Any, ...]] = {
    "key": (401, anthropic("authentication_error", "invalid x-api-key"), AuthenticationFailed, "x-api-key", APIKEY),
    "rights": (403, anthropic("permission_error", "no permission"), AuthenticationFailed, "no permission", RIGHTS),
    "model": (404, anthropic("not_found_error", "model: m"), ModelNotFound, NONE, HAS),
    "path": (404, anthropic("not_found_error", "Not Found"), MalformedAnswer, "Not Found", ADDRESS),
    "credit": (
        400,
        anthropic("invalid_request_error", "Your credit balance is too low to access the Anthropic API."),
        RateLimited,
        "credit balance",
        MONEY,
    ),
    "context": (
        400,
        anthropic("invalid_request_error", "prompt is too long: 208310 tokens > 200000 maximum"),
        ContextOverflow,
        "208310",
        SHORTER,
    ),
    "size": (413, anthropic("request_too_large", "Request exceeds it"), ContextOverflow, "exceeds it", SHORTER),
    "filter": (
        400,
        anthropic("invalid_request_error", "Output blocked by content filtering policy"),
        ContentFiltered,
        "blocked",
        FILTERED,
    ),
    "rate": (429, anthropic("rate_limit_error", "slow"), RateLimited, "slow", LATER, AGAIN),
    "500": (500, anthropic("api_error", "Internal server error"), ServerFailed, "Internal", LOG, AGAIN),
    "504": (504, anthropic("timeout_error", "Timed out"), TimedOut, "Timed out", "Send the message again", AGAIN),
    "529": (529, anthropic("overloaded_error", "Overloaded"), ServerFailed, "Overloaded", BUSY, AGAIN),
}
_GOOGLE_SAYS: dict[str, tuple[Any, ...]] = {
    "key": (
        400,
        google(400, "INVALID_ARGUMENT", "API key not valid.", WRONG_KEY),
        AuthenticationFailed,
        "not valid",
        APIKEY,
    ),
    "no key": (403, google(403, "PERMISSION_DENIED", "unregistered"), AuthenticationFailed, "unregistered", RIGHTS),
    "country": (
        400,
        google(400, "FAILED_PRECONDITION", "User location is not supported for the API use."),
        AuthenticationFailed,
        "location",
        RIGHTS,
    ),
    "model": (
        404,
        google(404, "NOT_FOUND", "models/m is not found for API version v1beta"),
        ModelNotFound,
        NONE,
        HAS,
    ),
    "path": (404, "<html>The requested URL /models/m was not found.</html>", MalformedAnswer, "not found", ADDRESS),
    "context": (
        400,
        google(400, "INVALID_ARGUMENT", "The input token count (9) exceeds the maximum number of tokens allowed (8)."),
        ContextOverflow,
        "input token count",
        SHORTER,
    ),
    "minute": (429, quota("GenerateRequestsPerMinutePerProject"), RateLimited, "current quota", LATER, AGAIN, 37.0),
    "day": (429, quota("GenerateRequestsPerDayPerProject"), RateLimited, "current quota", MONEY),
    "500": (500, google(500, "INTERNAL", "An internal error"), ServerFailed, "An internal error", LOG, AGAIN),
    "503": (503, google(503, "UNAVAILABLE", "It is overloaded."), ServerFailed, "overloaded", BUSY, AGAIN),
    "504": (504, google(504, "DEADLINE_EXCEEDED", "Expired"), TimedOut, "Expired", "Send the message again", AGAIN),
    "a list": ([google(503, "UNAVAILABLE", "Busy.")], 503, ServerFailed, "Busy.", BUSY, AGAIN),
}
_OLLAMA_SAYS: dict[str, tuple[Any, ...]] = {
    "model": (404, {"error": "model 'm' not found"}, ModelNotFound, NONE, PULL),
    "path": (404, "404 page not found", MalformedAnswer, "404 page not found", ADDRESS),
    "tools": (400, {"error": "registry.ollama.ai/m does not support tools"}, Unsupported, "support tools", ABLE),
    "thinking": (400, {"error": '"m" does not support thinking'}, Unsupported, "support thinking", ABLE),
    "context": (400, {"error": "the input length exceeds the context length"}, ContextOverflow, "input", SHORTER),
    "memory": (500, {"error": "model requires more system memory (5 GiB)"}, ServerFailed, "5 GiB", "smaller model"),
    "died": (500, {"error": "llama runner process has terminated"}, ServerFailed, "terminated", LOG, AGAIN),
    "busy": (503, {"error": "server busy, please try again"}, ServerFailed, "server busy", BUSY, AGAIN),
    "key": (401, {"error": "unauthorized"}, AuthenticationFailed, "unauthorized", APIKEY),
}
_SAYS: dict[str, tuple[Vendor, dict[str, tuple[Any, ...]]]] = {
    "OpenAI": (OPENAI, _OPENAI_SAYS),
    "vLLM": (OPENAI, _VLLM_SAYS),
    "llama.cpp": (OPENAI, _LLAMA_SAYS),
    "LiteLLM": (OPENAI, _LITELLM_SAYS),
    "OpenRouter": (OPENAI, _OPENROUTER_SAYS),
    "Anthropic": (ANTHROPIC, _ANTHROPIC_SAYS),
    "Google": (GOOGLE, _GOOGLE_SAYS),
    "Ollama": (OLLAMA, _OLLAMA_SAYS),
}
PAGE = "<!doctype html><html><title>Open WebUI</title></html>"
TYPE = "Check the provider's type and baseUrl"
KEPT = "what came so far is kept"


def odd(vendor: Vendor) -> dict[str, Failure]:
    """What goes wrong in the same way with every vendor."""
    text = f"{vendor.opening}{vendor.text}"
    return {
        "a page": says(vendor, 200, PAGE, MalformedAnswer, "<!doctype html>", TYPE, Content_Type="text/html"),
        "a proxy's page": says(vendor, 502, "<h1>Bad Gateway</h1>", ServerFailed, "Bad Gateway", LOG, AGAIN),
        "a forwarding": says(vendor, 307, "", MalformedAnswer, "answered 307", "redirects are not", Location="/x"),
        "compressed": says(
            vendor,
            200,
            gzip.compress(b"{}"),
            MalformedAnswer,
            "compressed with gzip",
            TYPE,
            Content_Type=vendor.kind,
            Content_Encoding="gzip",
        ),
        "compressed refusal": says(
            vendor, 503, gzip.compress(b"{}"), ServerFailed, "with gzip", BUSY, AGAIN, Content_Encoding="gzip"
        ),
        "bytes": says(vendor, 500, b"\x00\xff\x1b[31mred", ServerFailed, "[31mred", LOG, AGAIN),
        "a wait that is short enough": says(
            vendor, 429, "{}", RateLimited, "answered 429", LATER, AGAIN, waits=60.0, Retry_After="60"
        ),
        "a wait that is too long": says(vendor, 429, "{}", RateLimited, "answered 429", LATER, Retry_After="61"),
        "nothing in the stream": streams(vendor, [], IncompleteAnswer, "ended before", KEPT),
        "the end too early": streams(vendor, [text], IncompleteAnswer, "ended before", KEPT),
        "garbage in the stream": streams(
            vendor, [vendor.frame([]).replace("[]", "{no")], MalformedAnswer, "not a chat answer", TYPE
        ),
        "garbage after text": streams(
            vendor, [text, vendor.frame([]).replace("[]", "[}")], MalformedAnswer, "not a chat answer", TYPE
        ),
    }


INSIDE: dict[str, tuple[Vendor, Any, tuple[Any, ...]]] = {
    "OpenAI": (OPENAI, openai("The server had an error", "server_error"), (ServerFailed, "had an error", LOG, AGAIN)),
    "vLLM": (
        OPENAI,
        compatible(400, "BadRequestError", "maximum context length is 9"),
        (ContextOverflow, "maximum", SHORTER),
    ),
    "OpenRouter": (OPENAI, openrouter(429, "Rate-limited upstream"), (RateLimited, "upstream", LATER, AGAIN)),
    "OpenRouter, credit": (OPENAI, openrouter(402, "Insufficient credits"), (RateLimited, "credits", MONEY)),
    "Anthropic": (
        ANTHROPIC,
        anthropic("overloaded_error", "Overloaded"),
        (ServerFailed, "reports: Overloaded", BUSY, AGAIN),
    ),
    "Anthropic, size": (ANTHROPIC, anthropic("request_too_large", "Too big"), (ContextOverflow, "Too big", SHORTER)),
    "Google": (GOOGLE, google(503, "UNAVAILABLE", "Busy."), (ServerFailed, "reports: Busy.", BUSY, AGAIN)),
    "Google, quota": (GOOGLE, quota("PerMinute"), (RateLimited, "current quota", LATER, AGAIN, 37.0)),
    "Ollama": (OLLAMA, {"error": "it broke"}, (ServerFailed, "The server reports: it broke", "Send the message again")),
    "Ollama, memory": (OLLAMA, {"error": "CUDA error: out of memory"}, (ServerFailed, "CUDA", "smaller model")),
}

FAILURES: dict[str, Failure] = {
    **{
        f"{name}, {what}": says(vendor, *(row if isinstance(row[0], int) else (row[1], row[0], *row[2:])))
        for name, (vendor, rows) in _SAYS.items()
        for what, row in rows.items()
    },
    **{f"{vendor.name}, {what}": failure for vendor in VENDORS for what, failure in odd(vendor).items()},
    **{
        f"{name}, inside a stream": streams(vendor, [vendor.opening, body], *row)
        for name, (vendor, body, row) in INSIDE.items()
    },
    **{
        f"{name}, inside a stream after text": streams(vendor, [vendor.opening + vendor.text, body], *row[:3])
        for name, (vendor, body, row) in INSIDE.items()
    },
}


def check(
    heard: Heard, failure: type[ProviderError], words: str, remedy: str, status: int | None, waits: list[float]
) -> None:
    """The error is exactly that, tells no secret, and each attempt after the first was announced."""
    assert type(heard.error) is failure
    assert (heard.failure.code, heard.failure.status) == (CODES[failure], status)
    assert words in heard.failure.message
    assert remedy in heard.failure.remedy
    assert KEY not in str(heard.failure)
    assert [event.code for event in heard.events if isinstance(event, Warned)] == ["retrying"] * len(waits)


def check_waits(waits: list[float], asked: float | None = None) -> None:
    for number, wait in enumerate(waits):
        longest = min(0.5 * 2**number, 8.0)
        assert (wait == asked) if asked is not None else (longest / 2 <= wait <= longest)


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


# Nobody answers

CERTIFICATE = Path(http_server.__file__).with_name("self_signed.pem")
TLS = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
TLS.load_cert_chain(CERTIFICATE)


def closed_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


@pytest.mark.prop("core-16")
@pytest.mark.prop("eng-7")
@pytest.mark.parametrize("vendor", VENDORS, ids=lambda vendor: vendor.name)
@pytest.mark.parametrize(("host", "attempts"), [("127.0.0.1", 1), (HOST, AGAIN)], ids=["here", "elsewhere"])
async def test_a_refused_connection_names_the_address_and_is_tried_again_only_elsewhere(
    vendor: Vendor, host: str, attempts: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    waits = no_waiting(monkeypatch)
    at_home(monkeypatch)
    url = f"http://{host}:{closed_port()}"
    async with vendor.reaching(url, api_key=Secret(KEY)) as provider:
        heard = await hear(provider.stream(ask()))
    check(heard, ConnectionFailed, f"Cannot reach {url}", provider.when_down, None, waits)
    assert len(waits) + 1 == attempts
    check_waits(waits)


@pytest.mark.prop("core-16")
@pytest.mark.parametrize("vendor", VENDORS, ids=lambda vendor: vendor.name)
async def test_a_host_that_nobody_knows_is_named(vendor: Vendor, monkeypatch: pytest.MonkeyPatch) -> None:
    waits = no_waiting(monkeypatch)
    at_home(monkeypatch, knows=False)
    async with vendor.reaching(f"https://{HOST}") as provider:
        heard = await hear(provider.stream(ask()))
    check(heard, ConnectionFailed, f"Cannot reach https://{HOST}", provider.when_down, None, waits)
    assert len(waits) + 1 == AGAIN


@pytest.mark.prop("core-16")
@pytest.mark.parametrize("vendor", VENDORS, ids=lambda vendor: vendor.name)
async def test_a_certificate_that_nobody_vouches_for_gets_no_request(
    vendor: Vendor, monkeypatch: pytest.MonkeyPatch
) -> None:
    waits = no_waiting(monkeypatch)
    at_home(monkeypatch)
    async with (
        HttpServer(vendor.says_hi, TLS) as server,
        vendor.reaching(f"https://{HOST}:{server.port}", api_key=Secret(KEY)) as provider,
    ):
        heard = await hear(provider.stream(ask()))
    check(heard, ConnectionFailed, "certificate", "SSL_CERT_FILE", None, waits)
    assert (waits, server.requests) == ([], [])


REACHING = """
import asyncio, sys
from ollm_lsp.providers.openai import OpenAIProvider
from ollm_lsp.settings.resolved import OpenAISettings

async def main():
    provider = OpenAIProvider(OpenAISettings("x", sys.argv[1]))
    print([info.id.name for info in await provider.models()])
    await provider.close()

asyncio.run(main())
"""


@pytest.mark.prop("core-16")
async def test_the_remedy_for_a_certificate_of_ones_own_helps(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SSL_CERT_FILE", str(CERTIFICATE))
    async with HttpServer(OPENAI.serving(OPENAI.says_hi), TLS) as server:
        # A process of its own, because a process reads its authorities once.
        process = await asyncio.create_subprocess_exec(
            sys.executable, "-c", REACHING, f"{server.url}/v1", stdout=asyncio.subprocess.PIPE
        )
        output, _ = await process.communicate()
    assert output.decode().strip() == "['a', 'b']"


async def plain(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    """A server without TLS does not know what to make of a greeting."""
    await reader.read(1000)
    writer.write(b"HTTP/1.1 400 Bad Request\r\nConnection: close\r\n\r\n")
    await writer.drain()
    writer.close()


@pytest.mark.prop("core-16")
@pytest.mark.parametrize("vendor", VENDORS, ids=lambda vendor: vendor.name)
async def test_https_to_a_plain_server_is_a_connection_error(vendor: Vendor, monkeypatch: pytest.MonkeyPatch) -> None:
    waits = no_waiting(monkeypatch)
    server = await asyncio.start_server(plain, "127.0.0.1", 0)
    async with server, vendor.reaching(f"https://127.0.0.1:{server.sockets[0].getsockname()[1]}") as provider:
        heard = await hear(provider.stream(ask()))
    check(heard, ConnectionFailed, "Cannot reach https://127.0.0.1", "Check the address", None, waits)
    assert waits == []


@pytest.mark.parametrize("vendor", VENDORS, ids=lambda vendor: vendor.name)
async def test_plain_http_to_a_server_with_tls_is_a_connection_error(
    vendor: Vendor, monkeypatch: pytest.MonkeyPatch
) -> None:
    waits = no_waiting(monkeypatch)
    async with (
        HttpServer(vendor.says_hi, TLS) as server,
        vendor.reaching(f"http://127.0.0.1:{server.port}") as provider,
    ):
        heard = await hear(provider.stream(ask()))
    check(heard, ConnectionFailed, "Cannot reach http://127.0.0.1", provider.when_down, None, waits)
    assert (waits, server.requests) == ([], [])


# Broken connections


async def settle() -> None:
    """Let the client take what it was sent."""
    for _ in range(20):
        await asyncio.sleep(0)


def breaking(sent: bytes) -> Callable[[Vendor], Handler]:
    def made(_: Vendor) -> Handler:
        async def chat(_: Request, responder: Responder) -> None:
            await responder.raw(sent)
            await settle()
            responder.reset()

        return chat

    return made


def breaking_in_the_stream(vendor: Vendor) -> Handler:
    async def chat(_: Request, responder: Responder) -> None:
        await vendor.streams(responder, vendor.opening or "\n")
        await settle()
        responder.reset()

    return chat


BREAKS: dict[str, tuple[Callable[[Vendor], Handler], str, type[ProviderError], str, int]] = {
    "before the head, here": (breaking(b""), "127.0.0.1", ConnectionFailed, "Cannot reach", 1),
    "before the head, elsewhere": (breaking(b""), HOST, ConnectionFailed, "Cannot reach", AGAIN),
    "in the head, elsewhere": (breaking(b"HTTP/1.1 200 OK\r\nCon"), HOST, ConnectionFailed, "Cannot reach", AGAIN),
    "not even http": (breaking(b"SSH-2.0-OpenSSH_9.2\r\n\r\n"), "127.0.0.1", ConnectionFailed, "Cannot reach", 1),
    "before the first token": (breaking_in_the_stream, "127.0.0.1", IncompleteAnswer, "broke in the middle", AGAIN),
    "in a refusal": (
        breaking(b"HTTP/1.1 500 x\r\nContent-Length: 99\r\n\r\n{"),
        "127.0.0.1",
        ConnectionFailed,
        "broke",
        AGAIN,
    ),
}


@pytest.mark.prop("krk-8")
@pytest.mark.parametrize("vendor", VENDORS, ids=lambda vendor: vendor.name)
@pytest.mark.parametrize(("made", "host", "error", "words", "attempts"), BREAKS.values(), ids=BREAKS)
async def test_a_broken_connection_is_tried_again_while_nothing_was_said(
    vendor: Vendor,
    made: Callable[[Vendor], Handler],
    host: str,
    error: type[ProviderError],
    words: str,
    attempts: int,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    waits = no_waiting(monkeypatch)
    at_home(monkeypatch)
    async with (
        HttpServer(vendor.serving(made(vendor))) as server,
        vendor.reaching(f"http://{host}:{server.port}") as provider,
    ):
        heard = await hear(provider.stream(ask()))
    remedy = KEPT if error is IncompleteAnswer else provider.when_down
    check(heard, error, words, remedy, None, waits)
    assert len(vendor.chats(server.requests)) == attempts == 1 + len(waits)
    check_waits(waits)


@pytest.mark.prop("krk-8")
@pytest.mark.parametrize("vendor", VENDORS, ids=lambda vendor: vendor.name)
async def test_a_connection_that_breaks_after_the_first_token_is_not_tried_again(
    vendor: Vendor, monkeypatch: pytest.MonkeyPatch
) -> None:
    waits = no_waiting(monkeypatch)
    heard_it = asyncio.Event()

    async def chat(_: Request, responder: Responder) -> None:
        await vendor.streams(responder, vendor.opening + vendor.text)
        await heard_it.wait()
        responder.reset()

    async with HttpServer(vendor.serving(chat)) as server, vendor.reaching(server.url) as provider:
        stream = provider.stream(ask())
        while await anext(stream) != TextDelta("Hi"):
            pass
        heard_it.set()
        heard = await hear(stream)
    check(heard, IncompleteAnswer, "broke in the middle of the answer", KEPT, None, waits)
    assert (len(vendor.chats(server.requests)), waits, heard.events) == (1, [], [])


# Time limits

LIMITS = TimeLimits(connect=10, first_token=120, idle=60, total=200)
SLOW = "raise the provider's timeouts"


@pytest.mark.prop("eng-7")
@pytest.mark.parametrize("vendor", VENDORS, ids=lambda vendor: vendor.name)
@pytest.mark.parametrize("scheme", ["http", "https"])
async def test_a_server_that_does_not_take_the_connection_has_its_limit(
    vendor: Vendor, scheme: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    waits = no_waiting(monkeypatch)
    at_home(monkeypatch)
    clock = Clock(monkeypatch)
    knocked = asyncio.Semaphore(0)

    async def never(*_: Any) -> None:
        knocked.release()
        await asyncio.Event().wait()

    async def no_hand(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        """With TLS, the connection is made, and then nobody shakes hands."""
        knocked.release()
        with suppress(ConnectionError):
            while await reader.read(1000):
                pass
        writer.close()

    if scheme == "http":
        monkeypatch.setattr(asyncio.get_running_loop(), "sock_connect", never)
    server = await asyncio.start_server(no_hand, "127.0.0.1", 0)
    async with server, vendor.reaching(f"{scheme}://{HOST}:{server.sockets[0].getsockname()[1]}", limits=LIMITS) as one:
        listening = asyncio.ensure_future(hear(one.stream(ask())))
        heard = None
        while heard is None:  # Google asks for the model first, and is not discouraged
            await asyncio.wait({asyncio.ensure_future(knocked.acquire()), listening}, return_when="FIRST_COMPLETED")
            if not listening.done():
                await clock.advance(8)
                assert not listening.done()
                await clock.advance(4)
            heard = listening.result() if listening.done() else None
    check(heard, TimedOut, "within 10 s", SLOW, None, waits)
    assert waits == []


def stalling(vendor: Vendor, frames: Sequence[str], *, head: bool = True) -> Handler:
    async def chat(_: Request, responder: Responder) -> None:
        if head:
            await vendor.streams(responder, *frames)
        await responder.stall()

    return chat


@pytest.mark.prop("eng-7")
@pytest.mark.parametrize("vendor", VENDORS, ids=lambda vendor: vendor.name)
@pytest.mark.parametrize("head", [False, True], ids=["before the head", "after the head"])
async def test_a_server_that_says_nothing_has_its_limit(
    vendor: Vendor, head: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    waits = no_waiting(monkeypatch)
    clock = Clock(monkeypatch)
    chat = stalling(vendor, [vendor.opening], head=head)
    async with HttpServer(vendor.serving(chat)) as server, vendor.reaching(server.url, limits=LIMITS) as provider:
        listening = asyncio.ensure_future(hear(provider.stream(ask())))
        await server.arrived(1 if vendor in {OPENAI, ANTHROPIC} else 2)
        await clock.advance(LIMITS.first_token - 5)
        assert not listening.done()
        await clock.advance(6)
        check(await listening, TimedOut, f"{server.url}{vendor.root} said nothing within 120 s", SLOW, None, waits)
        await server.responders[-1].gone.wait()
    assert (len(vendor.chats(server.requests)), waits) == (1, [])


@pytest.mark.prop("eng-7")
@pytest.mark.parametrize("vendor", VENDORS, ids=lambda vendor: vendor.name)
@pytest.mark.parametrize(("step", "rounds"), [(0, 0), (45, 4)], ids=["idle", "total"])
async def test_a_server_that_stops_or_does_not_end_has_its_limit(
    vendor: Vendor, step: float, rounds: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    waits = no_waiting(monkeypatch)
    clock = Clock(monkeypatch)
    chat = stalling(vendor, [vendor.opening + vendor.text])
    texts: asyncio.Queue[str] = asyncio.Queue()

    async with HttpServer(vendor.serving(chat)) as server, vendor.reaching(server.url, limits=LIMITS) as provider:

        async def listen() -> None:
            async for event in provider.stream(ask()):
                if isinstance(event, TextDelta):
                    texts.put_nowait(event.text)

        listening = asyncio.ensure_future(listen())
        assert await texts.get() == "Hi"
        for _ in range(rounds):
            await clock.advance(step)
            assert not listening.done()
            await server.responders[-1].write(vendor.text)
            assert await texts.get() == "Hi"
        # After four rounds, the whole has lasted 180 s of its 200; else only the silence counts.
        left = LIMITS.total - rounds * step if rounds else LIMITS.idle
        await clock.advance(left - 5)
        assert not listening.done()
        await clock.advance(6)
        with pytest.raises(TimedOut) as caught:
            await listening
        await server.responders[-1].gone.wait()
    assert (caught.value.code, caught.value.status) == ("timeout", None)
    assert "stopped in the middle of its answer" in caught.value.message
    assert SLOW in caught.value.remedy
    assert (len(vendor.chats(server.requests)), waits) == (1, [])
