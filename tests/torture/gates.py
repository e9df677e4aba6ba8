"""Parts of the torture that are tests: run by pytest, in a size that the environment gives."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING

from tests.torture.run import Tally

if TYPE_CHECKING:
    from collections.abc import Mapping

    from tests.torture.run import Run

ROOT = Path(__file__).parents[2]
KILLED = {
    "store": "tests/store/test_kill.py",
    "ledger": "tests/store/test_ledger_kill.py",
    "server": "tests/e2e/test_kill.py",
}
PAYERS = 6
"""How many payers die for each kill that is asked for."""


def pytest(*arguments: str, cwd: Path = ROOT, environ: Mapping[str, str] | None = None) -> tuple[int, str]:
    """The exit status of pytest, and what it printed."""
    command = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", *arguments]
    done = subprocess.run(
        command,
        cwd=cwd,
        env={**os.environ, "COLUMNS": "300", **(environ or {})},  # or the reason of a failure is cut off
        capture_output=True,
        text=True,
        check=False,
    )
    return done.returncode, done.stdout + done.stderr


def _counted(tally: Tally, output: str, status: int) -> Tally:
    for number, word in re.findall(r"(\d+) (passed|failed|skipped|error)", output.splitlines()[-1] if output else ""):
        tally.count(word, int(number))
    tally.failures += [line for line in output.splitlines() if line.startswith(("FAILED", "ERROR"))]
    if status and not tally.failures:
        tally.fail(f"pytest ended with {status}: {output[-500:]}")
    return tally


def marked(run: Run) -> Tally:
    """Every test that is too slow for `make test`, among them those that provoke faults; and the large ones in full."""
    is_large = run.size.name == "large"
    marks, environ = ("torture or large", {"OLLM_LARGE": "1"}) if is_large else ("torture", dict[str, str]())
    others = [f"--ignore={path}" for path in KILLED.values()]  # a part of their own
    status, output = pytest("-n", "2", "--timeout", "1800", "-m", marks, *others, environ=environ)
    return _counted(Tally("faults and slow tests"), output, status)


def kills(run: Run) -> Tally:
    """kill -9 of the writers of the store, of the payers of the ledger, and of the server."""
    tally = Tally("kills")
    kills = {"store": run.size.store_kills, "ledger": run.size.ledger_kills, "server": run.size.server_kills}
    for name, path in KILLED.items():
        number = -(-kills[name] // PAYERS) if name == "ledger" else kills[name]
        environ = {"OLLM_KILLS": str(number), "OLLM_KILL_SEED": str(run.seed)}
        status, output = pytest("--timeout", "3600", path, environ=environ)
        _counted(tally, output, status)
        tally.count(f"kills of the {name}", number * (PAYERS if name == "ledger" else 1))
    return tally
