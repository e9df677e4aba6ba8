"""run_command: nothing without a yes, exactly what was shown, and nothing that stays behind."""

from __future__ import annotations

import asyncio
import json
import os
import sys
from typing import TYPE_CHECKING, Any

import psutil
import pytest

from ollm_lsp.core.control_sequences import plain
from ollm_lsp.core.permission import Verdict
from ollm_lsp.core.tool import ToolKind, ToolStatus
from ollm_lsp.core.visible import unescape
from ollm_lsp.processes import child, family
from ollm_lsp.processes.environment import PASSED_ON
from ollm_lsp.tools.output import MAX_HEAD, MAX_TAIL, Output
from ollm_lsp.tools.run_command import RunCommand
from tests.support.quiet_run import QuietRun
from tests.support.workspace import Answers, Bench

if TYPE_CHECKING:
    from pathlib import Path

    from ollm_lsp.core.permission import PermissionRequest
    from ollm_lsp.core.ports import ToolRun
    from ollm_lsp.core.tool import ToolOutcome

PYTHON = os.path.realpath(sys.executable)
SHELL = [
    *(
        "echo hi; touch canary",
        "echo hi && touch canary",
        "echo $(touch canary)",
        "echo `touch canary`",
        "x | touch canary",
    ),
    *("> canary", "$SHELL -c 'touch canary'", "touch\tcanary", "touch canary\n", "& touch canary", "<(touch canary)"),
    *("${IFS}touch${IFS}canary", "\ntouch canary", "*", "~/canary", "%COMSPEC% /c touch canary", "^touch canary"),
]


@pytest.fixture
def bench(tmp_path: Path) -> Bench:
    (tmp_path / "work").mkdir()
    bench = Bench(tmp_path / "work")
    bench.answers.verdict = Verdict(allowed=True)
    return bench


async def run(bench: Bench, *argv: str, **options: Any) -> ToolOutcome:
    tool = RunCommand(bench.workspace, bench.answers, **options)
    return await tool.run({"argv": list(argv)}, QuietRun())


async def test_a_program_runs_in_the_workspace_and_its_output_is_read(bench: Bench, tmp_path: Path) -> None:
    outcome = await run(bench, PYTHON, "-c", "import os, sys; print(os.getcwd()); print('error', file=sys.stderr)")
    assert sorted(outcome.text.split("\n")) == sorted([f"{tmp_path}/work", "error", "[Ended with status 0.]"])
    assert outcome.status is ToolStatus.COMPLETED


async def test_a_failure_is_a_failure(bench: Bench) -> None:
    outcome = await run(bench, PYTHON, "-c", "import sys; sys.exit(3)")
    assert (outcome.text, outcome.status) == ("[No output. Ended with status 3.]", ToolStatus.FAILED)
    outcome = await run(bench, PYTHON, "-c", "import os; os.kill(os.getpid(), 9)")
    assert (outcome.text, outcome.status) == ("[No output. Ended by signal 9.]", ToolStatus.FAILED)


@pytest.mark.threat("T13")
async def test_without_a_yes_nothing_runs(bench: Bench, tmp_path: Path) -> None:
    canary = tmp_path / "canary"
    bench.answers.verdict = Verdict(allowed=False, feedback="Use the tests.")
    outcome = await run(bench, PYTHON, "-c", f"open({str(canary)!r}, 'w')")
    assert outcome.status is ToolStatus.DENIED
    assert outcome.text == "The user does not want this command to run. They say: Use the tests."
    assert not canary.exists()
    assert len(bench.answers.requests) == 1


@pytest.mark.threat("T6")
async def test_somebody_who_fails_to_answer_has_not_said_yes(bench: Bench, tmp_path: Path) -> None:
    class Broken(Answers):
        async def permit(self, request: PermissionRequest, run: ToolRun) -> Verdict:  # noqa: ARG002 (part of the contract)
            raise TimeoutError

    canary = tmp_path / "canary"
    with pytest.raises(TimeoutError):
        await RunCommand(bench.workspace, Broken()).run(
            {"argv": [PYTHON, "-c", f"open({str(canary)!r}, 'w')"]}, QuietRun()
        )
    assert not canary.exists()


