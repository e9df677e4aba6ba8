"""What a process has used."""

import asyncio
import sys
import time

import psutil


def cpu_seconds(pid: int) -> float:
    """User and system time of all threads of a process, the ended ones too."""
    if sys.platform == "linux":
        # The clock id that clock_getcpuclockid(3) makes; /proc/PID/stat counts in steps of 10 ms, and
        # /proc/PID/schedstat knows the first thread only.
        return time.clock_gettime((~pid << 3) | 2)
    times = psutil.Process(pid).cpu_times()
    return times.user + times.system


def memory_megabytes(pid: int) -> float:
    """Memory of a process, with its share of what it shares with others."""
    memory = psutil.Process(pid).memory_full_info()
    return getattr(memory, "pss", memory.uss) / 1e6


async def settle(pid: int, quiet: float = 0.2) -> None:
    """Wait until a process has nothing to do."""
    before = -1.0
    while (now := cpu_seconds(pid)) - before > 0.001:
        before = now
        await asyncio.sleep(quiet)
