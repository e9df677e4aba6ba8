"""The screen keeps the answer intact, whatever is shown around it."""

from __future__ import annotations

import io
from typing import TYPE_CHECKING

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ollm_lsp.terminal.screen import Screen
from tests.terminal.terminal import Terminal

if TYPE_CHECKING:
    from collections.abc import Mapping


class Tty(io.StringIO):
    def isatty(self) -> bool:
        return True


def terminal_screen(environ: Mapping[str, str] | None = None) -> tuple[Screen, Tty]:
    tty = Tty()
    return Screen(tty, tty, environ or {}), tty


DELTAS = st.text("ab漢\n", min_size=1, max_size=90).map(lambda text: ("text", text))
PROGRESS = st.text("xyz", min_size=1, max_size=100).map(lambda text: ("progress", text))


@settings(deadline=None)
@given(st.lists(DELTAS | PROGRESS, max_size=20))
def test_only_the_answer_is_left_on_the_terminal(steps: list[tuple[str, str]]) -> None:
    screen, tty = terminal_screen()
    for kind, value in steps:
        if kind == "text":
            screen.text(value)
        else:
            screen.progress(value, 10)
    screen.end_answer()
    shown, expected = Terminal(), Terminal()
    shown.feed(tty.getvalue().replace("\n", "\r\n"))
    expected.feed("".join(value for kind, value in steps if kind == "text").replace("\n", "\r\n"))
    assert shown.lines == expected.lines


def test_progress_is_shown_below_the_answer_while_it_comes_and_is_gone_afterwards() -> None:
    screen, tty = terminal_screen()
    terminal = Terminal()

    def shown() -> list[str]:
        terminal.feed(tty.getvalue().replace("\n", "\r\n"))
        tty.seek(0)
        tty.truncate()
        return terminal.lines

    screen.progress("Waiting for the first token")
    assert shown() == ["Waiting for the first token"]
    screen.text("one\ntwo\nthree\nfour\nfive\nsi")
    assert shown()[-2:] == ["si", "Waiting for the first token"]
    screen.progress("12 tokens at 6 tokens/s")
    screen.text("x")
    assert shown()[-2:] == ["six", "12 tokens at 6 tokens/s"]
    screen.end_answer()
    assert shown() == ["one", "two", "three", "four", "five", "six"]


@pytest.mark.threat("T25")
def test_sequences_split_over_deltas_do_not_reach_the_terminal() -> None:
    screen, tty = terminal_screen()
    for delta in ("a\x1b", "]0;evil", "\x07b\x1b[3", "1mc"):
        screen.text(delta)
    assert tty.getvalue() == "abc"


@pytest.mark.threat("T25")
def test_names_and_errors_are_cleaned() -> None:
    screen, tty = terminal_screen({"NO_COLOR": "1"})
    screen.note("a \x1b[31mname\x9b0m")
    screen.error("it \x1b]0;x\x07failed", "do \x08this")
    screen.warning("hm\x1b[2J")
    screen.progress("lo\x1b[2Jading")
    assert tty.getvalue() == "a name\nerror: it failed\n  do this\nwarning: hm\nloading\n"


def test_reasoning_is_dim_and_apart_from_the_answer() -> None:
    screen, tty = terminal_screen()
    screen.reasoning("Let me")
    screen.reasoning(" think.")
    screen.text("Yes.")
    screen.end_answer()
    assert tty.getvalue() == "\x1b[2mLet me\x1b[22m\x1b[2m think.\x1b[22m\n\nYes.\n"


def test_reasoning_is_left_out_where_it_would_look_like_the_answer() -> None:
    for screen, stream in (
        terminal_screen({"NO_COLOR": "1"}),
        (Screen(pipe := io.StringIO(), io.StringIO(), {}), pipe),
    ):
        screen.reasoning("Let me think.")
        screen.text("Yes.")
        screen.end_answer()
        assert stream.getvalue() == "Yes.\n"


def test_a_dumb_terminal_gets_no_escape_codes() -> None:
    for environ in ({"TERM": "dumb"}, {"NO_COLOR": "1"}):
        screen, tty = terminal_screen(environ)
        screen.progress("loading")
        screen.text("Yes")
        screen.note("a note")
        screen.error("an error", "a remedy")
        assert "\x1b" not in tty.getvalue()
        assert "\r" not in tty.getvalue()


def test_a_warning_does_not_cut_an_answer_that_goes_to_a_file() -> None:
    file, tty = io.StringIO(), Tty()
    screen = Screen(file, tty, {})
    screen.text("one ")
    screen.warning("hm")
    screen.text("line")
    screen.end_answer()
    assert file.getvalue() == "one line\n"


def test_progress_goes_on_beside_an_answer_that_goes_to_a_file() -> None:
    file, tty = io.StringIO(), Tty()
    screen = Screen(file, tty, {})
    screen.text("half a line")
    screen.progress("42 tokens at 31 tokens/s")
    assert "42 tokens" in tty.getvalue()


def test_nothing_is_painted_over_what_the_user_types() -> None:
    screen, tty = terminal_screen({"NO_COLOR": "1"})
    with screen.held():
        screen.progress("loading")
        screen.note("a note")
        assert tty.getvalue() == ""
    assert tty.getvalue() == "a note\n"