@pytest.mark.threat("T13")
async def test_every_call_is_asked_about_and_shows_exactly_what_runs(bench: Bench, tmp_path: Path) -> None:
    argv = [PYTHON, "-c", "pass", "a b", "\x1b[2J", "\u202e", "two\nlines", '"', "`x`", "--flag=1"]
    for _ in range(3):
        await run(bench, *argv)
    assert len(bench.answers.requests) == 3
    request = bench.answers.requests[0]
    assert (request.tool, request.kind) == ("run_command", ToolKind.EXECUTE)
    shown = [json.loads(unescape(line)) for line in request.detail.split("\n") if line.startswith("    ")]
    assert shown == [*argv, f"{tmp_path}/work"]
    assert not any(hidden in request.detail + request.title for hidden in ("\x1b", "\u202e"))
    assert json.loads(request.scope) == [f"{tmp_path}/work", *argv]


@pytest.mark.threat("T13")
@pytest.mark.parametrize("text", SHELL)
async def test_there_is_no_shell(bench: Bench, tmp_path: Path, text: str) -> None:
    """Threat T13: each is one argument, or no program at all."""
    outcome = await run(bench, PYTHON, "-c", "import sys; print(ascii(sys.argv[1:]))", text)
    assert outcome.text.split("\n")[0] == ascii([text])
    assert "There is no program" in await bench.refusal("run_command", argv=[text])
    assert not (tmp_path / "work" / "canary").exists()


@pytest.mark.threat("T5")
@pytest.mark.parametrize("name", ["./tool", "tool", "bin/tool", "../work/tool"])
async def test_a_program_of_the_workspace_does_not_run(
    bench: Bench, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str
) -> None:
    """Threat T5: also when the PATH leads there."""
    work, canary = tmp_path / "work", tmp_path / "canary"
    for tool in (work / "tool", work / "bin" / "tool"):
        tool.parent.mkdir(exist_ok=True)
        tool.write_text(f"#!/bin/sh\ntouch {canary}\n")
        tool.chmod(0o755)
    monkeypatch.setenv("PATH", f".:bin:{work}:{work}/bin:{os.environ['PATH']}")
    assert "outside the workspace" in await bench.refusal("run_command", argv=[name])
    assert "outside the workspace" in await bench.refusal("run_command", argv=[str(work / "tool")])
    assert bench.answers.requests == []
    assert not canary.exists()


@pytest.mark.threat("T17")
async def test_the_environment_is_chosen_by_us(bench: Bench, monkeypatch: pytest.MonkeyPatch) -> None:
    """Threat T17: no loader, interpreter, proxy, pager or key reaches a program."""
    hostile = [
        "LD_PRELOAD_X",
        "PYTHONPATH",
        "PYTHONSTARTUP",
        "GIT_SSH_COMMAND",
        "GIT_PAGER",
        "NODE_OPTIONS",
        "BASH_ENV",
    ]
    hostile += ["OPENAI_API_KEY", "HTTPS_PROXY", "http_proxy", "OPENAI_BASE_URL", "EDITOR", "PERL5OPT", "DYLD_X", "IFS"]
    for name in hostile:
        monkeypatch.setenv(name, "hostile")
    monkeypatch.setenv("LC_ALL", "C.UTF-8")
    outcome = await run(bench, PYTHON, "-c", "import json, os; print(json.dumps(dict(os.environ)))")
    dump = json.loads(outcome.text.split("\n")[0])
    assert "hostile" not in dump.values()
    assert dump["LC_ALL"] == "C.UTF-8"
    assert set(dump) <= {*PASSED_ON, "LC_ALL", "LC_CTYPE", "PATH", "TERM", "NO_COLOR", family.MARK}


async def test_there_is_nothing_to_read_for_a_program(bench: Bench) -> None:
    outcome = await run(bench, PYTHON, "-c", "import sys; print(repr(sys.stdin.read()))")
    assert outcome.text.startswith("''")


def alive(mark: Path) -> list[psutil.Process]:
    """Every process of a family, wherever it is by now."""
    found: list[psutil.Process] = []
    for process in psutil.process_iter():
        try:
            if any(str(mark) in word for word in process.cmdline()) and process.status() != psutil.STATUS_ZOMBIE:
                found.append(process)
        except psutil.Error:
            continue
    return found


FAMILY = """
import os, signal, subprocess, sys, time
signal.signal(signal.SIGTERM, signal.SIG_IGN)
stubborn = "import signal, time; signal.signal(signal.SIGTERM, signal.SIG_IGN); time.sleep(600)"
subprocess.Popen([sys.executable, "-c", stubborn, sys.argv[1]])
subprocess.Popen([sys.executable, "-c", stubborn, sys.argv[1]], start_new_session=True)
if os.fork() == 0:
    os.setsid()
    if os.fork() == 0:
        time.sleep(600)
    os._exit(0)
print("ready", flush=True)
"""
"""A program with a child, a child in a session of its own, and a daemon that nobody is the parent of."""


