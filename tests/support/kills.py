"""How often tests kill a process: a few times, or as often as OLLM_KILLS says. `make test-kill` kills 200 times."""

from __future__ import annotations

import os
import random
import time

KILLS = int(os.environ.get("OLLM_KILLS", "8"))


def moments(seed: int) -> random.Random:
    """Where a test draws its moments from: the same ones each time, unless OLLM_KILLS asks for a search."""
    return random.Random(None if "OLLM_KILLS" in os.environ else seed)


def pause(chance: random.Random) -> None:
    """Let the victim go on for up to a few milliseconds, so that it is hit in the middle of something."""
    time.sleep(chance.random() * 0.004)
