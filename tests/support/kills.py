"""How often tests kill a process: a few times, or as often as OLLM_KILLS says, which `make torture` does."""

from __future__ import annotations

import os
import random
import time

KILLS = int(os.environ.get("OLLM_KILLS", "5"))


def moments(seed: int) -> random.Random:
    """Where a test draws its moments from: the same ones each time, unless OLLM_KILL_SEED asks for others."""
    return random.Random(f"{seed}{os.environ.get('OLLM_KILL_SEED', '')}")


def pause(chance: random.Random) -> None:
    """Let the victim go on for up to a few milliseconds, so that it is hit in the middle of something."""
    time.sleep(chance.random() * 0.004)
