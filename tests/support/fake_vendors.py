"""A fake of the three vendors behind the CLI agents: Anthropic's Messages, Google's Gemini, OpenAI's Responses.

The prompt says what happens: `MOCK:slow` never ends, `MOCK:read=PATH` calls the agent's own tool for reading, and
`MOCK:search=FOLDER` the one for searching the word TOKEN. A key `bad` is refused. test_fake_vendors.py lets the
vendors' own clients judge it.
"""

from __future__ import annotations

import asyncio
import json
import re
from typing import TYPE_CHECKING, Any, NamedTuple

from tests.support.http_server import HttpServer

if TYPE_CHECKING:
    from collections.abc import Iterable

    from tests.support.http_server import Request, Responder

PIECES = ("Hello ", "from the ", "mock. ", "2+2=4.")
ANSWER = "".join(PIECES)
FRESH, CACHED, WRITTEN, OUTPUT, THOUGHT = 1200, 300, 100, 42, 7
_TOOL = re.compile(r"MOCK:(read|search)=([^\s\"\\<]+)")


class Use(NamedTuple):
    """What the model does with a tool of the agent."""

    verb: str
    path: str

    @property
    def searches(self) -> bool:
        return self.verb == "search"


class FakeVendors(HttpServer):
    """All three at one address; `requests` holds what was asked."""

    def __init__(self) -> None:
        super().__init__(answer)

    @property
    def questions(self) -> list[Request]:
        """The requests to a model."""
        return [request for request in self.requests if request.method == "POST" and _wire(request.path)]


async def answer(request: Request, responder: Responder) -> None:
    wire = _wire(request.path)
    if request.headers.get("upgrade"):
        await responder.json(404, {"error": {"message": "no such path"}})
    elif "count_tokens" in request.path or "countTokens" in request.path:
        await responder.json(200, {"input_tokens": FRESH, "totalTokens": FRESH})
    elif wire is None:
        await responder.json(200, {"data": [], "models": []})
    elif _key(request) in ("bad", ""):
        await responder.json(401, _refusal(wire))
    else:
        await _stream(request, responder, wire)


async def _stream(request: Request, responder: Responder, wire: str) -> None:
    text = json.dumps(request.json, ensure_ascii=False)
    is_slow = "MOCK:slow" in text
    # What the tool gave comes back in a second request.
    use = Use(found[1], found[2]) if (found := _TOOL.search(text)) and not _has_result(text) else None
    frames = {"messages": _messages, "gemini": _gemini, "responses": _responses}[wire]
    if wire == "gemini" and ":generateContent" in request.path:
        await responder.json(200, _gemini_part([{"text": ANSWER}], finish="STOP"))
        return
    await responder.head(200, {"Content-Type": "text/event-stream"})
    for frame in frames(use):
        if is_slow and _is_last(frame):
            while True:
                await responder.write(": still here\n\n")
                await asyncio.sleep(0.2)
        await responder.write(_sse(frame, wire))
    await responder.end()


def _wire(path: str) -> str | None:
    path = path.partition("?")[0]
    if path.endswith("/v1/messages"):
        return "messages"
    if path.endswith("/responses"):
        return "responses"
    return "gemini" if "enerateContent" in path else None


def _key(request: Request) -> str:
    names = ("x-api-key", "x-goog-api-key", "authorization")
    return next((request.headers[name].removeprefix("Bearer ") for name in names if name in request.headers), "")


def _refusal(wire: str) -> dict[str, Any]:
    if wire == "messages":
        return {"type": "error", "error": {"type": "authentication_error", "message": "invalid x-api-key"}}
    return {"error": {"code": 401, "message": "invalid x-api-key", "status": "UNAUTHENTICATED"}}


def _has_result(text: str) -> bool:
    return any(sign in text for sign in ('"tool_result"', '"functionResponse"', '"function_call_output"'))


def _sse(frame: dict[str, Any], wire: str) -> str:
    name = "" if wire == "gemini" else f"event: {frame['type']}\n"
    return f"{name}data: {json.dumps(frame)}\n\n"


def _is_last(frame: dict[str, Any]) -> bool:
    candidates: list[dict[str, Any]] = frame.get("candidates") or [{}]
    return frame.get("type") in ("content_block_stop", "response.output_item.done") or "finishReason" in candidates[0]


