"""The status line fits its terminal, and as plain lines it does not repeat itself."""

from __future__ import annotations

import io

from hypothesis import given, settings
from hypothesis import strategies as st

from ollm_lsp.terminal.cells import cells, shorten
from ollm_lsp.terminal.status_line import LiveStatus, PlainStatus, render
from tests.terminal.terminal import Terminal

MESSAGES = st.text(st.characters(exclude_categories=["Cc", "Cs"]), max_size=100)


@settings(deadline=None)
@given(MESSAGES, st.none() | st.integers(-5, 150), st.integers(1, 120))
def test_the_line_never_reaches_the_last_column(message: str, percentage: int | None, columns: int) -> None:
    assert cells(render(message, percentage, columns)) < columns


def test_a_short_message_is_shown_as_it_is() -> None:
    assert render("loading model…", None, 80) == "loading model…"


def test_a_percentage_is_a_bar() -> None:
    assert render("pulling", 42, 80) == "pulling [########............] 42 %"


def test_a_narrow_terminal_keeps_the_number() -> None:
    assert render("pulling a model", 42, 20) == "pulling a mod… 42 %"


def test_wide_characters_count_twice() -> None:
    assert shorten("漢字漢字", 8) == "漢字漢字"
    assert shorten("漢字漢字", 7) == "漢字漢…"
    assert cells("e\u0301") == 1


def test_a_new_line_replaces_the_longer_one_before() -> None:
    stream, terminal = io.StringIO(), Terminal()
    status = LiveStatus(stream, lambda: 80)
    status.show("a long message", None)
    status.show("short", None)
    terminal.feed(stream.getvalue())
    assert terminal.lines == ["short"]


def test_erasing_leaves_nothing() -> None:
    stream, terminal = io.StringIO(), Terminal()
    status = LiveStatus(stream, lambda: 80)
    status.show("loading", 10)
    status.erase()
    terminal.feed(stream.getvalue())
    assert terminal.lines == []


def test_a_line_that_a_resize_has_wrapped_is_erased_whole() -> None:
    stream = io.StringIO()
    status = LiveStatus(stream, lambda: 80)
    status.show("x" * 70, None)
    painted = len(stream.getvalue())
    status.erase()
    narrow = Terminal(columns=30)
    narrow.feed("x" * 70 + "\x1b[2A\r")  # what a terminal makes of it that rewraps its lines
    narrow.feed(stream.getvalue()[painted:])
    assert narrow.lines == []


def test_the_width_is_that_of_the_moment() -> None:
    widths = iter([80, 10])
    stream = io.StringIO()
    status = LiveStatus(stream, lambda: next(widths))
    status.show("loading the model", None)
    status.show("loading the model", None)
    assert "\x1b[2mloading …\x1b[22m" in stream.getvalue()


def test_the_same_line_is_painted_once() -> None:
    stream = io.StringIO()
    status = LiveStatus(stream, lambda: 80)
    status.show("loading", None)
    painted = stream.getvalue()
    status.show("loading", None)
    assert stream.getvalue() == painted


def test_plain_messages_appear_once_and_percentages_in_steps_of_ten() -> None:
    stream = io.StringIO()
    status = PlainStatus(stream)
    status.show("loading model…", None)
    status.show("loading model…", None)
    for number in range(1, 40):
        status.show(f"{number} tokens at 31.{number} tokens/s", None)
    for percentage in range(35):
        status.show("pulling", percentage)
    status.erase()
    assert stream.getvalue().splitlines() == [
        "loading model…",
        "1 tokens at 31.1 tokens/s",
        "pulling 0 %",
        "pulling 10 %",
        "pulling 20 %",
        "pulling 30 %",
    ]
