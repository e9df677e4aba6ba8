"""Races (threat T14): somebody swaps folders and files for links all the time, and nothing from outside is read."""

from __future__ import annotations

import os
from collections import Counter
from contextlib import contextmanager
from pathlib import Path
from threading import Event, Thread
from typing import TYPE_CHECKING

import pytest

from ollm_lsp.core.errors import OllmError, OutsideWorkspace
from ollm_lsp.tools import walk
from ollm_lsp.tools.roots import Place, Roots
from tests.support.scale import IS_LARGE, scaled
from tests.support.workspace import Bench
from tests.tools.attacks import CANARY, UNLISTED

if TYPE_CHECKING:
    from collections.abc import Callable, Generator

pytestmark = pytest.mark.large
ATTEMPTS = scaled(25_000)


@pytest.fixture
def place(tmp_path: Path) -> Place:
    """A file in a folder inside, and beside each of them a link that leads to its like outside."""
    work, outside = tmp_path / "work", tmp_path / "outside"
    for top in (work / "swapped", outside):
        top.mkdir(parents=True)
    (work / "swapped" / "file.txt").write_text("inside\n")
    for name in ("file.txt", "linked.txt", UNLISTED):
        (outside / name).write_text(f"{CANARY}\n")
    (work / "link").symlink_to(outside)
    (work / "swapped" / "link").symlink_to(outside / "file.txt")
    os.link(outside / "linked.txt", work / "swapped" / "hard")  # and no other: one name is what the rest is known by
    return Roots([work]).place("swapped/file.txt")


@contextmanager
def swapping(one: Path, other: Path) -> Generator[None]:
    """Let two things take each other's place, again and again."""
    stop = Event()
    aside = one.with_name("aside")

    def swap() -> None:
        while not stop.is_set():
            for first, second in ((one, aside), (other, one), (aside, other)):
                first.rename(second)

    thread = Thread(target=swap)
    thread.start()
    try:
        yield
    finally:
        stop.set()
        thread.join()


def raced(attempt: Callable[[], bytes], until: Callable[[Counter[str]], bool]) -> Counter[str]:
    """How often a read brought what is inside, what is outside, or nothing."""
    outcomes: Counter[str] = Counter()
    while not until(outcomes):
        try:
            data = attempt()
        except OutsideWorkspace:
            outcomes["refused"] += 1
        except (OllmError, OSError):
            outcomes["missing"] += 1
        else:
            outcomes["outside" if CANARY.encode() in data else "inside"] += 1
    return outcomes


def enough(outcomes: Counter[str]) -> bool:
    """So many attempts, and among them some that met the link and some that did not: else nothing was raced."""
    return outcomes.total() >= ATTEMPTS and outcomes["inside"] > 100 and outcomes["refused"] > 100


@pytest.mark.threat("T11", "T14")
@pytest.mark.parametrize("swapped", ["folder", "file", "hard link"])
def test_a_raced_walk_never_reads_outside(place: Place, swapped: str) -> None:
    pairs = {
        "folder": (place.parent.path, place.folder / "link"),
        "file": (place.path, place.parent.path / "link"),
        "hard link": (place.path, place.parent.path / "hard"),
    }
    with swapping(*pairs[swapped]):
        outcomes = raced(lambda: walk.read(place, 100), enough)
    assert outcomes["outside"] == 0


@pytest.mark.threat("T11", "T14")
def test_a_raced_scan_never_lists_outside(place: Place) -> None:
    def listed() -> bytes:
        names = [entry.name for entry in walk.scan(place.parent, 100)]
        return CANARY.encode() if UNLISTED in names else b""

    with swapping(place.parent.path, place.folder / "link"):
        outcomes = raced(listed, enough)
    assert outcomes["outside"] == 0


def test_the_race_is_real(place: Place) -> None:
    """The broken variant: what was checked and what is opened are two things, and it does not take long to see it."""

    def checked_then_opened() -> bytes:
        real = os.path.realpath(place.path)
        if not real.startswith(f"{place.folder}{os.sep}"):
            raise OutsideWorkspace("outside", remedy="")
        return Path(real).read_bytes()

    with swapping(place.parent.path, place.folder / "link"):
        outcomes = raced(checked_then_opened, lambda outcomes: outcomes["outside"] > 0)
    assert outcomes["outside"] > 0


@pytest.mark.threat("T11", "T14")
async def test_a_raced_search_shows_nothing_from_outside(place: Place) -> None:
    """ripgrep opens by whole paths and may well be led outside: what it finds is read again by the walk."""
    bench = Bench(place.folder)
    with swapping(place.parent.path, place.folder / "link"):
        for _ in range(30 if IS_LARGE else 8):
            assert CANARY not in await bench.text("search_text", query=CANARY)
            assert CANARY not in (await bench.call("search_text", query=CANARY, path="swapped")).text
            assert UNLISTED not in (await bench.call("find_files", pattern="*")).text
