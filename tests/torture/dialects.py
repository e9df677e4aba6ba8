"""How each wire tells a story: its frames as JSON values, and which of them is the terminal signal."""

from __future__ import annotations

import re
from dataclasses import dataclass
from itertools import count, pairwise
from typing import TYPE_CHECKING, Any

from ollm_lsp.providers.framing import MAX_LINE, NdjsonFramer, SseFramer
from ollm_lsp.providers.wire import (
    agent_claude,
    agent_codex,
    agent_gemini,
    agent_proxy,
    anthropic_messages,
    google_generate,
    ollama_chat,
    openai_chat,
)
from ollm_lsp.providers.wire.codec import Answer
from tests.torture.story import Call, Say, Story, Think

if TYPE_CHECKING:
    import random
    from collections.abc import Callable

USAGE: dict[str, Any] = {"input_tokens": 25, "output_tokens": 3, "cached_input_tokens": 5}


@dataclass(frozen=True)
class Told:
    """The frames of a stream; `terminal` is the number of the one that completes the answer."""

    frames: list[Any]
    terminal: int


@dataclass(frozen=True)
class Dialect:
    """One wire: how it tells, how it is read, and without which bytes no answer of it can be complete."""

    name: str
    tell: Callable[[Story, random.Random], Told]
    read: Callable[[int], Answer[Any]]
    sign: re.Pattern[bytes]
    is_sse: bool
    is_agent: bool = False


def _pieces(text: str, chance: random.Random) -> list[str]:
    """A text in some pieces, which are never empty."""
    cuts = sorted({0, len(text), *(chance.randint(0, len(text)) for _ in range(chance.randint(0, 3)))})
    return [text[start:end] for start, end in pairwise(cuts)]


def _ollama(story: Story, chance: random.Random) -> Told:
    frames: list[Any] = []
    for step in story.steps:
        message: dict[str, Any] = {"role": "assistant", "content": ""}
        match step:
            case Say(text):
                message["content"] = text
            case Think(text):
                message["thinking"] = text
            case Call():
                arguments = chance.choice((step.arguments, step.text))
                message["tool_calls"] = [{"id": step.id, "function": {"name": step.name, "arguments": arguments}}]
        frames.append({"model": "m", "message": message, "done": False})
    reason = "length" if story.is_cut_by_limit else "stop"
    frames.append({"message": {"content": ""}, "done": True, "done_reason": reason, "eval_count": 3})
    return Told(frames, len(frames) - 1)


def _openai(story: Story, chance: random.Random) -> Told:
    frames: list[Any] = []
    numbers = count()

    def add(**delta: Any) -> None:
        frames.append({"choices": [{"index": 0, "delta": delta, "finish_reason": None}]})

    add(role="assistant", content=chance.choice(("", None)))
    for step in story.steps:
        match step:
            case Say(text):
                add(content=text)
            case Think(text):
                add(**{chance.choice(("reasoning_content", "reasoning")): text})
            case Call():
                index = next(numbers)
                function: dict[str, Any] = {"name": step.name, "arguments": ""}
                add(tool_calls=[{"index": index, "id": step.id, "type": "function", "function": function}])
                for piece in _pieces(step.text, chance):
                    add(tool_calls=[{"index": index, "function": {"arguments": piece}}])
    reason = "length" if story.is_cut_by_limit else chance.choice(("stop", "tool_calls" if story.calls else "stop"))
    frames.append({"choices": [{"index": 0, "delta": {}, "finish_reason": reason}]})
    terminal = len(frames) - 1
    if chance.random() < 0.5:
        frames.append({"choices": [], "usage": {"prompt_tokens": 9, "completion_tokens": 3}})
    if chance.random() < 0.8:
        frames.append("[DONE]")
    return Told(frames, terminal)


def _anthropic(story: Story, chance: random.Random) -> Told:
    frames: list[Any] = [{"type": "message_start", "message": {"id": "m", "usage": USAGE}}]
    block: dict[str, Any]
    deltas: list[dict[str, Any]]
    for index, step in enumerate(story.steps):
        match step:
            case Say(text):
                block, deltas = {"type": "text", "text": ""}, [{"type": "text_delta", "text": text}]
            case Think(text):
                block, deltas = {"type": "thinking", "thinking": ""}, [{"type": "thinking_delta", "thinking": text}]
            case Call():
                block = {"type": "tool_use", "id": step.id, "name": step.name, "input": {}}
                pieces = _pieces(step.text, chance)
                deltas = [{"type": "input_json_delta", "partial_json": piece} for piece in pieces]
        frames.append({"type": "content_block_start", "index": index, "content_block": block})
        frames += ({"type": "content_block_delta", "index": index, "delta": delta} for delta in deltas)
        frames.append({"type": "content_block_stop", "index": index})
        if chance.random() < 0.2:
            frames.append({"type": "ping"})
    reason = "max_tokens" if story.is_cut_by_limit else "tool_use" if story.calls else "end_turn"
    frames.append({"type": "message_delta", "delta": {"stop_reason": reason}, "usage": {"output_tokens": 9}})
    frames.append({"type": "message_stop"})
    return Told(frames, len(frames) - 1)


def _google(story: Story, chance: random.Random) -> Told:
    frames: list[Any] = []
    for step in story.steps:
        match step:
            case Say(text):
                part: dict[str, Any] = {"text": text}
            case Think(text):
                part = {"text": text, "thought": True}
            case Call():
                part = {"functionCall": {"id": step.id, "name": step.name, "args": step.arguments}}
        frames.append({"candidates": [{"content": {"role": "model", "parts": [part]}}]})
    reason = "MAX_TOKENS" if story.is_cut_by_limit else "STOP"
    end: dict[str, Any] = {"content": {"parts": [{"text": ""}]}, "finishReason": reason}
    frames.append({"candidates": [end], "usageMetadata": {"promptTokenCount": 3}})
    terminal = len(frames) - 1
    if chance.random() < 0.3:
        frames.append({"usageMetadata": {"promptTokenCount": 3, "candidatesTokenCount": 9}})
    return Told(frames, terminal)


