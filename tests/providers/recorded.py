"""Every recording, with the events that are in it."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ollm_lsp.core.events import ReasoningSigned, ToolCalled, Warned
from ollm_lsp.core.tool import ToolCall
from tests.providers.replay import (
    FILTERED,
    LENGTH,
    STOP,
    TOOL_USE,
    anthropic,
    called,
    counted,
    google,
    ollama,
    openai,
    said,
    thought,
)

if TYPE_CHECKING:
    from ollm_lsp.core.events import ProviderEvent
    from tests.providers.replay import Wire

FOLDER = Path(__file__).parents[1] / "recordings"
WIRES: dict[str, Wire] = {
    "anthropic_messages": anthropic,
    "google_generate": google,
    "ollama_chat": ollama,
    "openai_chat": openai,
}


@dataclass(frozen=True)
class Recording:
    """A file with its events, and the end of its terminal signal: the server's words when it is a failure."""

    path: str
    terminal: bytes
    events: tuple[ProviderEvent, ...]

    @cached_property
    def raw(self) -> bytes:
        return (FOLDER / self.path).read_bytes()

    @property
    def wire(self) -> Wire:
        return WIRES[self.path.partition("/")[0]]

    def __str__(self) -> str:
        return self.path


def signed(call_id: str, name: str, signature: str, **given: Any) -> ToolCalled:
    return ToolCalled(ToolCall(call_id, name, given, signature))


PARIS = ("The", " capital", " of", " France", " is", " Paris", ".")
DONE_TRUE = b'"done":true'
END = b'"type":"message_stop"'
STOPPED = b'"finishReason":"STOP"'

