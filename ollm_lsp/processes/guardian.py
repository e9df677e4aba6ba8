"""The guardian of a family: it waits until its input ends, which it also does when the server is killed, and ends it.

It is started by its path, for every child and nearly always for nothing. So it loads what it needs only when the time
has come: that costs a third of the start.
"""

from __future__ import annotations

import os
import sys


def wait() -> bytes:
    """What the input has told when it ends: the group of the family, if it had begun."""
    told = b""
    while piece := os.read(0, 1024):
        told += piece
    return told


if __name__ == "__main__":
    group = wait()
    import runpy

    runpy.run_path(os.path.join(os.path.dirname(__file__), "family.py"))["guard"](sys.argv[1], group)  # noqa: PTH118, PTH120 (pathlib is loaded there)
