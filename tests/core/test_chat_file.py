"""A chat as a Markdown file: whatever is in it, it can be read, and what is written is read again."""

from __future__ import annotations

import re

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from ollm_lsp.core import splices
from ollm_lsp.core.answer_markdown import AnswerMarkdown
from ollm_lsp.core.chat_file import ChatFile, Exchange, Speaker, assemble, parse, written
from ollm_lsp.core.errors import ConnectionFailed
from ollm_lsp.core.events import (
    ChatEvent,
    Ended,
    Failed,
    FinishReason,
    ReasoningDelta,
    Started,
    TextDelta,
    ToolChanged,
    Warned,
)
from ollm_lsp.core.fence import Fence
from ollm_lsp.core.model import ModelId
from ollm_lsp.core.tool import ToolCall, ToolKind, ToolResult, ToolStatus

FILE = """---
model: ollama:qwen3
conversation: "c0ffee"
---

# About adding

## You

What does it do?

```md
## Assistant
```

### Please

## Assistant

> [!ollm] thinking
> The user asks.
>
> ## You

It adds.

> [!ollm] Read app.py: completed

\\## You
and

> a quote

## you
"""
PIECES = st.sampled_from(
    [
        "## You",
        "## Assistant",
        "##  you ",
        "## Your",
        "\\## You",
        "\\\\## You",
        "> [!ollm] note",
        "\\> [!ollm]",
        "> quote",
        ">",
        "#",
        "```",
        "````",
        "~~~",
        "``` `x` ```",
        "---",
        "model: a:b",
        "text",
        "  indented",
        "é𝄞",
        " ",
        "\\",
        "/help",
    ]
)
TEXTS = st.lists(PIECES | st.text(max_size=6), max_size=14).flatmap(
    lambda pieces: st.sampled_from(["\n", "\r\n", "\r", "\n\n", ""]).map(lambda joint: joint.join(pieces))
)
ANSWERS = st.lists(PIECES, max_size=10).map("\n".join)


def squeezed(text: str) -> str:
    return "".join(text.split())


def closed(text: str) -> str:
    """The text with an open fence closed."""
    fence = Fence()
    for line in text.split("\n"):
        fence.feed(line)
    return f"{text}\n{fence.closing}" if fence.is_open else text


def test_a_file_has_front_matter_and_messages_with_their_places() -> None:
    file = parse(FILE)
    assert (file.value("model"), file.value("conversation"), file.value("title")) == ("ollama:qwen3", "c0ffee", None)
    asked, said, empty = file.messages
    assert [message.speaker for message in file.messages] == [Speaker.YOU, Speaker.ASSISTANT, Speaker.YOU]
    assert asked.text == "What does it do?\n\n```md\n## Assistant\n```\n\n### Please"
    assert said.text == "It adds.\n\n## You\nand\n\n> a quote"
    assert empty.text == ""
    lines = FILE.split("\n")
    for message in file.messages:
        assert FILE[message.start :].startswith(lines[message.line])
        assert FILE[: message.stop].endswith(lines[message.last_line])
        assert message.start == len("".join(f"{line}\n" for line in lines[: message.line]))
    assert [[lines[first], lines[last]] for first, last in said.notes] == [
        ["> [!ollm] thinking", "> ## You"],
        ["> [!ollm] Read app.py: completed", "> [!ollm] Read app.py: completed"],
    ]


def test_whoever_writes_without_a_heading_asks_a_question() -> None:
    assert [message.text for message in parse("Why?\n").messages] == ["Why?"]
    (asked, said) = parse("---\nmodel: a:b\n---\nWhy?\n\n## Assistant\n\nSo.").messages
    assert (asked.text, asked.line, said.text) == ("Why?", 3, "So.")
    assert [message.text for message in parse("# A title\n\n## You\n\nWhy?").messages] == ["Why?"]
    assert parse("").messages == parse("\n \n").messages == parse("---\nmodel: a\n---\n").messages == ()


def test_what_was_said_before_a_question_comes_in_pairs() -> None:
    file = parse("## You\na\n## You\nb\n## Assistant\nc\n## Assistant\nd\n## You\ne\n## You\nf\n## Assistant\ng\n")
    question = file.question_at()
    assert question is not None
    assert question.text == "f"
    assert file.before(question) == ([Exchange("a\n\nb", "c\n\nd")], "e\n\nf")
    assert [getattr(file.question_at(line), "text", None) for line in (0, 3, 5, 11, 99)] == ["a", "b", "b", "f", "f"]
    assert parse("## Assistant\nhello").question_at() is None


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("hi\n", "---\nconversation: 1\n---\n\nhi\n"),
        ("---\n---\nhi", "---\nconversation: 1\n---\nhi"),
        ("---\nmodel: a\n---\nhi", "---\nmodel: a\nconversation: 1\n---\nhi"),
        ("---\nconversation: 'old' \n---\nhi", "---\nconversation: 1 \n---\nhi"),
        ("---\nconversation:\n---\n", "---\nconversation: 1\n---\n"),
        ("---\r\nmodel: a\r\n---\r\n", "---\r\nmodel: a\r\nconversation: 1\r\n---\r\n"),
        ("---\nnever closed\n", "---\nconversation: 1\n---\n\n---\nnever closed\n"),
    ],
)
def test_a_field_of_the_front_matter_can_be_set(text: str, expected: str) -> None:
    changed = splices.apply(text, [parse(text).setting("conversation", "1")])
    assert changed == expected
    assert parse(changed).value("conversation") == "1"


