"""search_text: both engines find the same, buffers count instead of their files, and no search is without end."""

from __future__ import annotations

import asyncio
import os
import shutil
import sys
from pathlib import Path
from typing import TYPE_CHECKING

import psutil
import pytest

from ollm_lsp.tools import hits, programs, search_text
from ollm_lsp.tools.ripgrep import Ripgrep
from ollm_lsp.tools.roots import Roots
from ollm_lsp.tools.search import Found
from ollm_lsp.tools.search_text import SearchText, chosen_engine
from ollm_lsp.tools.slow_search import SlowSearch
from tests.support.quiet_run import QuietRun
from tests.support.workspace import Bench

if TYPE_CHECKING:
    from collections.abc import AsyncGenerator, Sequence

    from ollm_lsp.tools.roots import Place
    from ollm_lsp.tools.search import Engine, Query

RG = shutil.which("rg", path=str(Path(sys.executable).parent)) or shutil.which("rg")
ENGINES = [
    pytest.param("rg", marks=pytest.mark.skipif(RG is None, reason="ripgrep is not installed")),
    "slow",
]


@pytest.fixture(params=ENGINES)
def engine(request: pytest.FixtureRequest) -> Engine:
    return Ripgrep(Path(RG or ""), {}) if request.param == "rg" else SlowSearch({})


@pytest.fixture
def bench(tmp_path: Path, engine: Engine) -> Bench:
    return Bench(tmp_path, engine=engine)


def plant(top: Path, texts: dict[str, str | bytes]) -> None:
    for name, text in texts.items():
        (top / name).parent.mkdir(parents=True, exist_ok=True)
        (top / name).write_bytes(text.encode() if isinstance(text, str) else text)


async def found(bench: Bench, query: str, /, **options: object) -> list[str]:
    """The hits without the last line, which counts them."""
    text = await bench.text("search_text", query=query, **options)
    return [] if text == "Nothing was found." else text.split("\n")[:-1]


async def test_lines_are_found_with_their_places(bench: Bench, tmp_path: Path) -> None:
    plant(tmp_path, {"a.py": "one\n  a needle \nneedles\n", "src/b.py": "\r\nneedle\r\n", "c.py": "nothing"})
    assert await bench.text("search_text", query="needle") == (
        "a.py:2: a needle\na.py:3: needles\nsrc/b.py:2: needle\n[3 hits in 2 files.]"
    )
    assert await bench.text("search_text", query="absent") == "Nothing was found."


@pytest.mark.parametrize(
    ("query", "options", "names"),
    [
        ("a.c", {}, ["dot"]),
        ("a.c", {"regex": True}, ["abc", "dot"]),
        ("A.C", {"ignore_case": True}, ["dot"]),
        ("^a.c$", {"regex": True}, ["abc", "dot"]),
        (r"\bb\w+\b", {"regex": True}, ["word"]),
        ("-e", {}, ["option"]),
        ("--files", {}, ["option"]),
        ("(", {}, ["paren"]),
        ("é", {}, ["accent"]),
        ("É", {"ignore_case": True}, ["accent"]),
        ("$HOME `id`", {}, ["shell"]),
    ],
)
async def test_both_engines_find_the_same(
    bench: Bench, tmp_path: Path, query: str, options: dict[str, bool], names: list[str]
) -> None:
    plant(
        tmp_path, {"abc": "abc\n", "dot": "a.c\n", "word": "the bird\n", "option": "rg -e --files\n", "paren": "f(\n"}
    )
    plant(tmp_path, {"accent": "café\n", "shell": "$HOME `id`\n"})
    in_files = [hit.partition(":")[0] for hit in await found(bench, query, **options)]
    assert in_files == names
    for name in ("abc", "dot", "word", "option", "paren", "accent", "shell"):
        bench.open.open(f"file://{tmp_path}/{name}", (tmp_path / name).read_text())
        (tmp_path / name).unlink()
    in_buffers = [hit.partition(":")[0] for hit in await found(bench, query, **options)]
    assert in_buffers == names


