"""`chat` through pipes: the answer on stdout, everything else on stderr, and an exit status."""

from __future__ import annotations

import os
import signal
from typing import IO, TYPE_CHECKING, Any

import psutil

if TYPE_CHECKING:
    from tests.terminal.conftest import Runner

FOOT = "ollama:fake · 12 input, 34 output tokens · 2.5 s\n"
FAILURE = {
    "code": -32803,
    "message": "Nobody answers at \x1b[31mthe address.",
    "data": {"code": "connection", "remedy": "Start Ollama."},
}


def read_until(stream: IO[str] | None, wanted: str) -> str:
    assert stream
    seen = ""
    while not seen.endswith(wanted):
        character = stream.read(1)
        assert character, f"the stream ended after {seen!r}"
        seen += character
    return seen


def test_the_answer_is_streamed_to_stdout(runner: Runner) -> None:
    done = runner.chat(runner.server([["text", "Be"], ["text", "cause.\n"], ["result", {}]]))
    assert (done.returncode, done.stdout, done.stderr) == (0, "Because.\n", FOOT)


def test_deltas_are_printed_before_the_answer_is_complete(runner: Runner) -> None:
    server = runner.server([["text", "first "], ["await_cancel"]])
    with runner.start_chat(server) as process:
        assert read_until(process.stdout, "first ") == "first "
        assert process.poll() is None
        process.send_signal(signal.SIGINT)


def test_the_question_goes_out_as_the_contract_says(runner: Runner) -> None:
    (runner.folder / "a.py").write_text("x = 1\n")
    (runner.folder / "b.md").write_text("# B\n")
    done = runner.chat(runner.server([["result", {}]]), files=("a.py", "b.md"))
    assert done.returncode == 0
    a, b = ((runner.folder / name).resolve().as_uri() for name in ("a.py", "b.md"))
    assert [params["textDocument"] for params in runner.received("textDocument/didOpen")] == [
        {"uri": a, "languageId": "python", "version": 1, "text": "x = 1\n"},
        {"uri": b, "languageId": "markdown", "version": 1, "text": "# B\n"},
    ]
    [send] = runner.received("ollm/chat/send")
    assert send == {
        "text": "Why?",
        "workDoneToken": "work-1",
        "partialResultToken": "chat-1",
        "context": {"uri": a, "files": [a, b]},
    }


def test_the_model_can_be_chosen(runner: Runner) -> None:
    arguments: dict[str, Any] = {"files": [], "prompt": "Why?", "model": "ollama:other"}
    runner.run("chat", {**arguments, "server_command": runner.server([["result", {}]])})
    assert runner.received("ollm/chat/send")[0]["model"] == "ollama:other"


def test_without_a_prompt_stdin_is_the_question(runner: Runner) -> None:
    done = runner.chat(runner.server([["text", "Yes."], ["result", {}]]), None, stdin="Is it\ntrue?\n")
    assert (done.returncode, done.stdout) == (0, "Yes.\n")
    assert runner.received("ollm/chat/send")[0]["text"] == "Is it\ntrue?\n"


def test_an_empty_question_is_refused(runner: Runner) -> None:
    done = runner.chat(["/nonexistent"], None, stdin=" \n")
    assert done.returncode == 2
    assert "There is no question." in done.stderr


def test_a_failure_is_told_with_its_remedy_and_status_1(runner: Runner) -> None:
    done = runner.chat(runner.server([["text", "Be"], ["error", FAILURE]]))
    assert (done.returncode, done.stdout) == (1, "Be\n")
    assert done.stderr == "error: Nobody answers at the address.\n  Start Ollama.\n"


def test_a_server_that_dies_in_the_middle_is_reported_with_its_last_words(runner: Runner) -> None:
    done = runner.chat(runner.server([["text", "Be"], ["die", 9, "boom \x1b[2J!"]]))
    assert (done.returncode, done.stdout) == (1, "Be\n")
    assert done.stderr.startswith("error: The language server ended with status 9.\n  boom !\n")
    assert "doctor" in done.stderr


def test_a_server_that_cannot_start_is_reported(runner: Runner) -> None:
    done = runner.chat(["/nonexistent/ollm-lsp"])
    assert done.returncode == 1
    assert done.stderr.startswith("error: The language server cannot be started")


