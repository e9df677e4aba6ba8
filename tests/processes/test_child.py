"""Child processes, where no tool and no agent is needed to try them."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from ollm_lsp.processes import child
from ollm_lsp.processes.environment import fresh

if TYPE_CHECKING:
    import asyncio


async def test_a_child_reads_all_it_is_fed_and_is_heard_out() -> None:
    copy = "import sys; sys.stdout.buffer.write(sys.stdin.buffer.read())"
    argv = [sys.executable, "-IS", "-c", copy]
    async with child.started(argv, cwd=Path("/"), env={}, feed=b"x" * 3_000_000, wide=True) as process:
        assert process.stdout
        assert len(await process.stdout.read()) == 3_000_000
        assert await child.exited(process) == 0


@pytest.mark.prop("krk-45")
async def test_windows_ends_a_tree_by_its_own_program(monkeypatch: pytest.MonkeyPatch) -> None:
    run: list[Any] = []
    monkeypatch.setenv("SYSTEMROOT", "/windows")
    monkeypatch.setattr(child.subprocess, "run", lambda argv, **_: run.append(argv))  # pyright: ignore[reportUnknownLambdaType, reportUnknownArgumentType] (a stand-in)
    await child.end_tree(4711)
    assert run == [[Path("/windows/System32/taskkill.exe"), "/T", "/F", "/PID", "4711"]]


@pytest.mark.threat("T17")
def test_an_environment_holds_what_is_listed_and_what_is_named() -> None:
    source = {"HOME": "/h", "LC_ALL": "C", "Path": "x", "SECRET": "s", "OWN": "o", "LD_PRELOAD": "evil"}
    assert fresh(source, ["/a", "/b"], ["OWN"]) == {
        "HOME": "/h",
        "LC_ALL": "C",
        "OWN": "o",
        "PATH": "/a:/b",
        "TERM": "dumb",
        "NO_COLOR": "1",
    }


@pytest.mark.threat("F42")
async def test_a_block_that_fails_ends_its_child() -> None:
    async def fail() -> None:
        async with child.started(["/bin/sleep", "3600"], cwd=Path("/"), env={}) as process:
            started.append(process)
            raise KeyError

    started: list[asyncio.subprocess.Process] = []
    with pytest.raises(KeyError):
        await fail()
    assert started[0].returncode is not None