@pytest.mark.threat("F21")
@pytest.mark.prop("lsp-2")
async def test_an_open_file_is_searched_in_its_buffer_only(bench: Bench, tmp_path: Path) -> None:
    plant(tmp_path, {"open.py": "needle saved\n", "closed.py": "needle closed\n", "other.py": "nothing\n"})
    bench.open.open(f"file://{tmp_path}/open.py", "first\rsecond\nneedle unsaved")
    bench.open.open(f"file://{tmp_path}/new.py", "\u2028 needle new")
    bench.open.open(f"file://{tmp_path}/other.py", "")
    bench.open.open("untitled:1", "needle elsewhere")
    assert await found(bench, "needle") == [
        "closed.py:1: needle closed",
        "new.py:1: needle new",
        "open.py:3: needle unsaved",
    ]
    assert await found(bench, "saved\n".strip(), path="closed.py") == []
    assert await found(bench, "needle", path="open.py") == ["open.py:3: needle unsaved"]
    assert await found(bench, "needle", path="untitled:1") == ["untitled:1:1: needle elsewhere"]


async def test_a_search_is_narrowed_by_path_and_files(bench: Bench, tmp_path: Path) -> None:
    plant(tmp_path, dict.fromkeys(("a.py", "a.md", "src/b.py", "src/c.TS", "src/deep/d.py"), "needle\n"))
    bench.open.open(f"file://{tmp_path}/src/open.md", "needle")
    places = {
        ("", "*.py"): ["a.py", "src/b.py", "src/deep/d.py"],
        ("src", ""): ["src/b.py", "src/c.TS", "src/deep/d.py", "src/open.md"],
        ("src", "/*.py"): ["src/b.py"],
        ("", "src/**/*.{py,ts}"): ["src/b.py", "src/c.TS", "src/deep/d.py"],
        ("src/b.py", ""): ["src/b.py"],
        ("", "deep/"): ["src/deep/d.py"],
    }
    for (path, files), names in places.items():
        options = {**({"path": path} if path else {}), **({"files": files} if files else {})}
        assert [hit.partition(":")[0] for hit in await found(bench, "needle", **options)] == names, (path, files)


async def test_gitignore_is_respected_as_in_find_files(bench: Bench, tmp_path: Path) -> None:
    plant(tmp_path, {".gitignore": "*.log\n/out/\n", "src/.gitignore": "!keep.log\ngen/\n", ".git/config": "needle"})
    plant(tmp_path, dict.fromkeys(("x.log", "out/y", "src/keep.log", "src/x.log", "src/gen/z", ".ci/run"), "needle\n"))
    plant(tmp_path, dict.fromkeys(("src/deep/x.log", "src/deep/y"), "needle\n"))
    (tmp_path / ".ignore").write_text("*\n")
    expected = {None: [".ci/run", "src/deep/y", "src/keep.log"], "src/deep": ["src/deep/y"], "out": ["out/y"]}
    for path, names in expected.items():
        options = {"path": path} if path else {}
        assert [hit.partition(":")[0] for hit in await found(bench, "needle", **options)] == names
        listed = (await bench.text("find_files", pattern="[!.]*", **options)).split("\n")
        assert [name for name in listed if "gitignore" not in name] == [n for n in names if n in listed]


@pytest.mark.threat("T26")
async def test_secrets_are_not_searched(bench: Bench, tmp_path: Path) -> None:
    plant(tmp_path, {".env": "needle=1\n", "a/.ENV.local": "needle=2\n", "keys/x.pem": "needle\n"})
    bench.open.open(f"file://{tmp_path}/.env.production", "needle=3\n")
    bench.open.open("file:///elsewhere/.env", "needle=4\n")
    assert await found(bench, "needle") == []
    assert "secrets" in await bench.refusal("search_text", query="needle", path=".env")
    assert "secrets" in await bench.refusal("search_text", query="needle", path="file:///elsewhere/.env")


@pytest.mark.parametrize("query", ["two\nlines", "\r", "a\0b"])
async def test_a_search_is_for_one_line(bench: Bench, query: str) -> None:
    assert "within one line" in await bench.refusal("search_text", query=query)


