"""Failures of every vendor's server, each with its typed error, its remedy and its number of attempts."""

from __future__ import annotations

import gzip
import json
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

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
from ollm_lsp.core.events import Warned
from tests.providers.error_bodies import (
    WRONG_KEY,
    anthropic,
    compatible,
    google,
    litellm,
    openai,
    openrouter,
    quota,
)
from tests.providers.vendors import (
    ANTHROPIC,
    GOOGLE,
    OLLAMA,
    OPENAI,
    VENDORS,
    Vendor,
)

if TYPE_CHECKING:
    from collections.abc import Sequence

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
