"""Processes that pay for calls until they are killed: `python -m tests.store.payer FOLDER`.

For each line `NAME STEPS` on its input it forks one payer, and tells its process id. A payer writes a line to a file of
its name for each step, and kills itself after so many of them, or never when that is 0. Forking is much cheaper than
starting Python anew.
"""

from __future__ import annotations

import asyncio
import os
import signal
import sys
from pathlib import Path
from typing import NoReturn

from ollm_lsp.core.budget import Limits
from ollm_lsp.core.errors import BudgetExceeded
from ollm_lsp.core.ledger import Call, CallKind
from ollm_lsp.core.usage import Cost, Usage
from ollm_lsp.store.ledger import SqliteLedger

MOST = 1_000
BUDGET = 20_500


def cost_of(name: str) -> int:
    """What a call really takes, which everybody can tell from its name."""
    return sum(name.encode()) % MOST


async def pay(folder: Path, name: str, steps: int) -> NoReturn:
    output = os.open(folder / f"{name}.log", os.O_CREAT | os.O_WRONLY | os.O_APPEND)
    done = 0

    def told(line: str) -> None:
        nonlocal done
        os.write(output, f"{line}\n".encode())
        done += 1
        if done == steps:
            os.kill(os.getpid(), signal.SIGKILL)

    ledger = SqliteLedger(folder / "ledger.db", busy_timeout=60)
    number = 0
    while True:
        call = f"{name}-{number}"
        number += 1
        told(f"begin {call}")
        try:
            reserved = await ledger.reserve(Call(CallKind.API, "p", "m", call), Cost(MOST), Limits(None, None, BUDGET))
        except BudgetExceeded:
            told(f"refused {call}")
            await asyncio.sleep(0.001)
            continue
        told(f"reserved {call}")
        await ledger.settle(reserved, Usage(1, 1), Cost(cost_of(call)))
        told(f"settled {call}")


def main() -> None:
    folder = Path(sys.argv[1])
    for line in sys.stdin:
        name, steps = line.split()
        if pid := os.fork():
            os.write(1, f"{pid}\n".encode())
            os.waitpid(pid, 0)
            os.write(1, b"dead\n")
        else:
            asyncio.run(pay(folder, name, int(steps)))


if __name__ == "__main__":
    main()
