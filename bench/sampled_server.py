"""`python sampled_server.py FILE`: our server, which notes every few milliseconds of its CPU time what it is at.

What a call of a C function takes counts for the Python function that called it. Unlike a profiler that watches every
call, this does not make short functions look expensive.
"""

import json
import signal
import sys
from collections import Counter
from pathlib import Path
from types import FrameType

from ollm_lsp.cli import main

INTERVAL = 0.001
counts: Counter[str] = Counter()


def note(_number: int, frame: FrameType | None) -> None:
    if frame is not None:
        counts[f"{frame.f_code.co_filename}:{frame.f_code.co_qualname}"] += 1


if __name__ == "__main__":
    signal.signal(signal.SIGPROF, note)
    signal.setitimer(signal.ITIMER_PROF, INTERVAL, INTERVAL)
    try:
        status = main([])
    finally:
        signal.setitimer(signal.ITIMER_PROF, 0)
        Path(sys.argv[1]).write_text(json.dumps(counts))
    sys.exit(status)