@given(TEXTS)
@example("---\n---")
@example("\r---\n")
def test_every_text_can_be_read_and_its_messages_are_where_they_say(text: str) -> None:
    file = parse(text)
    here = file.front_end
    for message in file.messages:
        assert here <= message.start <= message.body <= message.end <= len(text)
        assert message.start <= message.stop <= message.end
        assert not text[message.stop : message.end].strip()
        assert message.line <= message.last_line
        here = message.end
    if file.messages:
        assert here == len(text)


@given(
    st.dictionaries(st.sampled_from(["model", "conversation"]), st.sampled_from(["a:b", "c0ffee"])),
    st.lists(st.tuples(st.sampled_from(Speaker), ANSWERS), max_size=5),
)
def test_what_is_written_is_read_again(front: dict[str, str], messages: list[tuple[Speaker, str]]) -> None:
    file = parse(assemble(front, [written(*message) for message in messages]))
    assert {name: field.value for name, field in file.front.items()} == front
    assert [(message.speaker, message.text) for message in file.messages] == [
        (speaker, re.sub(r"\A\s*\n", "", closed(text)).rstrip()) for speaker, text in messages
    ]


def tool(status: ToolStatus) -> ToolChanged:
    call = ToolCall("0", "read", {})
    return ToolChanged("1", call, ToolKind.READ, "Read\n app.py", (), status, ToolResult("0", "read", "text"))


FAILURE = ConnectionFailed("Cannot reach it.", remedy="Start Ollama.")
EVENTS: st.SearchStrategy[ChatEvent] = st.one_of(
    ANSWERS.map(TextDelta),
    st.text(max_size=4).map(TextDelta),
    ANSWERS.map(ReasoningDelta),
    st.sampled_from(ToolStatus).map(tool),
    st.just(Warned("code", "## You", "\n## You")),
    st.just(Started("c", "r", ModelId("a", "b"))),
)


def grown(events: list[ChatEvent]) -> str:
    markdown = AnswerMarkdown()
    return "".join(map(markdown.add, events))


def test_thoughts_tools_and_errors_are_notes_and_not_the_answer() -> None:
    events: list[ChatEvent] = [
        ReasoningDelta("\nThe user "),
        ReasoningDelta("asks.\n\n## You\n"),
        TextDelta("\n\nLet me look.\n\n"),
        tool(ToolStatus.RUNNING),
        tool(ToolStatus.COMPLETED),
        TextDelta("It\n## "),
        TextDelta("You\nadds.\n```py\n## You\n"),
        Failed(FAILURE),
        Ended(FinishReason.ERROR),
    ]
    assert grown(events) == (
        "> [!ollm] thinking\n> The user asks.\n> \n> ## You\n\nLet me look.\n\n> [!ollm] Read app.py: completed\n\n"
        "It\n\\## You\nadds.\n```py\n## You\n```\n\n"
        "> [!ollm] error connection: Cannot reach it. Start Ollama."
    )
    file = parse(f"## You\n\nhi\n\n## Assistant\n\n{grown(events)}\n\n## You\n\n")
    assert [message.text for message in file.messages] == [
        "hi",
        "Let me look.\n\nIt\n## You\nadds.\n```py\n## You\n```",
        "",
    ]


@pytest.mark.parametrize(
    ("reason", "note"),
    [(FinishReason.STOP, ""), (FinishReason.CANCELLED, "\n\n> [!ollm] stopped"), (FinishReason.TOOL_USE, "")],
)
def test_an_answer_that_was_cut_short_says_so(reason: FinishReason, note: str) -> None:
    assert grown([TextDelta("So"), Ended(reason)]) == f"So{note}"


@given(st.lists(EVENTS, max_size=8), st.sampled_from(FinishReason))
def test_whatever_a_chat_does_the_answer_is_one_message_with_exactly_the_models_words(
    events: list[ChatEvent], reason: FinishReason
) -> None:
    markdown = grown([*events, Ended(reason)])
    file: ChatFile = parse(f"## You\n\nhi\n\n## Assistant\n\n{markdown}\n\n## You\n\nbye")
    assert [message.speaker for message in file.messages] == [Speaker.YOU, Speaker.ASSISTANT, Speaker.YOU]
    runs = [""]
    for event in events:
        if isinstance(event, TextDelta):
            runs[-1] += event.text.replace("\r", "")
        elif not isinstance(event, Started) and not (isinstance(event, ToolChanged) and not event.status.is_settled):
            runs.append("")
    assert squeezed(file.messages[1].text) == squeezed("".join(map(closed, runs)))
    assert markdown == markdown.rstrip("\n")


@given(ANSWERS, st.data())
def test_the_same_words_give_the_same_text_however_they_are_cut(text: str, data: st.DataObject) -> None:
    cuts = sorted(data.draw(st.lists(st.integers(0, len(text)), max_size=5)))
    pieces = [text[start:end] for start, end in zip([0, *cuts], [*cuts, len(text)], strict=True)]
    assert grown([*map(TextDelta, pieces), Ended(FinishReason.STOP)]) == grown(
        [TextDelta(text), Ended(FinishReason.STOP)]
    )
