"""`chat` at a real pseudoterminal."""

from __future__ import annotations

import signal
from typing import TYPE_CHECKING, Any, TypeAlias

import pytest

from tests.terminal.terminal import Terminal

if TYPE_CHECKING:
    from tests.terminal.conftest import Runner

pytestmark = pytest.mark.filterwarnings("ignore:.*fork.*:DeprecationWarning")  # pexpect forks; newer Pythons warn
Steps: TypeAlias = list[list[Any]]
PROMPT = "› "  # noqa: RUF001 (the prompt as it is)
FOOT = "ollama:fake · 12 input, 34 output tokens · 2.5 s"


def left_on_screen(output: str) -> list[str]:
    terminal = Terminal()
    terminal.feed(output)
    return terminal.lines


def test_only_the_answer_and_its_foot_stay_on_the_screen(runner: Runner) -> None:
    steps: Steps = [
        ["work", {"kind": "begin", "title": "Chat", "message": "loading model…"}],
        ["work", {"kind": "report", "message": "pulling", "percentage": 42}],
        ["text", "First line\nsec"],
        ["work", {"kind": "report", "message": "42 tokens at 31 tokens/s"}],
        ["text", "ond line\n"],
        ["work", {"kind": "report", "message": "99 tokens at 31 tokens/s"}],
        ["text", "x" * 80],
        ["work", {"kind": "report", "message": "120 tokens at 31 tokens/s"}],
        ["text", "\nlast"],
        ["result", {}],
    ]
    terminal = runner.chat_at_terminal(runner.server(steps))
    assert terminal.wait() == 0
    assert left_on_screen(terminal.output) == ["First line", "second line", "x" * 80, "last", FOOT]
    for shown in ("loading model…", "[########............] 42 %", "99 tokens"):
        assert shown in terminal.output


def test_reasoning_is_dim(runner: Runner) -> None:
    steps: Steps = [["event", {"type": "reasoning", "text": "Hm."}], ["text", "Yes."], ["result", {}]]
    terminal = runner.chat_at_terminal(runner.server(steps))
    assert terminal.wait() == 0
    assert "\x1b[2mHm.\x1b[22m" in terminal.output
    assert left_on_screen(terminal.output) == ["Hm.", "", "Yes.", FOOT]


@pytest.mark.parametrize("environ", [{"NO_COLOR": "1"}, {"TERM": "dumb"}])
def test_a_terminal_that_wants_none_gets_no_escape_byte(runner: Runner, environ: dict[str, str]) -> None:
    steps: Steps = [["work", {"kind": "begin", "title": "loading"}], ["text", "Yes."], ["result", {}]]
    terminal = runner.chat_at_terminal(runner.server(steps), **environ)
    assert terminal.wait() == 0
    assert terminal.output.splitlines() == ["loading", "Yes.", FOOT]


def test_ctrl_c_cancels_the_answer(runner: Runner) -> None:
    terminal = runner.chat_at_terminal(runner.server([["text", "Half of"], ["await_cancel"]]))
    terminal.expect("Half of")
    terminal.press_ctrl_c()
    assert terminal.wait() == 130
    assert left_on_screen(terminal.output)[-1] == "cancelled"
    assert len(runner.received("$/cancelRequest")) == 1


def test_two_questions_are_one_conversation_until_a_new_one(runner: Runner) -> None:
    answers: list[Steps] = [[["text", f"Answer {number}."], ["result", {}]] for number in (1, 2, 3)]
    terminal = runner.chat_at_terminal(runner.server(*answers), None)
    terminal.expect(PROMPT)
    terminal.send("One?\r")
    terminal.expect("Answer 1.")
    terminal.expect(PROMPT)
    terminal.send("Two\\\r")
    terminal.expect("… ")
    terminal.send("lines?\r")
    terminal.expect("Answer 2.")
    terminal.expect(PROMPT)
    terminal.send("/new\r")
    terminal.expect("new conversation")
    terminal.expect(PROMPT)
    terminal.send("Three?\r")
    terminal.expect("Answer 3.")
    terminal.expect(PROMPT)
    terminal.send("/exit\r")
    assert terminal.wait() == 0
    sent = [(params["text"], params.get("conversationId")) for params in runner.received("ollm/chat/send")]
    assert sent == [("One?", None), ("Two\nlines?", "c1"), ("Three?", None)]


def test_a_cancelled_answer_leads_back_to_the_prompt(runner: Runner) -> None:
    terminal = runner.chat_at_terminal(
        runner.server([["text", "Half of"], ["await_cancel"]], [["text", "Whole."], ["result", {}]]), None
    )
    terminal.expect(PROMPT)
    terminal.send("One?\r")
    terminal.expect("Half of")
    terminal.press_ctrl_c()
    terminal.expect("cancelled")
    terminal.expect(PROMPT)
    terminal.send("Two?\r")
    terminal.expect("Whole.")
    terminal.expect(PROMPT)
    terminal.send("\x04")
    assert terminal.wait() == 0
    assert runner.received("ollm/chat/send")[1]["conversationId"] == "c1"


