"""The refusals of every vendor, as their bodies really look, and the typed errors that they become."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ollm_lsp.core.errors import (
    AuthenticationFailed,
    ContentFiltered,
    ContextOverflow,
    MalformedAnswer,
    ModelNotFound,
    ProviderError,
    RateLimited,
    ServerFailed,
    TimedOut,
    Unsupported,
)
from ollm_lsp.providers.wire.refusal import Complaint, complaint_in, refusal, refused
from tests.core.values import patient
from tests.providers.error_bodies import RETRY, WRONG_KEY, anthropic, compatible, google, openai, quota
from tests.providers.values import texts

PASSES, STAYS = True, False

REFUSALS: dict[str, tuple[int, Any, type[ProviderError], bool]] = {
    "OpenAI, wrong key": (
        401,
        openai("Incorrect API key provided: sk-…", "invalid_request_error", "invalid_api_key"),
        AuthenticationFailed,
        STAYS,
    ),
    "OpenAI, country": (
        403,
        openai("Country not supported", "request_forbidden", "unsupported_country_region_territory"),
        AuthenticationFailed,
        STAYS,
    ),
    "OpenAI, no access to the model": (
        403,
        openai("Project `p` does not have access to model `m`", "invalid_request_error", "model_not_found"),
        ModelNotFound,
        STAYS,
    ),
    "OpenAI, unknown model": (
        404,
        openai("The model `m` does not exist", "invalid_request_error", "model_not_found"),
        ModelNotFound,
        STAYS,
    ),
    "OpenAI, rate": (
        429,
        openai("Rate limit reached on tokens per min (TPM)", "tokens", "rate_limit_exceeded"),
        RateLimited,
        PASSES,
    ),
    "OpenAI, rate of the day": (
        429,
        openai("Rate limit reached on requests per day (RPD)", "requests", "rate_limit_exceeded"),
        RateLimited,
        STAYS,
    ),
    "OpenAI, one request above the rate": (
        429,
        openai("Request too large for gpt on tokens per min: Limit 3, Requested 5", "tokens", "rate_limit_exceeded"),
        ContextOverflow,
        STAYS,
    ),
    "OpenAI, out of quota": (
        429,
        openai("You exceeded your current quota", "insufficient_quota", "insufficient_quota"),
        RateLimited,
        STAYS,
    ),
    "OpenAI, context": (
        400,
        openai("This model's maximum context length is 8 tokens", "invalid_request_error", "context_length_exceeded"),
        ContextOverflow,
        STAYS,
    ),
    "OpenAI, policy": (
        400,
        openai("Your prompt was flagged", "invalid_request_error", "invalid_prompt"),
        ContentFiltered,
        STAYS,
    ),
    "OpenAI, parameter": (
        400,
        openai("Unsupported parameter: 'temperature'", "invalid_request_error", "unsupported_parameter"),
        Unsupported,
        STAYS,
    ),
    "OpenAI, 500": (500, openai("The server had an error", "server_error"), ServerFailed, PASSES),
    "OpenAI, 503": (503, openai("The engine is currently overloaded"), ServerFailed, PASSES),
    "Azure, filter": (400, openai("The response was filtered", None, "content_filter"), ContentFiltered, STAYS),
    "Anthropic, wrong key": (401, anthropic("authentication_error", "invalid x-api-key"), AuthenticationFailed, STAYS),
    "Anthropic, permission": (403, anthropic("permission_error", "no permission"), AuthenticationFailed, STAYS),
    "Anthropic, unknown model": (404, anthropic("not_found_error", "model: claude-x"), ModelNotFound, STAYS),
    "Anthropic, credit": (
        400,
        anthropic("invalid_request_error", "Your credit balance is too low to access the Anthropic API."),
        RateLimited,
        STAYS,
    ),
    "Anthropic, billing": (402, anthropic("billing_error", "Check your payment."), RateLimited, STAYS),
    "Anthropic, context": (
        400,
        anthropic("invalid_request_error", "prompt is too long: 208310 tokens > 200000 maximum"),
        ContextOverflow,
        STAYS,
    ),
    "Anthropic, context with max_tokens": (
        400,
        anthropic("invalid_request_error", "input length and `max_tokens` exceed context limit: 9 + 8 > 10"),
        ContextOverflow,
        STAYS,
    ),
    "Anthropic, size": (
        413,
        anthropic("request_too_large", "Request exceeds the maximum size"),
        ContextOverflow,
        STAYS,
    ),
    "Anthropic, filter": (
        400,
        anthropic("invalid_request_error", "Output blocked by content filtering policy"),
        ContentFiltered,
        STAYS,
    ),
    "Anthropic, invalid": (400, anthropic("invalid_request_error", "max_tokens: required"), ServerFailed, STAYS),
    "Anthropic, rate": (
        429,
        anthropic("rate_limit_error", "This request would exceed the rate limit of 40,000 input tokens per minute."),
        RateLimited,
        PASSES,
    ),
    "Anthropic, 500": (500, anthropic("api_error", "Internal server error"), ServerFailed, PASSES),
    "Anthropic, 504": (504, anthropic("timeout_error", "Timed out"), TimedOut, PASSES),
    "Anthropic, 529": (529, anthropic("overloaded_error", "Overloaded"), ServerFailed, PASSES),
    "Google, wrong key": (
        400,
        google(400, "INVALID_ARGUMENT", "API key not valid. Please pass a valid API key.", WRONG_KEY),
        AuthenticationFailed,
        STAYS,
    ),
    "Google, expired key": (400, google(400, "INVALID_ARGUMENT", "API key expired."), AuthenticationFailed, STAYS),
    "Google, no key": (
        403,
        google(403, "PERMISSION_DENIED", "Method doesn't allow unregistered callers"),
        AuthenticationFailed,
        STAYS,
    ),
    "Google, country": (
        400,
        google(400, "FAILED_PRECONDITION", "User location is not supported for the API use."),
        AuthenticationFailed,
        STAYS,
    ),
    "Google, unknown model": (
        404,
        google(404, "NOT_FOUND", "models/x is not found for API version v1beta"),
        ModelNotFound,
        STAYS,
    ),
    "Google, context": (
        400,
        google(400, "INVALID_ARGUMENT", "The input token count (9) exceeds the maximum number of tokens allowed (8)."),
        ContextOverflow,
        STAYS,
    ),
    "Google, quota of the minute": (429, quota("GenerateRequestsPerMinutePerProject-FreeTier"), RateLimited, PASSES),
    "Google, quota of the day": (429, quota("GenerateRequestsPerDayPerProject-FreeTier"), RateLimited, STAYS),
    "Google, a list": (
        429,
        [google(429, "RESOURCE_EXHAUSTED", "Resource exhausted. Please try again later.")],
        RateLimited,
        PASSES,
    ),
    "Google, 500": (500, google(500, "INTERNAL", "An internal error has occurred."), ServerFailed, PASSES),
    "Google, 503": (503, google(503, "UNAVAILABLE", "The model is overloaded."), ServerFailed, PASSES),
    "Google, 504": (504, google(504, "DEADLINE_EXCEEDED", "Deadline expired"), TimedOut, PASSES),
    "Ollama, unknown model": (404, {"error": "model 'x' not found"}, ModelNotFound, STAYS),
    "Ollama, unknown model in old words": (
        400,
        {"error": 'model "x" not found, try pulling it first'},
        ModelNotFound,
        STAYS,
    ),
    "Ollama, tools": (400, {"error": "registry.ollama.ai/x does not support tools"}, Unsupported, STAYS),
    "Ollama, context": (400, {"error": "the input length exceeds the context length"}, ContextOverflow, STAYS),
    "Ollama, memory": (
        500,
        {"error": "model requires more system memory (5 GiB) than is available"},
        ServerFailed,
        STAYS,
    ),
    "Ollama, busy": (503, {"error": "server busy, please try again"}, ServerFailed, PASSES),
    "Ollama, key": (401, {"error": "unauthorized"}, AuthenticationFailed, STAYS),
    "vLLM, unknown model": (
        404,
        compatible(404, "NotFoundError", "The model `x` does not exist."),
        ModelNotFound,
        STAYS,
    ),
    "vLLM, unknown model, old shape": (
        404,
        {"object": "error", "message": "The model `x` does not exist.", "type": "NotFoundError", "code": 404},
        ModelNotFound,
        STAYS,
    ),
    "vLLM, context": (
        400,
        compatible(
            400, "BadRequestError", "This model's maximum context length is 16384 tokens. However, you requested"
        ),
        ContextOverflow,
        STAYS,
    ),
    "vLLM, images": (400, compatible(400, "BadRequestError", "x is not a multimodal model"), Unsupported, STAYS),
    "vLLM, key": (401, {"error": "Unauthorized"}, AuthenticationFailed, STAYS),
    "llama.cpp, context": (
        400,
        compatible(400, "exceed_context_size_error", "the request exceeds the available context size"),
        ContextOverflow,
        STAYS,
    ),
    "llama.cpp, loading": (503, compatible(503, "unavailable_error", "Loading model"), ServerFailed, PASSES),
    "llama.cpp, key": (401, compatible(401, "authentication_error", "Invalid API Key"), AuthenticationFailed, STAYS),
    "llama.cpp, images": (
        500,
        compatible(500, "server_error", "image input is not supported - hint: provide the mmproj"),
        Unsupported,
        STAYS,
    ),
    "llama.cpp, no such thing": (501, compatible(501, "not_supported_error", "no embeddings"), Unsupported, STAYS),
    "OpenRouter, credit": (402, {"error": {"code": 402, "message": "Insufficient credits"}}, RateLimited, STAYS),
    "OpenRouter, unknown model": (
        400,
        {"error": {"code": 400, "message": "x is not a valid model ID"}},
        ModelNotFound,
        STAYS,
    ),
    "OpenRouter, nobody serves the model": (
        404,
        {"error": {"message": "No endpoints found for x/y.", "code": 404}},
        ModelNotFound,
        STAYS,
    ),
    "OpenRouter, nobody serves it with tools": (
        404,
        {"error": {"message": "No endpoints found that support tool use.", "code": 404}},
        Unsupported,
        STAYS,
    ),
    "OpenRouter, privacy": (
        404,
        {"error": {"message": "No endpoints found matching your data policy (Paid model training).", "code": 404}},
        AuthenticationFailed,
        STAYS,
    ),
    "OpenAI, wrong path": (
        404,
        openai("Invalid URL (POST /v1/v1/chat/completions)", "invalid_request_error"),
        MalformedAnswer,
        STAYS,
    ),
    "Anthropic, wrong path": (404, anthropic("not_found_error", "Not Found"), MalformedAnswer, STAYS),
    "Google, wrong path": (
        404,
        "<html><p>The requested URL <code>/models/x:streamGenerateContent</code> was not found.</html>",
        MalformedAnswer,
        STAYS,
    ),
    "Ollama, wrong path": (404, "404 page not found", MalformedAnswer, STAYS),
    "llama.cpp, wrong path": (404, compatible(404, "not_found_error", "File Not Found"), MalformedAnswer, STAYS),
    "FastAPI, wrong path": (404, {"detail": "Not Found"}, MalformedAnswer, STAYS),
    "Express, wrong path": (404, "Cannot POST /v1beta/models/x:streamGenerateContent", MalformedAnswer, STAYS),
    "nothing but 404": (404, "", MalformedAnswer, STAYS),
    "FastAPI, a list of faults": (422, {"detail": [{"msg": "field required"}]}, ServerFailed, STAYS),
    "a proxy that hands on a text": (
        500,
        {"error": {"message": json.dumps(anthropic("overloaded_error", "Overloaded"))}},
        ServerFailed,
        PASSES,
    ),
    "a page of 502": (502, "<h1>Bad Gateway</h1>", ServerFailed, PASSES),
    "Cloudflare, origin down": (521, "<html>", ServerFailed, PASSES),
    "Cloudflare, origin slow": (524, "<html>", TimedOut, PASSES),
    "nothing but 408": (408, "", TimedOut, PASSES),
    "nothing but 418": (418, "", ServerFailed, STAYS),
    "a redirect": (302, "", MalformedAnswer, STAYS),
    "a good status": (200, {"hello": 1}, MalformedAnswer, STAYS),
    "a good status with an error": (200, anthropic("overloaded_error", "Overloaded"), ServerFailed, PASSES),
}


@pytest.mark.threat("F15")
@pytest.mark.prop("eng-7")
@pytest.mark.parametrize(("status", "body", "kind", "passes"), REFUSALS.values(), ids=REFUSALS)
def test_a_refusal_becomes_its_typed_error(status: int, body: Any, kind: type[ProviderError], passes: bool) -> None:
    error = refusal("It said no.", complaint_in(body), status=status)
    assert (type(error), error.is_passing, error.status) == (kind, passes, status)
    assert error.remedy


INSIDE = {
    name: (body, kind, passes)
    for name, (status, body, kind, passes) in REFUSALS.items()
    if status >= 400
    and name.startswith(("Anthropic", "Google", "OpenAI, rate", "llama.cpp", "vLLM, un", "OpenRouter"))
    and not name.endswith("wrong path")
}


@pytest.mark.threat("F6")
@pytest.mark.prop("eng-7")
@pytest.mark.parametrize(("body", "kind", "passes"), INSIDE.values(), ids=INSIDE)
def test_the_same_refusal_inside_a_stream_becomes_the_same_error(
    body: Any, kind: type[ProviderError], passes: bool
) -> None:
    error = refusal("It said no.", complaint_in(body))
    assert (type(error), error.is_passing, error.status) == (kind, passes, None)


@pytest.mark.parametrize(
    "body", [compatible(404, "not_found_error", "No."), {"error": {"code": 404, "message": "No."}}]
)
def test_inside_a_stream_the_address_is_right_and_the_model_is_missing(body: Any) -> None:
    assert type(refusal("No.", complaint_in(body))) is ModelNotFound


@pytest.mark.parametrize(
    ("body", "text"),
    [
        (openai("no"), "no"),
        (anthropic("api_error", "no"), "no"),
        (google(500, "INTERNAL", "no"), "no"),
        ([google(500, "INTERNAL", "no")], "no"),
        ({"error": "no"}, "no"),
        ({"message": "no"}, "no"),
        ({"detail": "no"}, "no"),
        ({"detail": [{"msg": "no"}]}, "[{'msg': 'no'}]"),
        ({"error": None, "message": "no"}, "no"),
        ({"error": {"message": '{"error": {"message": "no"}}'}}, "no"),
        ({"error": {"message": "{no"}}, "{no"),
        ("no", "no"),
        ({}, ""),
        ([], "[]"),
        (None, "None"),
    ],
)
def test_the_message_is_found_in_the_error_of_any_vendor(body: Any, text: str) -> None:
    assert complaint_in(body).text == text


@pytest.mark.parametrize(
    ("delay", "seconds"), [("37s", 37), ("0.25s", 0.25), ("-1s", None), ("1e9s", None), ("s", None), (3, None)]
)
def test_the_time_to_wait_is_read_from_the_details(delay: Any, seconds: float | None) -> None:
    complaint = complaint_in(google(429, "RESOURCE_EXHAUSTED", "slow", RETRY | {"retryDelay": delay}))
    assert refusal("Slow.", complaint).retry_after == seconds


def test_the_header_says_better_how_long_to_wait() -> None:
    complaint = complaint_in(google(429, "RESOURCE_EXHAUSTED", "slow", RETRY))
    assert refusal("Slow.", complaint, status=429, retry_after=2.0).retry_after == 2.0


def test_there_is_nothing_to_wait_for_where_waiting_does_not_help() -> None:
    assert refusal("No.", Complaint("", ("insufficient_quota",), 5.0), status=429, retry_after=2.0).retry_after is None


_json = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | texts,
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(
            st.sampled_from(
                ["error", "message", "code", "type", "status", "details", "reason", "violations", "detail"]
            ),
            inner,
            max_size=4,
        )
    ),
    max_leaves=8,
)


@pytest.mark.threat("F9")
@patient
@given(st.none() | st.integers(100, 999), _json)
def test_anything_at_all_becomes_a_typed_error_with_a_remedy(status: int | None, body: Any) -> None:
    complaint = complaint_in(body)
    assert refusal("No.", complaint, status=status).remedy
    kind, remedy, is_passing = refused(status, complaint.text, complaint.codes)
    assert issubclass(kind, ProviderError)
    assert remedy
    assert is_passing in {True, False}