OPENAI = [
    Recording("openai_chat/llama_cpp_text.sse", b'"finish_reason":"stop"', (*said(*PARIS), counted(16, 8), STOP)),
    Recording(
        "openai_chat/llama_cpp_length.sse",
        b'"finish_reason":"length"',
        (*said("The", " number", " of", " ways"), counted(15, 4, 3), LENGTH),
    ),
    Recording(
        "openai_chat/llama_cpp_unicode.sse",
        b'"finish_reason":"stop"',
        (*said('"', "😀", " ", "漢", "字", " ", "é", '"', "\n"), counted(19, 19, 3), STOP),
    ),
    Recording(
        "openai_chat/llama_cpp_tool_calls.sse",
        b'"finish_reason":"tool_calls"',
        (
            counted(143, 67, 1),
            called("cMBgafBy1VwEZADIJTeoAZBXtbKE6ycG", "read_file", path="main.py"),
            called("YRQm7hqT2KhPD3dZMPBDBO71r76H8a2y", "read_file", path="main.py"),
            TOOL_USE,
        ),
    ),
    Recording(
        "openai_chat/llama_cpp_cut_tool_call.sse",
        b'"finish_reason":"length"',
        (counted(143, 26), LENGTH),
    ),
    Recording(
        "openai_chat/openai_parallel_tool_calls.sse",
        b'"finish_reason":"tool_calls"',
        (
            counted(82, 34),
            called("call_A", "read_file", path="src/a.py"),
            called("call_B", "search", pattern="é\\d+", limit=3),
            TOOL_USE,
        ),
    ),
    Recording(
        "openai_chat/vllm_reasoning.sse",
        b'"finish_reason":"stop"',
        (*thought("The user", " asks \u2028 2+2."), *said("\n\n4"), counted(20, 9), STOP),
    ),
    Recording(
        "openai_chat/openrouter.sse", b'"finish_reason":"stop"', (*thought("Hm"), *said("Yes"), counted(9, 3), STOP)
    ),
    Recording("openai_chat/only_done.sse", b"[DONE]", (*said("Hel", "lo"), STOP)),
    Recording(
        "openai_chat/deepseek.sse",
        b'"finish_reason":"stop"',
        (*thought("Two", " é"), *said("4"), counted(70, 9, 64), STOP),
    ),
    Recording(
        "openai_chat/openrouter_details.sse",
        b'"finish_reason":"stop"',
        (*thought("I look"), *said("Yes"), counted(90, 3, 50, 30), STOP),
    ),
    Recording("openai_chat/openai_cached.sse", b'"finish_reason":"stop"', (*said("Hi"), counted(1530, 80, 1408), STOP)),
    Recording(
        "openai_chat/openai_refusal.sse",
        b'"finish_reason":"stop"',
        (*said("I'm sorry", ", no."), counted(40, 6), FILTERED),
    ),
    Recording(
        "openai_chat/mistral_thinking.sse",
        b'"finish_reason":"stop"',
        (*thought("Okay"), *said("Hel", "lo"), counted(7, 5), STOP),
    ),
]
OLLAMA = [
    Recording(
        "ollama_chat/ollama_text.ndjson",
        DONE_TRUE,
        (*said("The", " sky", " is 🌌", " \u2028blue."), counted(26, 5), STOP),
    ),
    Recording(
        "ollama_chat/ollama_thinking.ndjson", DONE_TRUE, (*thought("Okay", ", 2+2"), *said("4"), counted(26, 9), STOP)
    ),
    Recording(
        "ollama_chat/ollama_tool_calls.ndjson",
        DONE_TRUE,
        (
            *thought("Read."),
            called("call_x1", "read_file", path="src/é.py", lines=[1, 2.5]),
            called("call_x2", "now"),
            counted(161, 44),
            TOOL_USE,
        ),
    ),
    Recording("ollama_chat/ollama_length.ndjson", DONE_TRUE, (*said("One", " two"), counted(12, 2), LENGTH)),
    Recording(
        "ollama_chat/real_text.ndjson",
        DONE_TRUE,
        (*said("The", " capital", " of", " France", " is", " Paris", "."), counted(21, 8), STOP),
    ),
    Recording(
        "ollama_chat/real_length.ndjson",
        DONE_TRUE,
        (*said("The", " number", " of", " ways"), counted(15, 4), LENGTH),
    ),
    Recording(
        "ollama_chat/real_tool_call.ndjson",
        DONE_TRUE,
        (called("call_0", "get_weather", city="Paris"), counted(111, 28), TOOL_USE),
    ),
]
ANTHROPIC = [
    Recording("anthropic_messages/llama_cpp_text.sse", END, (counted(16, 0), *said(*PARIS), counted(16, 8), STOP)),
    Recording(
        "anthropic_messages/llama_cpp_length.sse",
        END,
        (counted(15, 0, 3), *said("The", " number", " of", " ways"), counted(15, 4, 3), LENGTH),
    ),
    Recording(
        "anthropic_messages/llama_cpp_tool_calls.sse",
        END,
        (
            counted(143, 0, 1),
            counted(143, 67, 1),
            called("lWO0sEsio5FGf8Re6dHmGAT6j3PlWkT4", "read_file", path="main.py"),
            called("FJdZ12fvTtcvwC8knKRUrJJEa59T23xn", "read_file", path="main.py"),
            TOOL_USE,
        ),
    ),
    Recording(
        "anthropic_messages/llama_cpp_cut_tool_call.sse",
        END,
        (counted(143, 0, 142), counted(143, 26, 142), LENGTH),
    ),
    Recording(
        "anthropic_messages/anthropic_text.sse",
        END,
        (counted(25, 1), *said("Hello", "!"), counted(25, 15), STOP),
    ),
    Recording(
        "anthropic_messages/anthropic_thinking_tool_calls.sse",
        END,
        (
            counted(2112, 3, 2000, 100),
            *thought("The user wants ", "é.py."),
            ReasoningSigned("EqQBCgIYAg=="),
            ReasoningSigned("EmwKAhgBEgy3", is_redacted=True),
            *said("I read ", "both 漢."),
            counted(2112, 89, 2000, 100),
            called("toolu_01A", "read_file", path="é.py"),
            called("toolu_01B", "list_files"),
            TOOL_USE,
        ),
    ),
    Recording(
        "anthropic_messages/anthropic_refusal.sse",
        END,
        (counted(25, 1), *said("I"), Warned("content_filter", "This could do harm."), counted(25, 2), FILTERED),
    ),
]
GOOGLE = [
    Recording(
        "google_generate/google_text.sse",
        STOPPED,
        (*said("The capital"), counted(8), *said(" is 漢 é."), counted(8, 3), counted(8, 6), STOP),
    ),
    Recording(
        "google_generate/google_thoughts.sse",
        STOPPED,
        (
            *thought("**Adding**\n\nTwo and two"),
            counted(20, 9),
            *thought(" make four."),
            counted(20, 14),
            *said("4"),
            counted(20, 15),
            ReasoningSigned("EtMCCtACAXLI2nw="),
            counted(20, 15, 5),
            STOP,
        ),
    ),
    Recording(
        "google_generate/google_tool_calls.sse",
        STOPPED,
        (
            *thought("Reading"),
            counted(90, 30),
            *said("I look."),
            counted(90, 33),
            counted(90, 50),
            counted(100, 50),
            signed("unnamed-rJ4VacbX-0", "read_file", "CvQBAdHtim8=", path="é.py"),
            called("unnamed-rJ4VacbX-1", "read_file", path="b.py"),
            TOOL_USE,
        ),
    ),
    Recording(
        "google_generate/google_call_with_id.sse",
        STOPPED,
        (counted(9, 4), signed("fc_1", "list_files", "CvQB"), TOOL_USE),
    ),
    Recording(
        "google_generate/google_length.sse",
        b'"finishReason":"MAX_TOKENS"',
        (*said("One"), counted(5, 1), *said(" two"), counted(5, 2), LENGTH),
    ),
    Recording(
        "google_generate/google_safety.sse",
        b'"finishReason":"SAFETY"',
        (*said("First"), counted(5, 1), counted(5, 1), FILTERED),
    ),
]
COMPLETE = (*OPENAI, *OLLAMA, *ANTHROPIC, *GOOGLE)
FAILED = [
    Recording("openai_chat/openrouter_error.sse", b"Provider disconnected", said("Hel")),
    Recording("openai_chat/vllm_error.sse", b"EngineCore encountered an issue.", ()),
    Recording("ollama_chat/ollama_error.ndjson", b"unexpected EOF", said("Hé")),
    Recording("anthropic_messages/anthropic_error.sse", b"Overloaded", (counted(25, 1), *said("I read é."))),
    Recording(
        "google_generate/google_error.sse", b"The model is overloaded", (*said("I read é."), counted(8), counted(8, 12))
    ),
]