def test_a_failed_answer_leads_back_to_the_prompt(runner: Runner) -> None:
    error = {"code": -32803, "message": "Nobody answers.", "data": {"code": "connection", "remedy": "Start it."}}
    terminal = runner.chat_at_terminal(runner.server([["error", error]]), None)
    terminal.expect(PROMPT)
    terminal.send("One?\r")
    terminal.expect("Nobody answers.")
    terminal.expect("Start it.")
    terminal.expect(PROMPT)
    terminal.send("/quit\r")
    assert terminal.wait() == 0


def test_a_second_ctrl_c_within_the_cancel_leaves(runner: Runner) -> None:
    terminal = runner.chat_at_terminal(runner.server([["text", "Half of"], ["ignore_cancel"]]), None)
    terminal.expect(PROMPT)
    terminal.send("One?\r")
    terminal.expect("Half of")
    terminal.press_ctrl_c()
    terminal.expect("(ignored)")
    terminal.press_ctrl_c()
    assert terminal.wait() == 130


def test_ctrl_c_clears_the_line_and_leaves_at_an_empty_prompt(runner: Runner) -> None:
    terminal = runner.chat_at_terminal(runner.server([["text", "Yes."], ["result", {}]]), None)
    terminal.expect(PROMPT)
    terminal.send("not this")
    terminal.expect("not this")
    terminal.press_ctrl_c()
    terminal.expect(PROMPT)
    terminal.send("but this?\r")
    terminal.expect("Yes.")
    terminal.expect(PROMPT)
    terminal.press_ctrl_c()
    assert terminal.wait() == 130
    assert [params["text"] for params in runner.received("ollm/chat/send")] == ["but this?"]
    assert runner.messages[-1]["method"] == "exit"


def test_a_sigint_at_the_prompt_leaves(runner: Runner) -> None:
    terminal = runner.chat_at_terminal(runner.server(), None)
    terminal.expect(PROMPT)
    terminal.send_signal(signal.SIGINT)
    assert terminal.wait() == 130
    assert "Traceback" not in terminal.output


def test_help_lists_the_commands_of_the_terminal_and_those_of_the_server(runner: Runner) -> None:
    terminal = runner.chat_at_terminal(runner.server([["result", {"text": "- `/cost` tells the cost"}]]), None)
    terminal.expect(PROMPT)
    terminal.send("/help\r")
    for command in ("/new", "/exit, /quit", "/help", "/cost"):
        terminal.expect(command)
    terminal.expect(PROMPT)
    terminal.send("\x04")
    assert terminal.wait() == 0


def test_the_history_brings_back_the_last_question(runner: Runner) -> None:
    answer: Steps = [["text", "Yes."], ["result", {}]]
    terminal = runner.chat_at_terminal(runner.server(answer, answer), None)
    terminal.expect(PROMPT)
    terminal.send("Is it?\r")
    terminal.expect("Yes.")
    terminal.expect(PROMPT)
    terminal.send("\x1b[A")
    terminal.expect("Is it?")
    terminal.send("\r")
    terminal.expect("Yes.")
    terminal.expect(PROMPT)
    terminal.send("\x04")
    assert terminal.wait() == 0
    assert [params["text"] for params in runner.received("ollm/chat/send")] == ["Is it?", "Is it?"]


def test_a_server_that_dies_ends_the_session(runner: Runner) -> None:
    terminal = runner.chat_at_terminal(runner.server([["text", "Half of"], ["die", 4, "boom"]]), None)
    terminal.expect(PROMPT)
    terminal.send("One?\r")
    terminal.expect("The language server ended with status 4.")
    assert terminal.wait() == 1


@pytest.mark.parametrize("key", ["\x03", "\x04", "/exit\r"])
def test_the_terminal_is_given_back_as_it_was(runner: Runner, key: str) -> None:
    terminal = runner.chat_in_shell(runner.server(), 'stty -a > before; "$@"; stty -a > after')
    terminal.expect(PROMPT)
    terminal.send(key)
    assert terminal.wait() == 0
    assert (runner.folder / "after").read_text() == (runner.folder / "before").read_text()


def test_answers_can_go_to_a_file_while_the_prompt_stays_at_the_terminal(runner: Runner) -> None:
    steps: Steps = [["work", {"kind": "begin", "title": "loading"}], ["text", "Yes."], ["result", {}]]
    terminal = runner.chat_in_shell(runner.server(steps), 'exec "$@" > out')
    terminal.expect(PROMPT)
    terminal.send("Is it?\r")
    terminal.expect(FOOT)
    terminal.expect(PROMPT)
    terminal.send("\x04")
    assert terminal.wait() == 0
    assert (runner.folder / "out").read_text() == "Yes.\n"
    assert runner.received("ollm/chat/send")[0]["text"] == "Is it?"


def test_a_pasted_text_of_many_lines_is_one_question(runner: Runner) -> None:
    terminal = runner.chat_at_terminal(runner.server([["text", "Yes."], ["result", {}]]), None)
    terminal.expect(PROMPT)
    terminal.send("\x1b[200~one\rtwo\r" + "x" * 5000 + "\x1b[201~\r")
    terminal.expect("Yes.")
    terminal.expect(PROMPT)
    terminal.send("\x04")
    assert terminal.wait() == 0
    assert [params["text"] for params in runner.received("ollm/chat/send")] == ["one\ntwo\n" + "x" * 5000]