def _messages(use: Use | None) -> list[dict[str, Any]]:
    usage = {
        "input_tokens": FRESH,
        "cache_creation_input_tokens": WRITTEN,
        "cache_read_input_tokens": CACHED,
        "output_tokens": 1,
    }
    message: dict[str, Any] = {
        "id": "msg_1",
        "type": "message",
        "role": "assistant",
        "model": "claude-sonnet-4-5",
        "content": [],
        "stop_reason": None,
        "stop_sequence": None,
        "usage": usage,
    }
    if use:
        message["id"] = "msg_0"
        name = "Grep" if use.searches else "Read"
        given = {"pattern": "TOKEN", "path": use.path, "output_mode": "content"}
        block: dict[str, Any] = {"type": "tool_use", "id": "toolu_1", "name": name, "input": {}}
        arguments = json.dumps(given if use.searches else {"file_path": use.path})
        deltas = [{"type": "input_json_delta", "partial_json": arguments}]
    else:
        block = {"type": "text", "text": ""}
        deltas = [{"type": "text_delta", "text": piece} for piece in PIECES]
    stop = {"stop_reason": "tool_use" if use else "end_turn", "stop_sequence": None}
    return [
        {"type": "message_start", "message": message},
        {"type": "content_block_start", "index": 0, "content_block": block},
        *({"type": "content_block_delta", "index": 0, "delta": delta} for delta in deltas),
        {"type": "content_block_stop", "index": 0},
        {"type": "message_delta", "delta": stop, "usage": {"output_tokens": OUTPUT}},
        {"type": "message_stop"},
    ]


def _gemini(use: Use | None) -> list[dict[str, Any]]:
    parts: Iterable[dict[str, Any]] = [{"text": piece} for piece in PIECES]
    if use:
        name, given = "read_file", {"file_path": use.path}
        if use.searches:
            name, given = "grep_search", {"pattern": "TOKEN", "dir_path": use.path}
        parts = [{"functionCall": {"name": name, "args": given}}]
    *first, last = parts
    return [*(_gemini_part([part]) for part in first), _gemini_part([last], finish="STOP")]


def _gemini_part(parts: list[dict[str, Any]], finish: str | None = None) -> dict[str, Any]:
    candidate: dict[str, Any] = {"index": 0, "content": {"role": "model", "parts": parts}}
    if finish:
        candidate["finishReason"] = finish
    counts = {
        "promptTokenCount": FRESH + CACHED,
        "cachedContentTokenCount": CACHED,
        "candidatesTokenCount": OUTPUT,
        "thoughtsTokenCount": THOUGHT,
        "totalTokenCount": FRESH + CACHED + OUTPUT + THOUGHT,
    }
    return {"candidates": [candidate], "usageMetadata": counts, "modelVersion": "gemini-2.5-flash"}


def _responses(use: Use | None) -> list[dict[str, Any]]:
    content: dict[str, Any] = {"type": "output_text", "text": ANSWER, "annotations": []}
    done: dict[str, Any] = {"id": "msg_1", "type": "message", "role": "assistant", "status": "completed"}
    done["content"] = [content]
    if use:
        command = ["grep", "-r", "TOKEN", use.path] if use.searches else ["cat", use.path]
        arguments = json.dumps({"command": command, "cmd": " ".join(command)})
        done = {"id": "fc_1", "type": "function_call", "call_id": "call_1", "name": "exec_command"}
        done |= {"arguments": arguments, "status": "completed"}
    base: dict[str, Any] = {"id": "resp_1", "object": "response", "created_at": 1, "model": "gpt-5-codex", "output": []}
    base |= {"parallel_tool_calls": True, "tool_choice": "auto", "tools": [], "status": "in_progress"}
    usage = {
        "input_tokens": FRESH + CACHED,
        "input_tokens_details": {"cached_tokens": CACHED, "cache_write_tokens": 0},
        "output_tokens": OUTPUT,
        "output_tokens_details": {"reasoning_tokens": THOUGHT},
        "total_tokens": FRESH + CACHED + OUTPUT,
    }
    added: dict[str, Any] = {**done, "status": "in_progress"} | ({} if use else {"content": []})
    where: dict[str, Any] = {"item_id": "msg_1", "output_index": 0, "content_index": 0}
    deltas: list[dict[str, Any]] = []
    if not use:
        empty = {**content, "text": ""}
        deltas = [
            {"type": "response.content_part.added", **where, "part": empty},
            *({"type": "response.output_text.delta", **where, "delta": text, "logprobs": []} for text in PIECES),
            {"type": "response.output_text.done", **where, "text": ANSWER, "logprobs": []},
            {"type": "response.content_part.done", **where, "part": content},
        ]
    frames: list[dict[str, Any]] = [
        {"type": "response.created", "response": base},
        {"type": "response.output_item.added", "output_index": 0, "item": added},
        *deltas,
        {"type": "response.output_item.done", "output_index": 0, "item": done},
        {"type": "response.completed", "response": {**base, "status": "completed", "output": [done], "usage": usage}},
    ]
    return [{**frame, "sequence_number": number} for number, frame in enumerate(frames)]
