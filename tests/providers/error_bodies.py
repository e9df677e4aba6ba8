"""The bodies of errors, as each vendor writes them."""

from __future__ import annotations

from typing import Any

RETRY = {"@type": "type.googleapis.com/google.rpc.RetryInfo", "retryDelay": "37s"}
WRONG_KEY = {"@type": "type.googleapis.com/google.rpc.ErrorInfo", "reason": "API_KEY_INVALID"}


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


def quota(name: str) -> Any:
    """Google's error for a quota that is used up."""
    violations = [{"quotaMetric": "generativelanguage.googleapis.com/x", "quotaId": name}]
    failure = {"@type": "type.googleapis.com/google.rpc.QuotaFailure", "violations": violations}
    return google(429, "RESOURCE_EXHAUSTED", "You exceeded your current quota.", failure, RETRY)
