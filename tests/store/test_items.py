"""Messages as JSON: every part comes back as it was, and nothing else is taken for one."""

from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ollm_lsp.core.messages import Image, Message, Reasoning, Role, Text
from ollm_lsp.core.tool import ToolCall, ToolResult
from ollm_lsp.settings.redactor import redactor
from ollm_lsp.store import items
from ollm_lsp.store.redacted import NO_IMAGE, redacted
from tests.core.values import messages, patient

KEY = "sk-canary-0123456789abcdef"
RESULT = '"type": "toolResult", "id": "1", "name": "read", "text": "x", "isError": false'
odd = st.text(st.characters(codec=None) | st.sampled_from("\0\ud800\udfff\u2028\\\"'"), min_size=1)


@pytest.mark.prop("eng-3")
@patient
@given(messages)
def test_any_message_comes_back_as_it_was(message: Message) -> None:
    assert items.decode(items.encode(message)) == message


@pytest.mark.prop("eng-3")
@patient
@given(odd)
def test_any_text_comes_back_as_it_was_and_every_database_can_hold_it(text: str) -> None:
    calls = (Reasoning(text, text), Text(text), ToolCall(text, text, {text: [text, 1.5, None]}, text))
    for message in (Message(Role.ASSISTANT, calls), Message(Role.TOOL, (ToolResult(text, text, text, is_error=True),))):
        encoded = items.encode(message)
        assert items.decode(encoded) == message
        assert encoded.isascii()
        assert "\0" not in encoded


def test_a_result_that_was_kept_before_results_had_images_is_read() -> None:
    old = f'{{"role": "tool", "parts": [{{{RESULT}}}]}}'
    message = items.decode(old)
    assert message == Message(Role.TOOL, (ToolResult("1", "read", "x"),))
    assert items.encode(message) == old


@pytest.mark.parametrize(
    "text",
    [
        "",
        "[]",
        "{}",
        "null",
        '{"role": "user", "parts": []}',
        '{"role": "nobody", "parts": [{"type": "text", "text": "a"}]}',
        '{"role": "user", "parts": [{"type": "song"}]}',
        '{"role": "user", "parts": [{"type": "text"}]}',
        '{"role": "user", "parts": ["text"]}',
        '{"role": "user", "parts": [{"type": "image", "mimeType": "image/png", "data": "?"}]}',
        f'{{"role": "tool", "parts": [{{{RESULT}, "images": [{{"mimeType": "text/plain", "data": "eA=="}}]}}]}}',
        "[" * 100_000,
    ],
)
def test_what_is_no_message_is_refused(text: str) -> None:
    with pytest.raises(items.UnreadableItem):
        items.decode(text)


@pytest.mark.prop("krk-41")
def test_no_secret_is_left_in_any_part() -> None:
    redactor.add(KEY)
    said = Message(
        Role.ASSISTANT,
        (
            Text(f"It is {KEY}!"),
            Reasoning(f"I know {KEY}", f"mark {KEY}"),
            ToolCall(KEY, f"say_{KEY}", {KEY: [f"{KEY}.", {"deep": KEY}], "n": 1}, KEY),
        ),
    )
    got = Message(Role.TOOL, (ToolResult(KEY, KEY, f"export KEY={KEY}"),))
    seen = Message.user("Look:", Image("image/png", b"\x89PNG" + KEY.encode()))
    clean = Image("image/png", b"x")
    given = Message(Role.TOOL, (ToolResult("1", "read", "a.png", images=(clean, Image("image/png", KEY.encode()))),))
    for message in (said, got, seen, given):
        assert KEY not in items.encode(redacted(message))
    assert redacted(seen).parts == (Text("Look:"), Text(NO_IMAGE))
    assert redacted(given).parts == (ToolResult("1", "read", f"a.png\n{NO_IMAGE}", images=(clean,)),)
    assert [type(part) for part in redacted(said).parts] == [Text, Reasoning, ToolCall]


@pytest.mark.prop("krk-41")
@patient
@given(messages)
def test_a_message_without_secrets_is_kept_as_it_is(message: Message) -> None:
    redactor.add(KEY)
    assert redacted(message) == message
    assert json.loads(items.encode(message))["role"] == message.role