def test_unusable_files_are_reported_before_anything_starts(runner: Runner) -> None:
    (runner.folder / "bin\x1b[2J").write_bytes(b"\0")
    done = runner.chat(runner.server(), files=("missing.py", "bin\x1b[2J"))
    assert done.returncode == 2
    assert done.stderr == "error: missing.py: No such file or directory\nerror: bin: a binary file\n"
    assert not (runner.folder / "record").exists()


def test_sigint_cancels_the_answer_with_status_130(runner: Runner) -> None:
    server = runner.server([["text", "Half of"], ["await_cancel"]])
    with runner.start_chat(server) as process:
        read_until(process.stdout, "Half of")
        process.send_signal(signal.SIGINT)
        out, err = process.communicate(timeout=30)
    assert (process.returncode, out, err) == (130, "\n", "cancelled\n")
    assert len(runner.received("$/cancelRequest")) == 1
    assert runner.messages[-1]["method"] == "exit"


def test_a_second_sigint_does_not_wait_for_the_server(runner: Runner) -> None:
    server = runner.server([["text", "Half of"], ["ignore_cancel"]])
    with runner.start_chat(server) as process:
        read_until(process.stdout, "Half of")
        process.send_signal(signal.SIGINT)
        read_until(process.stdout, "(ignored)")
        process.send_signal(signal.SIGINT)
        _, err = process.communicate(timeout=30)
    assert (process.returncode, err) == (130, "cancelled\n")


def test_sigint_while_the_server_starts_ends_the_command(runner: Runner) -> None:
    fifo = runner.folder / "record"
    os.mkfifo(fifo)
    with runner.start_chat(runner.server(start="hang")) as process, fifo.open() as record:
        assert "initialize" in record.readline()
        process.send_signal(signal.SIGINT)
        _, err = process.communicate(timeout=30)
    assert (process.returncode, err) == (130, "cancelled\n")


def test_plain_output_has_no_escape_byte(runner: Runner) -> None:
    steps: list[list[Any]] = [
        ["work", {"kind": "begin", "title": "Chat", "message": "loading model…"}],
        ["work", {"kind": "report", "message": "loading model…"}],
        ["work", {"kind": "report", "message": "pulling", "percentage": 42}],
        ["event", {"type": "reasoning", "text": "Hm."}],
        ["event", {"type": "toolCall", "id": "1", "title": "Read a.py", "status": "completed"}],
        ["event", {"type": "warning", "code": "w", "message": "Slow.", "remedy": "Wait."}],
        ["notify", "window/showMessage", {"type": 2, "message": "Settings are odd."}],
        ["notify", "ollm/status", {"kraken": "none", "busy": True, "message": "thinking"}],
        ["text", "Yes\x1b"],
        ["text", "[31m."],
        ["work", {"kind": "end"}],
        ["result", {"cost": {"amount": 0.5, "currency": "USD", "known": True}}],
    ]
    done = runner.chat(runner.server(steps))
    assert done.stdout == "Yes.\n"
    assert done.stderr.splitlines() == [
        "loading model…",
        "pulling 42 %",
        "• Read a.py",
        "warning: Slow.",
        "  Wait.",
        "warning: Settings are odd.",
        "thinking",
        "ollama:fake · 12 input, 34 output tokens · 0.5000 USD · 2.5 s",
    ]


def test_a_reader_that_has_enough_ends_the_command_quietly(runner: Runner) -> None:
    steps = [["text", "a few words, so that Python keeps them in its buffer "]] * 100
    with runner.start_chat(runner.server([*steps, ["result", {}]])) as process:
        assert process.stdout
        process.stdout.close()
        assert process.stderr
        assert process.stderr.read() == ""
    assert process.returncode == 1


def test_the_server_is_gone_when_the_command_is(runner: Runner) -> None:
    with runner.start_chat(runner.server([["text", "a"], ["hang"]])) as process:
        read_until(process.stdout, "a")
        servers = psutil.Process(process.pid).children()
        process.kill()
    gone, alive = psutil.wait_procs(servers, timeout=30)
    assert (len(gone), alive) == (1, [])