async def test_what_is_no_expression_is_said(bench: Bench, tmp_path: Path) -> None:
    plant(tmp_path, {"a": "x"})
    for query in ("(", "[", "*", "a{2,1}"):
        assert "Write another pattern" in await bench.refusal("search_text", query=query, regex=True)
    bench.open.open(f"file://{tmp_path}/b", "x")
    assert "Write another pattern" in await bench.refusal("search_text", query="(", regex=True)


@pytest.mark.threat("T31", "F38")
@pytest.mark.parametrize(
    "query", ["(a+)+$", "(a|a)*b", "(a|aa)+$", "^(([a-z])+.)+[A-Z]([a-z])+$", "(.*a){25}b", "(?:a?){40}a{40}c"]
)
async def test_no_expression_takes_for_ever(tmp_path: Path, engine: Engine, query: str) -> None:
    """Threat F38: it is answered within its limit, and its process is gone."""
    plant(tmp_path, {"a": "a" * 40 + "!\n", "b": "needle\n"})
    tool = SearchText(Bench(tmp_path).workspace, engine, time_limit=1.0)
    text = await tool.run({"query": query, "regex": True}, QuietRun())
    assert "stopped" in text or "found" in text or "hit" in text
    assert not children()


def children() -> list[psutil.Process]:
    return [one for one in psutil.Process().children(recursive=True) if one.status() != psutil.STATUS_ZOMBIE]


class Hanging:
    """An engine that finds one line and then nothing more."""

    async def in_files(self, query: Query, top: Place) -> AsyncGenerator[Found]:  # noqa: ARG002 (part of the contract)
        yield Found(top.below("a"), 1, "needle")
        await asyncio.Event().wait()

    async def in_texts(self, query: Query, texts: Sequence[str]) -> Sequence[tuple[int, int]]:  # noqa: ARG002 (as above)
        return [(0, 1)]


@pytest.mark.threat("T31", "F38")
async def test_a_search_that_takes_too_long_gives_what_it_has(tmp_path: Path) -> None:
    plant(tmp_path, {"a": "needle\n"})
    bench = Bench(tmp_path)
    bench.open.open(f"file://{tmp_path}/open", "needle")
    text = await SearchText(bench.workspace, Hanging(), time_limit=0.5).run({"query": "needle"}, QuietRun())
    assert text.split("\n") == [
        "a:1: needle",
        "open:1: needle",
        "[The search took too long and was stopped. Give a path, or a simpler pattern.]",
    ]


@pytest.mark.threat("F38")
async def test_a_search_that_nobody_waits_for_is_ended(tmp_path: Path) -> None:
    plant(tmp_path, {"a": "a" * 60 + "!\n"})
    tool = SearchText(Bench(tmp_path).workspace, SlowSearch({}), time_limit=60)
    searching = asyncio.create_task(tool.run({"query": "(a+)+$", "regex": True}, QuietRun()))
    while not children():
        await asyncio.sleep(0.01)
    searching.cancel()
    with pytest.raises(asyncio.CancelledError):
        await searching
    assert not children()


@pytest.mark.threat("T31", "F38")
async def test_binary_huge_and_odd_files_do_no_harm(bench: Bench, tmp_path: Path) -> None:
    plant(tmp_path, {"binary": b"needle\n\0\0needle\n", "long.js": "x" * 2_000_000 + "needle" + "y" * 2_000_000 + "\n"})
    plant(tmp_path, {"latin": b"caf\xe9 needle\n", "bom": b"\xef\xbb\xbfneedle\n", "ok": "needle\n"})
    (tmp_path / "huge").write_bytes(b"")
    os.truncate(tmp_path / "huge", 2**34)
    os.mkfifo(tmp_path / "fifo")
    lines = await found(bench, "needle")
    by_name = {line.partition(":")[0]: line for line in lines}
    assert {"ok", "bom", "long.js"} <= set(by_name) <= {"ok", "bom", "long.js", "latin"}
    assert by_name["bom"] == "bom:1: needle"
    assert max(map(len, lines)) < 400
    assert "needle" in by_name["long.js"]


