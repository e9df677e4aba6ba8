"""Two processes write into one file, and kill -9 ends them at any moment: what was said to be kept is there."""

from __future__ import annotations

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


def start(folder: Path, name: str) -> subprocess.Popen[str]:
    command = [sys.executable, "-m", "tests.store.writer", str(folder), name]
    return subprocess.Popen(command, stdout=subprocess.PIPE, text=True, cwd=ROOT)


def kept_of(lines: list[str]) -> set[str]:
    """The ids in whole lines."""
    return {line.split()[1] for line in lines if line.startswith("kept") and line.endswith("\n")}


@pytest.mark.threat("F44")
@pytest.mark.prop("eng-3")
@pytest.mark.timeout(1800)
async def test_whatever_was_kept_is_there_after_any_kill(tmp_path: Path) -> None:
    chance, kept = moments(1), set[str]()
    for number in range(max(1, KILLS // 2)):
        with ExitStack() as stack:
            writers = [stack.enter_context(start(tmp_path, f"{name}{number}")) for name in "ab"]
            for writer in writers:
                assert writer.stdout is not None
                lines = [writer.stdout.readline() for _ in range(chance.randint(0, 12))]
                pause(chance)
                writer.kill()
                kept |= kept_of([*lines, *writer.stdout])
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
