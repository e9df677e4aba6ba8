"""What a server means when it refuses: the words of every vendor, and the typed errors that they stand for.

The same table reads the body of an HTTP error and an error inside a stream that began well. The vendors' codes decide
first, because they are made for programs; then the words, where the status leaves open what is wrong; then the status.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

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
from ollm_lsp.core.foreign_json import JsonError, decode, list_in, object_in, text_in

if TYPE_CHECKING:
    from collections.abc import Iterable

MAX_CODES = 20
"""How many codes are read out of one error: the real ones have no more than five."""


@dataclass(frozen=True, slots=True)
class Complaint:
    """What the error of any vendor says: a message for people, codes for programs, seconds to wait."""

    text: str
    codes: tuple[str, ...] = ()
    retry_after: float | None = None


@dataclass(frozen=True, slots=True)
class _Kind:
    error: type[ProviderError]
    remedy: str
    is_passing: bool = False


_KEY = _Kind(AuthenticationFailed, "Check the provider's apiKey in your settings file.")
_RIGHTS = _Kind(AuthenticationFailed, "Check what the provider's apiKey in your settings file allows.")
_MONEY = _Kind(RateLimited, "Look at quota and credit in your account with the provider, or choose another provider.")
_RATE = _Kind(RateLimited, "Wait a little, then send the message again.", is_passing=True)
_BUSY = _Kind(ServerFailed, "The server is overloaded: wait a little, then send the message again.", is_passing=True)
_BROKEN = _Kind(ServerFailed, "Look at the server's log, or send it again.", is_passing=True)
_SLOW = _Kind(TimedOut, "Send the message again.", is_passing=True)
_MEMORY = _Kind(ServerFailed, "Choose a smaller model or a smaller context, or free memory on the server.")
_MODEL = _Kind(ModelNotFound, "Check the model's name (`ollm-lsp models list`) and the provider's baseUrl.")
_LENGTH = _Kind(ContextOverflow, "Close buffers, start a new conversation, or choose a larger context.")
_FILTER = _Kind(ContentFiltered, "Word the message differently, or choose another model.")
_ABILITY = _Kind(Unsupported, "Choose a model that can do this, or leave it out.")
_REQUEST = _Kind(ServerFailed, "Look at the server's log, or send it again.")
_REPORTED = _Kind(ServerFailed, "Send the message again, or look at the server's log.")
_NO_ANSWER = _Kind(MalformedAnswer, "Check the provider's type and baseUrl in the settings.")
_REDIRECT = _Kind(MalformedAnswer, "Check the provider's baseUrl; redirects are not followed.")
_NOWHERE = _Kind(MalformedAnswer, "Check the provider's type and baseUrl in the settings: that path is not there.")

# The kinds in order: where several codes come together, the first kind that one of them names is the most exact.
_CODES: tuple[tuple[_Kind, str], ...] = (
    # OpenAI, Anthropic, OpenRouter, DeepSeek: 429, 402 or 400, but no waiting helps.
    (_MONEY, "insufficient_quota insufficient_credits insufficient_balance insufficient_funds payment_required"),
    (_MONEY, "billing_error billing_not_active billing_hard_limit_reached"),
    (_MONEY, "credit_balance_too_low enforced_spend_limit_reached budget_exceeded"),
    # OpenAI; llama.cpp; Anthropic; LiteLLM
    (_LENGTH, "context_length_exceeded string_above_max_length exceed_context_size_error request_too_large"),
    (_LENGTH, "model_context_window_exceeded contextwindowexceedederror"),
    # OpenAI and Azure; Google; Alibaba
    (_FILTER, "content_filter content_policy_violation responsibleaipolicyviolation moderation_blocked invalid_prompt"),
    (_FILTER, "prohibited_content image_safety data_inspection_failed"),
    (_KEY, "authentication_error invalid_api_key unauthenticated api_key_invalid unauthorized invalid_authentication"),
    (_RIGHTS, "organization_on_hold account_deactivated unsupported_country_region_territory insufficient_permissions"),
    (_RIGHTS, "api_key_service_blocked service_disabled permission_denied permission_error forbidden"),
    (_MODEL, "model_not_found not_found_error not_found notfounderror"),
    (_ABILITY, "unsupported_parameter unsupported_value not_supported_error unimplemented"),
    (_RATE, "rate_limit_error rate_limit_exceeded ramp_limit_exceeded resource_exhausted too_many_requests"),
    (_BUSY, "overloaded_error overloaded server_overloaded engine_overloaded unavailable unavailable_error"),
    (_BUSY, "service_unavailable service_unavailable_error"),
    (_SLOW, "timeout_error deadline_exceeded gateway_timeout request_timeout"),
    (_BROKEN, "api_error server_error internal internal_error internal_server_error internalservererror aborted"),
)
_BY_CODE = {code: rank for rank, (_, codes) in reversed(list(enumerate(_CODES))) for code in codes.split()}

_WORDS: tuple[tuple[_Kind, tuple[str, ...]], ...] = (
    (_MONEY, ("credit balance", "insufficient credits", "insufficient balance", "billing hard limit", "spend limit")),
    (_MONEY, ("per day", "perday", "tokens per day", "daily limit")),
    (
        _LENGTH,
        (
            "context length",
            "context size",
            "context window",
            "context limit",
            "context_length",
            "exceed_context",
            "too long",
            "input token count",
            "maximum number of tokens allowed",
            "request too large",
            "too many input tokens",
        ),
    ),
    (_FILTER, ("content_filter", "content_policy", "content management policy", "content filtering policy")),
    (_FILTER, ("your input was flagged",)),
    (_KEY, ("api key not valid", "api key expired", "api key not found", "invalid api key", "incorrect api key")),
    (_RIGHTS, ("location is not supported", "organization has been disabled")),
    (_ABILITY, ("does not support tools", "does not support thinking", "does not support image", "not a multimodal")),
    (_ABILITY, ("image input is not supported", "does not support chat", "tool use is not supported")),
    # OpenRouter, with 404, where a model is served but not in this way
    (_ABILITY, ("no endpoints found that",)),
    (_RIGHTS, ("your data policy",)),
    (_MODEL, ("try pulling it first", "unknown model", "invalid model", "model not found", "not a valid model id")),
    (_MODEL, ("no endpoints found for",)),
)
_OPEN = {None, 400, 404, 422, 429}
"""The statuses that leave open what is wrong."""
_ABOUT_MODELS = re.compile(r"(?<![/\w-])models?(?![\w-])")
"""The word in a sentence or in `models/x`, but not in the path of an address."""
_NO_MEMORY = ("more system memory", "out of memory", "unable to allocate", "failed to allocate")
_STATUSES: dict[int, _Kind] = {
    401: _KEY,
    402: _MONEY,
    403: _RIGHTS,
    404: _MODEL,
    408: _SLOW,
    413: _LENGTH,
    429: _RATE,
    501: _ABILITY,
    503: _BUSY,
    504: _SLOW,
    # Cloudflare, in front of many vendors
    522: _SLOW,
    524: _SLOW,
    529: _BUSY,
}


def complaint_in(value: Any) -> Complaint:
    """The message inside the decoded error of any vendor, else the error itself, and the codes beside it."""
    codes: list[str] = []
    retry_after: float | None = None
    while True:
        if (items := list_in(value)) and "error" in object_in(items[0]):
            value = items[0]  # Google, where no event stream was asked for
        if isinstance(value, str) and (inner := _nested(value)):
            value = inner  # a proxy hands on what it was told, as text
        if not isinstance(value, dict):
            break
        body = object_in(value)
        codes += (_code(body.get(key)) for key in ("code", "type", "status", "error_code"))
        for detail in list_in(body.get("details"))[:MAX_CODES]:
            codes += _detail_codes(object_in(detail))
            retry_after = retry_after if retry_after is not None else _seconds(object_in(detail).get("retryDelay"))
        value = body.get("error") or body.get("message") or body.get("detail") or ""
    return Complaint(str(value), tuple(code for code in codes if code)[:MAX_CODES], retry_after)


def refused(status: int | None, text: str, codes: Iterable[str] = ()) -> tuple[type[ProviderError], str, bool]:
    """The error that a refusal stands for, its remedy, and whether it may pass; `status` is none inside a stream."""
    kind = _kind(status, text.lower(), [code.lower() for code in codes])
    return kind.error, kind.remedy, kind.is_passing


def refusal(
    message: str, complaint: Complaint, *, status: int | None = None, retry_after: float | None = None
) -> ProviderError:
    """The typed error for a complaint; `message` is what the user reads."""
    kind, remedy, is_passing = refused(status, complaint.text, complaint.codes)
    if kind is ModelNotFound:
        return ModelNotFound(message, remedy=remedy, status=status)
    wait = (retry_after if retry_after is not None else complaint.retry_after) if is_passing else None
    return kind(message, remedy=remedy, status=status, is_passing=is_passing, retry_after=wait)


def _kind(status: int | None, text: str, codes: list[str]) -> _Kind:
    if status is not None and 300 <= status < 400:
        return _REDIRECT
    if any(word in text for word in _NO_MEMORY):
        return _MEMORY
    default = _default(status)
    is_404 = status == 404
    if status is None:
        status = next((int(code) for code in codes if re.fullmatch("[45][0-9][0-9]", code)), None)
    ranks = [_BY_CODE[code] for code in codes if code in _BY_CODE]
    named = _CODES[min(ranks)][0] if ranks else None
    if is_404 and named is _MODEL and "model_not_found" not in codes:
        named = None  # the other codes also say that nothing is at the address
    hints = " ".join((text, *codes))
    worded = next((kind for kind, words in _WORDS if any(word in hints for word in words)), None)
    # llama.cpp fails with 500 at an image that its model cannot see, OpenRouter forbids what its moderation flags.
    is_open = status in _OPEN or (status, worded) in {(500, _ABILITY), (403, _FILTER)}
    if worded and is_open and named in {None, _RATE, _BROKEN}:
        # A limit of the day does not pass, and a request above a limit never fits it, although both are rate limits.
        return worded
    if is_404 and named is None:
        return _MODEL if _ABOUT_MODELS.search(text) and not text.lstrip().startswith("<") else _NOWHERE
    return named or (default if status is None else _STATUSES.get(status) or (_BROKEN if status >= 500 else default))


def _default(status: int | None) -> _Kind:
    if status is None:
        return _REPORTED
    return _NO_ANSWER if status < 300 else _REQUEST


def _code(value: Any) -> str:
    return str(value) if type(value) is int and 0 <= value < 1000 else text_in(value)[:100]


def _detail_codes(detail: dict[str, Any]) -> list[str]:
    """Codes in the details of a Google error: why, and which quota."""
    quotas = [object_in(item).get("quotaId") for item in list_in(detail.get("violations"))[:MAX_CODES]]
    return [_code(detail.get("reason")), *map(_code, quotas)]


def _nested(text: str) -> dict[str, Any]:
    if not text.lstrip().startswith("{"):
        return {}
    try:
        return object_in(decode(text))
    except JsonError:
        return {}


def _seconds(delay: Any) -> float | None:
    """Google's way to write a duration: `37s` or `0.5s`."""
    found = re.fullmatch(r"([0-9]{1,6}(?:\.[0-9]{1,9})?)s", text_in(delay))
    return float(found[1]) if found else None
