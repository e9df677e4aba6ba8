"""Payers are killed by kill -9 at every step and at any moment: the sums add up, and no limit was broken."""

from __future__ import annotations

import os
import signal
import sqlite3
import subprocess
import sys
from contextlib import ExitStack, closing
from pathlib import Path

import pytest

from ollm_lsp.core.usage import Cost
from ollm_lsp.store.ledger import SqliteLedger
from tests.store.payer import BUDGET, MOST, cost_of
from tests.support.kills import KILLS, moments, pause

pytestmark = pytest.mark.torture

ROOT = Path(__file__).parents[2]
STEPS = 7


def start(folder: Path) -> subprocess.Popen[str]:
    command = [sys.executable, "-m", "tests.store.payer", str(folder)]
    return subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, cwd=ROOT)


def send(nursery: subprocess.Popen[str], line: str) -> str:
    assert nursery.stdin is not None
    assert nursery.stdout is not None
    nursery.stdin.write(line)
    nursery.stdin.flush()
    return nursery.stdout.readline()


def wait_for_death(nursery: subprocess.Popen[str]) -> None:
    assert nursery.stdout is not None
    assert nursery.stdout.readline() == "dead\n"


def lines_of(log: Path) -> list[str]:
    return log.read_text().splitlines() if log.exists() else []


@pytest.mark.threat("F44")
@pytest.mark.skipif(sys.platform == "win32", reason="Windows has neither fork nor kill -9")
@pytest.mark.prop("krk-27")
@pytest.mark.timeout(1800)
async def test_after_any_kill_the_reserved_money_is_accounted_for_and_the_sums_add_up(tmp_path: Path) -> None:
    chance = moments(7)
    with ExitStack() as stack:
        nurseries = [stack.enter_context(start(tmp_path)) for _ in range(2)]
        for number in range(3 * KILLS):
            # One of the two dies by itself after a certain step, the other at any moment.
            send(nurseries[0], f"a{number} {number % STEPS + 1}\n")
            victim = int(send(nurseries[1], f"b{number} 0\n"))
            wanted, log = chance.randint(0, 12), tmp_path / f"b{number}.log"
            while wanted and len(lines_of(log)) < wanted:
                pause(chance)
            pause(chance)
            os.kill(victim, signal.SIGKILL)
            for nursery in nurseries:
                wait_for_death(nursery)
        for nursery in nurseries:
            assert nursery.stdin is not None
            nursery.stdin.close()

    told: dict[str, str] = {}
    for log in sorted(tmp_path.glob("*.log")):  # noqa: ASYNC240 (nobody else waits)
        for line in lines_of(log):
            word, call = line.split()
            told[call] = word
    assert {"begin", "reserved", "settled", "refused"} <= set(told.values())

    ledger = SqliteLedger(tmp_path / "ledger.db")
    lines = {line.call.conversation_id: line for line in await ledger.history(1_000_000)}
    account = await ledger.account()
    await ledger.close()
    for call, word in told.items():
        line = lines.get(call)
        if word == "refused":
            assert line is None
        elif word != "begin" or line is not None:  # who died before the answer may have reserved or not
            assert line is not None
            assert line.is_settled or word != "settled"
            assert line.cost == Cost(cost_of(call) if line.is_settled else MOST)
    assert set(lines) <= set(told)
    assert account.day.gone == sum(line.cost.micros for line in lines.values()) <= BUDGET
    with closing(sqlite3.connect(tmp_path / "ledger.db")) as connection:
        assert connection.execute("PRAGMA integrity_check").fetchall() == [("ok",)]