def _claude(story: Story, chance: random.Random) -> Told:
    def event(**rest: Any) -> Any:
        return {"type": "stream_event", "event": rest, "session_id": "s"}

    frames: list[Any] = [
        {"type": "system", "subtype": "init", "session_id": "s", "apiKeySource": chance.choice(("none", "env"))},
        event(type="message_start", message={"id": "m"}),
    ]
    for step in story.steps:
        match step:
            case Say(text):
                frames.append(event(type="content_block_delta", delta={"type": "text_delta", "text": text}))
            case Think(text):
                frames.append(event(type="content_block_delta", delta={"type": "thinking_delta", "thinking": text}))
            case Call():
                use = {"type": "tool_use", "id": step.id, "name": step.name, "input": step.arguments}
                frames.append({"type": "assistant", "message": {"id": "m", "content": [use]}})
                result = {"type": "tool_result", "tool_use_id": step.id, "content": "ok"}
                frames.append({"type": "user", "message": {"content": [result]}})
    reason = "max_tokens" if story.is_cut_by_limit else "end_turn"
    end = {"type": "result", "is_error": False, "stop_reason": reason, "usage": USAGE, "session_id": "s"}
    return Told([*frames, end], len(frames))


def _gemini(story: Story, _chance: random.Random) -> Told:
    frames: list[Any] = [{"type": "init", "session_id": "s"}, {"type": "message", "role": "user", "content": "Hi"}]
    for step in story.steps:
        match step:
            case Say(text):
                frames.append({"type": "message", "role": "assistant", "content": text, "delta": True})
            case Think():
                pass  # it does not tell them
            case Call():
                frames.append({"type": "tool_use", "tool_id": step.id, "tool_name": step.name, "parameters": {}})
                frames.append({"type": "tool_result", "tool_id": step.id, "status": "success", "output": "ok"})
    end = {"type": "result", "status": "success", "stats": {"input_tokens": 5, "output_tokens": 2}}
    return Told([*frames, end], len(frames))


def _codex(story: Story, _chance: random.Random) -> Told:
    frames: list[Any] = [{"type": "thread.started", "thread_id": "t"}, {"type": "turn.started"}]
    for number, step in enumerate(story.steps):
        item: dict[str, Any] = {"id": f"item_{number}"}
        match step:
            case Say(text):
                item |= {"type": "agent_message", "text": text}
            case Think(text):
                item |= {"type": "reasoning", "text": text}
            case Call():
                item |= {"type": "command_execution", "command": "cat x", "aggregated_output": "ok"}
                frames.append({"type": "item.started", "item": item})
        frames.append({"type": "item.completed", "item": item})
    return Told([*frames, {"type": "turn.completed", "usage": USAGE}], len(frames))


def _proxy(story: Story, _chance: random.Random) -> Told:
    frames: list[Any] = []
    for step in story.steps:
        match step:
            case Say(text):
                frames.append({"type": "text", "text": text})
            case Think(text):
                frames.append({"type": "reasoning", "text": text})
            case Call():
                frames.append({"type": "toolCall", "id": step.id, "name": step.name, "arguments": step.arguments})
    frames.append({"type": "usage", "inputTokens": 5, "outputTokens": 2})
    end = {"type": "finished", "reason": "length" if story.is_cut_by_limit else "stop"}
    return Told([*frames, end], len(frames))


def _path(path: str) -> str:
    return f"file://{path}"


DIALECTS = (
    Dialect(
        "ollama",
        _ollama,
        lambda most: Answer(NdjsonFramer(most), ollama_chat.Decoder()),
        re.compile(rb"true"),
        is_sse=False,
    ),
    Dialect(
        "openai",
        _openai,
        lambda most: Answer(SseFramer(most), openai_chat.Decoder()),
        re.compile(rb"finish_reason|\[DONE\]"),
        is_sse=True,
    ),
    Dialect(
        "anthropic",
        _anthropic,
        lambda most: Answer(SseFramer(most), anthropic_messages.Decoder()),
        re.compile(rb"message_stop"),
        is_sse=True,
    ),
    Dialect(
        "google",
        _google,
        lambda most: Answer(SseFramer(most), google_generate.Decoder()),
        re.compile(rb"finishReason"),
        is_sse=True,
    ),
    Dialect(
        "claude",
        _claude,
        lambda most: Answer(NdjsonFramer(most), agent_claude.Decoder(_path)),
        re.compile(rb"is_error"),
        is_sse=False,
        is_agent=True,
    ),
    Dialect(
        "gemini",
        _gemini,
        lambda most: Answer(NdjsonFramer(most), agent_gemini.Decoder(_path)),
        re.compile(rb"success"),
        is_sse=False,
        is_agent=True,
    ),
    Dialect(
        "codex",
        _codex,
        lambda most: Answer(NdjsonFramer(most), agent_codex.Decoder(_path)),
        re.compile(rb"turn\.completed"),
        is_sse=False,
        is_agent=True,
    ),
    Dialect(
        "proxy",
        _proxy,
        lambda most: Answer(agent_proxy.EventLines(most), agent_proxy.Decoder()),
        re.compile(rb"finished"),
        is_sse=False,
        is_agent=True,
    ),
)
BY_NAME = {dialect.name: dialect for dialect in DIALECTS}
WHOLE = MAX_LINE
"""The limit of a line that the product has."""
