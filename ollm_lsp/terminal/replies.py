"""Replies to the server's requests that nobody has to think about."""

from __future__ import annotations

from typing import Any

from ollm_lsp.terminal.payload import Payload

_METHOD_NOT_FOUND = -32601


def reply(method: str, params: Any) -> dict[str, Any]:
    """The `result` or `error` member of the response."""
    match method:
        case "window/workDoneProgress/create" | "window/showMessageRequest":
            return {"result": None}
        case "workspace/configuration":
            return {"result": [None for _ in Payload(params).items("items")]}
        case "workspace/applyEdit":
            return {"result": {"applied": False, "failureReason": "there is nobody to ask"}}
        case _:
            return {"error": {"code": _METHOD_NOT_FOUND, "message": f"{method} is not supported"}}
