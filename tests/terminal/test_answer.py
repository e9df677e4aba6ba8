"""Chat events become text, notes and messages."""

from __future__ import annotations

import io
from typing import Any

from ollm_lsp.terminal.answer import Answer, foot
from ollm_lsp.terminal.payload import Payload
from ollm_lsp.terminal.screen import Screen


def plain_answer() -> tuple[Answer, io.StringIO, io.StringIO]:
    out, err = io.StringIO(), io.StringIO()
    return Answer(Screen(out, err, {})), out, err


def test_a_tool_call_is_one_line_when_it_is_over() -> None:
    answer, _, err = plain_answer()
    call = {"type": "toolCall", "id": "1", "name": "read_file", "title": "Read a.py"}
    for status in ("pending", "running", "completed"):
        answer.receive({**call, "status": status})
    answer.receive({**call, "id": "2", "title": "Run tests", "status": "denied"})
    assert [line for line in err.getvalue().splitlines() if line.startswith("•")] == [
        "• Read a.py",
        "• Run tests (denied)",
    ]


def test_a_tool_call_that_never_ended_is_told_at_the_end() -> None:
    answer, _, err = plain_answer()
    answer.receive({"type": "toolCall", "id": "1", "name": "shell", "status": "running"})
    answer.cancel()
    assert err.getvalue().splitlines()[-2:] == ["• shell (running)", "cancelled"]


def test_a_warning_has_its_remedy() -> None:
    answer, _, err = plain_answer()
    answer.receive({"type": "warning", "code": "x", "message": "It is slow.", "remedy": "Wait."})
    assert err.getvalue() == "warning: It is slow.\n  Wait.\n"


def test_an_error_that_comes_as_event_and_as_response_is_told_once() -> None:
    answer, _, err = plain_answer()
    answer.receive({"type": "error", "code": "connection", "message": "Nobody answers.", "remedy": "Start it."})
    answer.fail("Nobody answers.", "Start it.")
    assert err.getvalue() == "error: Nobody answers.\n  Start it.\n"


def test_a_result_without_deltas_is_printed() -> None:
    answer, out, _ = plain_answer()
    assert answer.succeed({"text": "All at once.", "conversationId": "c9", "finishReason": "stop"})
    assert out.getvalue() == "All at once.\n"
    assert answer.conversation_id == "c9"


def test_streamed_text_is_not_printed_again() -> None:
    answer, out, _ = plain_answer()
    answer.receive({"type": "text", "text": "Once."})
    answer.succeed({"text": "Once.", "finishReason": "stop"})
    assert out.getvalue() == "Once.\n"


def test_an_answer_that_was_cut_short_says_so() -> None:
    answer, _, err = plain_answer()
    assert answer.succeed({"text": "Half", "finishReason": "length"})
    assert "cut off" in err.getvalue()


def test_events_of_a_newer_server_and_malformed_ones_are_skipped() -> None:
    answer, out, err = plain_answer()
    values: list[Any] = [{"type": "hologram"}, {"type": "text", "text": 7}, {"type": "toolCall"}, [], None, 7]
    for value in values:
        answer.receive(value)
    assert out.getvalue() == ""
    assert "error" not in err.getvalue()


def test_the_foot_names_the_cost_only_when_there_is_one() -> None:
    result = {
        "model": "openai:gpt",
        "usage": {"inputTokens": 1200, "outputTokens": 34},
        "cost": {"amount": 0.0123, "currency": "USD", "known": True},
        "durationMs": 2500,
    }
    assert foot(Payload(result)) == "openai:gpt · 1,200 input, 34 output tokens · 0.0123 USD · 2.5 s"
    result["cost"] = {"amount": 0, "currency": "USD", "known": True}
    assert foot(Payload(result)) == "openai:gpt · 1,200 input, 34 output tokens · 2.5 s"
    result["cost"] = {"amount": 1, "currency": "USD", "known": False}
    assert "USD" not in foot(Payload(result))
