"""Sight: a model is shown the images of tools as far as it sees, and the text of each result in any case."""

from __future__ import annotations

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ollm_lsp.core import sight
from ollm_lsp.core.messages import Image, Message, Role, Text
from ollm_lsp.core.sight import NOT_SHOWN, apart, sighted
from ollm_lsp.core.tool import ToolCall, ToolResult
from tests.core.values import messages, patient

PNG, GIF = Image("image/png", b"12345"), Image("image/gif", b"12345")
ASKED = Message.user("why?")


def got(*results: ToolResult) -> Message:
    return Message(Role.TOOL, results)


def read(number: int, *images: Image) -> ToolResult:
    return ToolResult(f"c{number}", "read", f"file {number}", images=images)


def hidden(result: ToolResult) -> ToolResult:
    return replace(result, text=f"{result.text}\n{NOT_SHOWN}", images=())


@patient
@given(st.lists(messages, max_size=4).map(tuple))
def test_a_model_without_sight_is_shown_no_image_of_a_tool_and_reads_every_text(said: tuple[Message, ...]) -> None:
    seen = sighted(said, sees=False)
    assert not sight.shows_images(seen)
    assert sighted(seen, sees=False) == seen
    for before, after in zip(said, seen, strict=True):
        assert before.role is after.role
        for was, now in zip(before.parts, after.parts, strict=True):
            if isinstance(was, ToolResult) and was.images:
                assert now == hidden(was)
            else:
                assert now is was


def test_what_holds_no_image_is_not_even_copied() -> None:
    said = (ASKED, got(read(1)))
    assert sighted(said, sees=False) is said


def test_a_model_that_sees_is_shown_every_image() -> None:
    said = (Message.user("look", PNG), got(read(1, PNG, GIF), read(2)), got(read(3, GIF)))
    assert sighted(said, sees=True) == said


def test_of_too_many_images_the_newest_are_shown(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sight, "MAX_SHOWN", 12)
    old, middle, new = read(1, PNG), read(2, PNG), read(3, GIF)
    said = (ASKED, got(old, middle), ASKED, got(new, read(4)))
    assert sighted(said, sees=True) == (ASKED, got(hidden(old), middle), ASKED, got(new, read(4)))


def test_images_follow_all_results_of_a_turn_and_say_whose_they_are() -> None:
    called = Message(Role.ASSISTANT, (ToolCall("c1", "read", {}),))
    first, second = got(read(1, PNG, GIF), read(2)), got(read(3, GIF))
    shown = Message.user("[From read]", PNG, GIF, "[From read]", GIF)
    done = Message(Role.ASSISTANT, (Text("done"),))
    assert [*apart((ASKED, called, first, second, done))] == [ASKED, called, first, second, shown, done]
    assert [*apart((ASKED, called, second))] == [ASKED, called, second, Message.user("[From read]", GIF)]


@patient
@given(st.lists(messages, max_size=4))
def test_apart_adds_messages_and_changes_none(said: list[Message]) -> None:
    kept = {id(message) for message in said}
    shown = [*apart(said)]
    assert [message for message in shown if id(message) in kept] == said
    added = [part for message in shown if id(message) not in kept for part in message.parts]
    results = [part for message in said for part in message.parts if isinstance(part, ToolResult)]
    wanted = [image for result in results for image in result.images]
    assert [part for part in added if isinstance(part, Image)] == wanted


def test_a_result_of_a_tool_that_failed_has_no_image() -> None:
    with pytest.raises(ValueError, match="no image"):
        ToolResult("c1", "read", "no", is_error=True, images=(PNG,))
