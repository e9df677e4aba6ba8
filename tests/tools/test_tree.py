"""Trees: what git leaves out is left out, and no tree or rule takes for ever."""

from __future__ import annotations

import shutil
import subprocess
from time import thread_time
from typing import TYPE_CHECKING

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from ollm_lsp.core.errors import OutsideWorkspace, UnreadableFile
from ollm_lsp.tools import tree
from ollm_lsp.tools.gitignore import rules_in
from ollm_lsp.tools.roots import Place
from ollm_lsp.tools.tree import Tree
from ollm_lsp.tools.watch import Watch

if TYPE_CHECKING:
    from pathlib import Path

GIT = shutil.which("git")
RULES = [
    "*.log",
    "!keep.log",
    "build/",
    "/top",
    "a/b",
    "**/deep",
    "x*",
    "!a/",
    "*",
    "!*.py",
    "a/**",
    "#a",
    "\\#a",
    "[ab]",
]
FILES = [
    "a/b",
    "a/c.py",
    "a/keep.log",
    "b.log",
    "build/x",
    "deep/x",
    "x1/keep.log",
    "c/build/y.py",
    "c/top",
    "top",
    "#a",
]


def files(top: Path, *names: str, watch: Watch | None = None) -> list[str]:
    return [place.written for place in Tree(Place(top, names), watch or Watch(60)).files()]


def plant(top: Path, texts: dict[str, str]) -> None:
    for name, text in texts.items():
        (top / name).parent.mkdir(parents=True, exist_ok=True)
        (top / name).write_text(text)


def test_files_come_in_order_and_git_is_never_entered(tmp_path: Path) -> None:
    plant(tmp_path, {"b": "", "a/z": "", "a/b/c": "", ".git/config": "", "sub/.git": "", ".github/x": "", ".GIT/y": ""})
    assert files(tmp_path) == ["b", ".github/x", "a/z", "a/b/c"]


def test_rules_of_inner_folders_come_before_those_of_outer_ones(tmp_path: Path) -> None:
    plant(tmp_path, {".gitignore": "*.log\nout/\n", "a/.gitignore": "!keep.log\n/only\n"})
    plant(
        tmp_path,
        {"x.log": "", "keep.log": "", "a/keep.log": "", "a/x.log": "", "a/only": "", "a/b/only": "", "out/y": ""},
    )
    assert files(tmp_path) == [".gitignore", "a/.gitignore", "a/keep.log", "a/b/only"]


def test_a_tree_within_the_workspace_obeys_the_rules_above_it(tmp_path: Path) -> None:
    plant(tmp_path, {".gitignore": "*.log\n/out/\n", "a/x.log": "", "a/y": "", "out/z": "", "out/x.log": ""})
    assert files(tmp_path, "a") == ["a/y"]
    assert files(tmp_path, "out") == ["out/x.log", "out/z"]  # whoever names it wants to see what is in it


@pytest.mark.skipif(GIT is None, reason="git is the judge")
@settings(max_examples=100, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    st.lists(st.sampled_from(RULES), max_size=4),
    st.lists(st.sampled_from(RULES), max_size=3),
    st.sets(st.sampled_from(FILES), min_size=1),
)
def test_what_is_left_out_is_what_git_leaves_out(
    tmp_path_factory: pytest.TempPathFactory, outer: list[str], inner: list[str], names: set[str]
) -> None:
    top = tmp_path_factory.mktemp("repository")
    plant(top, {".gitignore": "\n".join(outer), "c/.gitignore": "\n".join(inner), **dict.fromkeys(names, "")})
    environment = {"HOME": str(top), "GIT_CONFIG_NOSYSTEM": "1", "GIT_CONFIG_GLOBAL": "/dev/null"}
    subprocess.run([GIT or "", "init", "-q"], cwd=top, env=environment, check=True)
    listed = subprocess.run(
        [GIT or "", "ls-files", "--others", "--exclude-standard", "-z"],
        cwd=top,
        env=environment,
        check=True,
        capture_output=True,
        text=True,
    )
    assert sorted(files(top)) == sorted(listed.stdout.split("\0")[:-1])
    shutil.rmtree(top)


@pytest.mark.threat("T31", "F38")
@pytest.mark.parametrize("rule", ["*a" * 40 + "b", "**/a/" * 30 + "b", "a*" * 100, "*" * 1_000 + "b", "[" * 500, "a\\"])
def test_no_rule_can_keep_us_busy(tmp_path: Path, rule: str) -> None:
    plant(tmp_path, {".gitignore": f"{rule}\n*.log\n", "x.log": ""})
    deep = ("a" * 250,) * 8
    rules = rules_in(Place(tmp_path, ()))
    began = thread_time()
    assert not rules.covers(Place(tmp_path, deep), is_folder=False) or rule.strip("*a") == ""
    assert rules.covers(Place(tmp_path, ("x.log",)), is_folder=False)
    assert thread_time() - began < 5  # of this thread's own time: the rule alone would take years


@pytest.mark.threat("T31", "F38")
def test_a_tree_without_end_is_cut(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tree, "MAX_DEPTH", 5)
    deep = tmp_path.joinpath(*["d"] * 10)
    deep.mkdir(parents=True)
    (deep / "x").touch()
    endless = Tree(Place(tmp_path, ()), Watch(60))
    assert list(endless.files()) == []
    assert endless.is_cut


def test_a_tree_ends_when_nobody_waits_for_it(tmp_path: Path) -> None:
    plant(tmp_path, {str(number): "" for number in range(10)})
    watch = Watch(60)
    growing = Tree(Place(tmp_path, ()), watch)
    stream = growing.files()
    next(stream)
    watch.stop()
    assert list(stream) == []
    assert growing.is_cut


def test_a_place_that_is_no_folder_is_an_error(tmp_path: Path) -> None:
    (tmp_path / "link").symlink_to("/")
    with pytest.raises(UnreadableFile):
        files(tmp_path, "nothing")
    with pytest.raises(OutsideWorkspace):
        files(tmp_path, "link")