@pytest.mark.threat("F42")
async def test_a_program_that_takes_too_long_is_ended_with_all_that_it_started(
    bench: Bench, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Threat F42: also what ignores a polite end, and what went into a session of its own."""
    monkeypatch.setattr(child, "POLITE", 0.2)
    outcome = await run(bench, PYTHON, "-c", f"{FAMILY}\ntime.sleep(600)", str(tmp_path), time_limit=3.0)
    assert outcome.text.endswith("[It had not ended after 3 s and was stopped.]")
    assert outcome.status is ToolStatus.FAILED
    assert alive(tmp_path) == []


@pytest.mark.threat("F42")
async def test_what_a_program_leaves_behind_is_ended_and_not_waited_for(
    bench: Bench, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(child, "POLITE", 0.2)
    outcome = await run(bench, PYTHON, "-c", FAMILY, str(tmp_path), time_limit=100)
    assert outcome.text == "ready\n[Ended with status 0.]"
    assert alive(tmp_path) == []


@pytest.mark.threat("F35", "F42")
async def test_a_call_that_is_cancelled_ends_its_program(
    bench: Bench, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(child, "POLITE", 0.2)
    running = asyncio.create_task(run(bench, PYTHON, "-c", f"{FAMILY}\ntime.sleep(600)", str(tmp_path)))
    while len(alive(tmp_path)) < 4:
        await asyncio.sleep(0.05)
    running.cancel()
    with pytest.raises(asyncio.CancelledError):
        await running
    assert alive(tmp_path) == []


async def test_a_flood_of_output_is_kept_small(bench: Bench) -> None:
    outcome = await run(bench, PYTHON, "-c", "print('begin'); print('x' * 50_000_000); print('end')")
    assert outcome.text.startswith("begin\nx")
    assert outcome.text.endswith("x\nend\n[Ended with status 0.]")
    assert "bytes left out]" in outcome.text
    assert len(outcome.text) < MAX_HEAD + MAX_TAIL + 100


@pytest.mark.threat("T25")
async def test_output_has_no_control_sequences(bench: Bench) -> None:
    outcome = await run(bench, PYTHON, "-c", r"print('a\x1b[31mred\x1b[0m\x1b]0;title\x07b\x9b2Jc\x00\tok\r\nnext')")
    assert outcome.text == "aredbc\tok\nnext\n[Ended with status 0.]"


@pytest.mark.threat("T14")
async def test_a_folder_is_one_of_the_workspace(bench: Bench, tmp_path: Path) -> None:
    (tmp_path / "work" / "src").mkdir()
    (tmp_path / "work" / "link").symlink_to("/")
    argv = [PYTHON, "-c", "import os; print(os.getcwd())"]
    assert (await bench.text("run_command", argv=argv, path="src")).startswith(f"{tmp_path}/work/src\n")
    for path in ("..", "/", "link", "link/etc", "nothing"):
        await bench.refusal("run_command", argv=argv, path=path)
    assert len(bench.answers.requests) == 1


def test_output_keeps_its_beginning_and_its_end() -> None:
    output = Output()
    for number in range(20_000):
        output.add(f"{number}\n".encode())
    assert output.text.startswith("0\n1\n2\n")
    assert output.text.endswith("19998\n19999\n")
    assert len(output.text) < MAX_HEAD + MAX_TAIL + 50
    small = Output()
    small.add("größe".encode()[:3])
    small.add("größe".encode()[3:])
    assert small.text == "größe"


@pytest.mark.threat("T25")
@pytest.mark.parametrize(
    ("raw", "kept"),
    [
        *(("a\x1b[1;31mb", "ab"), ("\x1b]8;;http://x\x1b\\link\x1b]8;;\x1b\\", "link"), ("\x1bPq#0\x1b\\x", "x")),
        *(("a\x1b", "a"), ("\x1b(Bx", "x"), ("10%\r50%\r\n", "10%\n50%\n"), ("tab\tnew\n", "tab\tnew\n")),
        *(("\x1b]0;open", ""), ("\x08\x7f", ""), ("\x9d0;title\x9cx", "x")),
    ],
)
def test_control_sequences_are_taken_out(raw: str, kept: str) -> None:
    assert plain(raw) == kept
