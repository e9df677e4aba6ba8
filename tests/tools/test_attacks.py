"""Path escapes (threat T14): many ways to write a path, all reading tools, and not one byte from outside."""

from __future__ import annotations

import os
import random
from pathlib import Path
from typing import Any

import pytest

from ollm_lsp.core.errors import OllmError, OutsideWorkspace
from ollm_lsp.tools import walk
from ollm_lsp.tools.roots import Place, Roots
from ollm_lsp.tools.slow_search import SlowSearch
from tests.support.workspace import Bench
from tests.tools.attacks import CANARY, UNLISTED, Trap, paths, set_trap

pytestmark = pytest.mark.torture


@pytest.fixture
def trap(tmp_path: Path) -> Trap:
    return set_trap(tmp_path)


def calls(path: str) -> list[tuple[str, dict[str, Any]]]:
    """Every tool that takes a path, in every argument that it could take it for."""
    return [
        ("read_file", {"path": path}),
        ("read_file", {"path": path, "from_line": 1, "to_line": 5}),
        ("list_directory", {"path": path}),
        ("find_files", {"pattern": "*", "path": path}),
        ("find_files", {"pattern": path}),
        ("search_text", {"query": "not for you", "path": path}),
    ]


async def seen_from(bench: Bench, made: list[tuple[str, dict[str, Any]]]) -> list[str]:
    """The calls whose results hold something from outside."""
    results = [(call, (await bench.call(call[0], **call[1])).text) for call in made]
    return [f"{call}: {text}" for call, text in results if CANARY in text or UNLISTED in text]


@pytest.mark.threat("T14")
@pytest.mark.parametrize("has_openat", [True, False], ids=["by openat", "by whole paths"])
async def test_no_way_to_write_a_path_leads_any_reading_tool_outside(
    trap: Trap, monkeypatch: pytest.MonkeyPatch, has_openat: bool
) -> None:
    monkeypatch.setattr(walk, "HAS_OPENAT", has_openat and walk.HAS_OPENAT)
    # Each path by some of the calls, in turn: all of them are twenty seconds of the same.
    every = 2 if has_openat else 3
    made = [call for number, path in enumerate(paths(trap)) for call in calls(path)[number % every :: every]]
    assert len(made) >= 2_000
    assert await seen_from(Bench(trap.work), made) == []


async def test_the_corpus_catches_a_walk_that_follows_links(trap: Trap, monkeypatch: pytest.MonkeyPatch) -> None:
    """The broken variant: what is read is what the path leads to."""

    def trusting(place: Place, limit: int) -> bytes:
        return place.path.read_bytes()[:limit] if place.path.is_file() else b""

    monkeypatch.setattr(walk, "read", trusting)
    made = [("read_file", {"path": path}) for path in paths(trap) if "\0" not in path and "link_self" not in path]
    assert len(await seen_from(Bench(trap.work), made)) > 50


async def test_the_corpus_catches_rules_that_only_compare_prefixes(trap: Trap, monkeypatch: pytest.MonkeyPatch) -> None:
    """The broken variant: a path is inside when it begins with the folder, and links are left to the walk."""

    def believing(roots: Roots, written: str) -> Place:
        path = os.path.normpath(trap.work / written)
        if not path.startswith(str(trap.work)):
            raise OutsideWorkspace("outside", remedy="")
        return Place(Path("/"), Path(path).parts[1:])

    monkeypatch.setattr(Roots, "place", believing)
    made = [("read_file", {"path": path}) for path in paths(trap)]
    seen = await seen_from(Bench(trap.work), made)
    assert seen
    assert all("work-sibling" in call for call in seen)


@pytest.mark.threat("T14")
async def test_searching_and_finding_everywhere_sees_nothing_through_links(trap: Trap) -> None:
    for engine in (None, SlowSearch({})):
        bench = Bench(trap.work, engine=engine)
        assert await bench.text("search_text", query=CANARY) == "Nothing was found."
        assert "src/main.py:1: print('inside')" in await bench.text("search_text", query="inside")
    assert UNLISTED not in await Bench(trap.work).text("find_files", pattern="*")


@pytest.mark.threat("T14")
def test_thousands_of_generated_paths_stay_inside(trap: Trap) -> None:
    pieces = [
        "..",
        ".",
        "",
        "a",
        "b",
        "src/main.py",
        "a/b/c.txt",
        "src",
        "link_folder",
        "link_root",
        "outside",
        "work",
        "hard.txt",
        "plain.txt",
    ]
    pieces += ["%2e%2e", "..\\", "C:", "~", "\u2024\u2024", "main.py", str(trap.outside), str(trap.work), "file://"]
    chance = random.Random(14)
    roots = Bench(trap.work).workspace.roots
    read = 0
    for _ in range(10_000):
        written = "/".join(chance.choices(pieces, k=chance.randint(1, 5)))
        try:
            place = roots.place(written)
            assert place.path == trap.work or trap.work in place.path.parents
            assert ".." not in place.path.parts
            assert CANARY.encode() not in walk.read(place, 1_000)
            read += 1
        except OllmError:
            pass
    assert read > 100