@pytest.mark.threat("T31", "F38")
async def test_many_hits_are_cut(bench: Bench, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    plant(tmp_path, {f"{number:03}": "needle\n" * 150 for number in range(20)})
    text = await bench.text("search_text", query="needle")
    assert text.count("needle") == hits.MAX_HITS
    assert text.endswith(f"[Only {hits.MAX_HITS} hits are shown, and there are more. Give a path, or a longer text.]")


async def test_what_an_engine_says_is_compared_with_the_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A file that has changed since it was searched has no hits, rather than wrong ones."""
    plant(tmp_path, {"a": "needle\n", "b": "needle\n"})
    verified = search_text.verified

    def late(*arguments: object) -> object:
        (tmp_path / "a").write_text("another text\n")
        return verified(*arguments)  # pyright: ignore[reportArgumentType] (handed on as they came)

    monkeypatch.setattr(search_text, "verified", late)
    assert await found(Bench(tmp_path), "needle") == ["b:1: needle"]


@pytest.mark.threat("T5", "T15", "T17", "T18")
@pytest.mark.skipif(RG is None, reason="ripgrep is not installed")
async def test_ripgrep_runs_nothing_that_a_workspace_or_environment_brings(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Threats T17 and T18: a configuration with a preprocessor, and a program of that name in the workspace."""
    work, canary = tmp_path / "work", tmp_path / "canary"
    plant(work, {"a": "needle\n", "rg": f"#!/bin/sh\ntouch {canary}\n", "pre": f"#!/bin/sh\ntouch {canary}\ncat $1\n"})
    (work / "bin").symlink_to(work)
    for name in ("rg", "pre"):
        (work / name).chmod(0o755)
    plant(tmp_path, {"ripgreprc": f"--pre={work}/pre\n", "work/.ripgreprc": f"--pre={work}/pre\n"})
    monkeypatch.setenv("RIPGREP_CONFIG_PATH", str(tmp_path / "ripgreprc"))
    monkeypatch.setenv("PATH", f".::{work}:{work}/bin:{Path(RG or '').parent}")
    monkeypatch.chdir(work)
    bench = Bench(work)
    assert isinstance(await chosen_engine(bench.workspace), Ripgrep)
    assert await found(bench, "needle") == ["a:1: needle"]
    for query in (f"--pre={work}/pre", "--search-zip", "-f/etc/passwd"):
        await bench.call("search_text", query=query)
        await bench.call("search_text", query="needle", files=query)
    assert not canary.exists()


@pytest.mark.threat("T18")
@pytest.mark.skipif(RG is None, reason="ripgrep is not installed")
async def test_ripgrep_reads_no_configuration_even_if_it_is_told_of_one(tmp_path: Path) -> None:
    plant(tmp_path, {"work/a": "needle\n", "ripgreprc": "--invert-match\n"})
    engine = Ripgrep(Path(RG or ""), {"RIPGREP_CONFIG_PATH": str(tmp_path / "ripgreprc")})
    assert await found(Bench(tmp_path / "work", engine=engine), "needle") == ["a:1: needle"]


async def test_without_ripgrep_the_slow_engine_is_chosen(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    assert isinstance(await chosen_engine(Bench(tmp_path / "work").workspace), SlowSearch)


@pytest.mark.threat("T5")
def test_a_program_is_never_taken_from_the_workspace(tmp_path: Path) -> None:
    work, outside = tmp_path / "work", tmp_path / "bin"
    plant(work, {"bin/tool": "", "tool": ""})
    plant(outside, {"tool": ""})
    (outside / "linked").symlink_to(work / "tool")
    for program in (work / "bin" / "tool", work / "tool", outside / "tool"):
        program.chmod(0o755)
    roots = Roots([work])
    path = {"PATH": f".:bin:{work}:{work}/bin:{tmp_path}/work/../work/bin:{outside}"}
    assert programs.found("tool", roots, path) == outside / "tool"
    assert programs.found(str(outside / "tool"), roots, path) == outside / "tool"
    refused = ["linked", str(work / "tool"), "./tool", "bin/tool", "../bin/tool", "", "nothing", "to\0ol", str(outside)]
    assert [name for name in refused if programs.found(name, roots, path)] == []
    assert programs.environment(roots, path)["PATH"] == str(outside)
