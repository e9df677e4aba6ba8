"""Two processes write into one file, and kill -9 ends them at any moment: what was said to be kept is there."""

from __future__ import annotations

import os
import signal
import sqlite3
import subprocess
import sys
from contextlib import ExitStack, closing
from pathlib import Path

import pytest

from ollm_lsp.core.events import FinishReason
from ollm_lsp.core.usage import Usage
from ollm_lsp.store.response_store import SqliteStore
from tests.store.writer import DELTAS, made
from tests.support.kills import KILLS, moments, pause

pytestmark = pytest.mark.torture

ROOT = Path(__file__).parents[2]


class Nursery:
    """A process whose children are writers, one after the other."""

    def __init__(self, process: subprocess.Popen[str]) -> None:
        assert process.stdin is not None
        assert process.stdout is not None
        self._orders, self._lines = process.stdin, process.stdout
        self._pid = 0

    def begin(self, name: str) -> None:
        self._orders.write(f"{name}\n")
        self._orders.flush()

    def hear(self, number: int) -> list[str]:
        """So many lines of the writer; that of the nursery may come between them."""
        lines: list[str] = []
        while not self._pid or len(lines) < number:
            line = self._lines.readline()
            if line.startswith("pid "):
                self._pid = int(line.split()[1])
            else:
                lines.append(line)
        return lines

    def kill(self) -> list[str]:
        """End the writer; what it had said until then."""
        os.kill(self._pid, signal.SIGKILL)
        self._pid = 0
        return [*iter(self._lines.readline, "dead\n")]


def start(folder: Path) -> subprocess.Popen[str]:
    command = [sys.executable, "-m", "tests.store.writer", str(folder)]
    return subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, cwd=ROOT)


def kept_of(lines: list[str]) -> set[str]:
    """The ids in whole lines."""
    return {line.split()[1] for line in lines if line.startswith("kept ") and line.endswith("\n")}


@pytest.mark.threat("F44")
@pytest.mark.skipif(sys.platform == "win32", reason="Windows has neither fork nor kill -9")
@pytest.mark.prop("eng-3")
@pytest.mark.timeout(1800)
async def test_whatever_was_kept_is_there_after_any_kill(tmp_path: Path) -> None:
    chance, kept = moments(1), set[str]()
    with ExitStack() as stack:
        processes = [stack.enter_context(start(tmp_path)) for _ in range(2)]
        nurseries = [Nursery(process) for process in processes]
        for number in range(max(1, KILLS // 2)):
            for name, nursery in zip("ab", nurseries, strict=True):
                nursery.begin(f"{name}{number}")
            for nursery in nurseries:
                lines = nursery.hear(chance.randint(0, 12))
                pause(chance)
                kept |= kept_of([*lines, *nursery.kill()])
        for process in processes:
            process.communicate()
    with closing(sqlite3.connect(tmp_path / "conversations.db")) as file:
        assert file.execute("PRAGMA integrity_check").fetchall() == [("ok",)]
        assert file.execute("PRAGMA foreign_key_check").fetchall() == []
    store = SqliteStore(tmp_path / "conversations.db")
    try:
        record = await store.load("c")
        (summary,) = await store.list()
    finally:
        await store.close()
    assert record is not None
    found = {step.response.id: step.response for step in record.responses}
    assert len(found) == len(record.responses) == summary.responses
    assert kept
    assert kept <= set(found)
    finished = [response for response in found.values() if response.finish_reason is FinishReason.STOP]
    assert kept <= {response.id for response in finished}
    for response in found.values():
        whole = made(response.id)
        assert response.input == whole.input
        if response in finished:
            assert response == whole
        else:
            assert response.finish_reason is FinishReason.ERROR
            assert response.text in {"", "I look.", f"I look.{''.join(DELTAS)}"}
            assert response.usage == Usage()
    assert summary.cost.micros == 7 * len(finished)
