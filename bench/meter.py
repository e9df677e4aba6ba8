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


def family_cpu_seconds(pid: int) -> float:
    """The same of a process and of all that it started, the ended ones too."""
    process = psutil.Process(pid)
    times = [one.cpu_times() for one in (process, *process.children(recursive=True))]
    ended = sum(time.children_user + time.children_system for time in times)
    return ended + sum(cpu_seconds(one.pid) for one in (process, *process.children(recursive=True)))


def memory_megabytes(pid: int) -> float:
    """The resident memory of a process."""
    return psutil.Process(pid).memory_info().rss / 1e6


def family_memory_megabytes(pid: int) -> float:
    """The same of a process and of all that it started."""
    return memory_megabytes(pid) + sum(
        child.memory_info().rss / 1e6 for child in psutil.Process(pid).children(recursive=True)
    )


async def settle(pid: int, quiet: float = 0.2) -> None:
    """Wait until a process has nothing to do."""
    before = -1.0
    while (now := cpu_seconds(pid)) - before > 0.001:
        before = now
        await asyncio.sleep(quiet)
