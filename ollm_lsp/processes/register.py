"""The register of running children: what a server that was killed together with its guardians left, the next one ends.

A server has a folder in the state directory, named by itself, and in it a file for each child while that lives, named
by the child's mark. Numbers of processes are used again, so that a process is known by its number and by the moment it
began. Only Linux tells that moment without another program: elsewhere nothing is written and nothing swept.
"""

from __future__ import annotations

import asyncio
import os
import re
import signal
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from ollm_lsp.processes import family
from ollm_lsp.processes.family import FORCED, POLITE, UNKNOWN

_PROCESSES = Path("/proc")
_BOOT = _PROCESSES / "sys" / "kernel" / "random" / "boot_id"
_MARK = re.compile(r"[0-9a-f]{32}")
_IDENTITY = re.compile(r"([1-9][0-9]{0,9})-[0-9]+-[0-9a-f-]+")
_BEGAN = 19
"""The place of the time of birth in a line of `stat`, counted from behind the name."""
_PAUSE = 0.05


def identity(pid: int) -> str | None:
    """A process as no other one is called: its number, its birth, and the boot. Nothing for one that does not live."""
    try:
        fields = (_PROCESSES / str(pid) / "stat").read_bytes().rpartition(b")")[2].split()
        if fields[0] in (b"Z", b"X"):
            return None
        return f"{pid}-{fields[_BEGAN].decode()}-{_BOOT.read_text(encoding='ascii').strip()}"
    except (OSError, IndexError):
        return None


def _living(text: str) -> int | None:
    """The number of the process that is called so, if it lives."""
    known = _IDENTITY.fullmatch(text)
    return int(known[1]) if known and identity(int(known[1])) == text else None


@dataclass(frozen=True)
class _Orphan:
    """A child whose server is dead."""

    path: Path

    @property
    def group(self) -> int:
        """Its group, unless nobody has told of it, or its number may be somebody else's by now."""
        try:
            return _living(self.path.read_text(encoding="ascii")) or UNKNOWN
        except (OSError, UnicodeDecodeError):
            return UNKNOWN

    @property
    def is_left(self) -> bool:
        return family.is_left(self.group, self.path.name)

    def send(self, number: signal.Signals) -> None:
        family.send(self.group, self.path.name, number)


class Register:
    """The folders of one state directory; a register without a place keeps nothing."""

    def __init__(self, place: Path | None = None) -> None:
        self.place = place

    def expect(self, mark: str) -> None:
        """A child is about to begin. A directory that cannot be written costs only this."""
        self._write(mark, "")

    def tell(self, mark: str, pid: int) -> None:
        """It has begun, in a group of its own."""
        self._write(mark, identity(pid) or "")

    def strike(self, mark: str) -> None:
        """It has ended, with all that it started."""
        if folder := self._own():
            with suppress(OSError):
                (folder / mark).unlink(missing_ok=True)
            with suppress(OSError):
                folder.rmdir()  # of others there may still be files

    async def sweep(self) -> int:
        """End what dead servers left: politely, then not. How many families that were."""
        folders = await asyncio.to_thread(self._dead)
        orphans = await asyncio.to_thread(_orphans, folders)
        left = await asyncio.to_thread(_left, orphans)
        ended = len(left)
        for number, seconds in ((signal.SIGTERM, POLITE), (signal.SIGKILL, FORCED)):
            with suppress(TimeoutError):
                async with asyncio.timeout(seconds):
                    while left:
                        for orphan in left:
                            await asyncio.to_thread(orphan.send, number)
                        await asyncio.sleep(_PAUSE)
                        left = await asyncio.to_thread(_left, left)
        for orphan in orphans:
            if orphan not in left:
                with suppress(OSError):
                    orphan.path.unlink()
        for folder in folders:
            with suppress(OSError):
                folder.rmdir()
        return ended

    def _own(self) -> Path | None:
        name = identity(os.getpid())
        return None if self.place is None or name is None else self.place / name

    def _write(self, mark: str, text: str) -> None:
        if folder := self._own():
            with suppress(OSError):
                folder.mkdir(mode=0o700, parents=True, exist_ok=True)
                (folder / mark).write_text(text, encoding="ascii")

    def _dead(self) -> list[Path]:
        folders = _content(self.place) if self.place else []
        return [folder for folder in folders if _IDENTITY.fullmatch(folder.name) and not _living(folder.name)]


def _content(folder: Path) -> list[Path]:
    """Nothing when another server has swept it meanwhile."""
    try:
        return [*folder.iterdir()]
    except OSError:
        return []


def _orphans(folders: list[Path]) -> list[_Orphan]:
    return [_Orphan(path) for folder in folders for path in _content(folder) if _MARK.fullmatch(path.name)]


def _left(orphans: list[_Orphan]) -> list[_Orphan]:
    return [orphan for orphan in orphans if orphan.is_left]


register = Register()
"""That of this process: the composition root gives it its place."""
