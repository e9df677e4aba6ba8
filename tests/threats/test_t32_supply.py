"""Threat T32: builds can be repeated, what is installed has a version, and what models are told does not drift."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
import tomllib
from hashlib import sha256
from pathlib import Path

import pytest

from ollm_lsp.core import actions, compaction, edit_blocks, react_prompt, repetition
from ollm_lsp.lsp import acting, question

ROOT = Path(__file__).parents[2]
PACKED = ("pyproject.toml", "README.md", "LICENSE", ".gitignore", "ollm_lsp")
BUILD = "import sys; from hatchling.build import build_wheel; print(build_wheel(sys.argv[1]))"


def built(folder: Path, umask: int, when: float) -> bytes:
    """The wheel of a copy of this project, made at another place and another time, in another order."""
    folder.mkdir()
    for name in PACKED if when > 0 else reversed(PACKED):
        source = ROOT / name
        if source.is_dir():
            shutil.copytree(source, folder / name, ignore=shutil.ignore_patterns("__pycache__"))
        else:
            shutil.copy(source, folder / name)
    for path in folder.rglob("*"):
        os.utime(path, (1_600_000_000 + when, 1_600_000_000 + when))
    environ = {"PATH": os.defpath, "SOURCE_DATE_EPOCH": "1700000000", "HOME": str(folder)}
    command = [sys.executable, "-I", "-c", BUILD, str(folder / "dist")]
    old = os.umask(umask)
    try:
        run = subprocess.run(command, cwd=folder, env=environ, capture_output=True, text=True, check=True)
    finally:
        os.umask(old)
    return (folder / "dist" / run.stdout.split()[-1]).read_bytes()


@pytest.mark.threat("T32")
def test_two_builds_of_the_same_files_are_the_same_wheel(tmp_path: Path) -> None:
    one, other = built(tmp_path / "one", 0o022, 0), built(tmp_path / "other", 0o077, 86_400)
    assert sha256(one).hexdigest() == sha256(other).hexdigest()


@pytest.mark.threat("T32")
def test_everything_that_is_installed_has_one_version() -> None:
    pinned = dict(line.split("==") for line in (ROOT / "constraints.txt").read_text().splitlines())
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())
    wanted = [
        *project["project"]["dependencies"],
        *project["project"]["optional-dependencies"]["embedded"],
        *project["dependency-groups"]["dev"],
        *project["build-system"]["requires"],
    ]
    known = {_canonical(name) for name in pinned}
    assert {_canonical(re.split(r"[\[<>=! ]", need)[0]) for need in wanted} <= known
    assert all(re.fullmatch(r"[0-9][0-9a-z.+]*", version) for version in pinned.values())


def _canonical(name: str) -> str:
    return re.sub(r"[-_.]+", "-", name).lower()


PROMPTS = {
    "system": question.SYSTEM_PROMPT,
    "for answers": acting.FOR_ANSWERS,
    "for changes": acting.FOR_CHANGES,
    "how to propose": edit_blocks.HOW_TO_PROPOSE,
    "advice": repetition.ADVICE,
    "ReAct": vars(react_prompt)["_RULES"],
    "summary": vars(compaction)["_SUMMARY"] + vars(compaction)["_LEFT_OUT"],
    **{action.name: action.prompt for action in actions.BUILT_IN},
}
HASHES = {
    "system": "79751416d2725f5a",
    "for answers": "82809df77cdd1c36",
    "for changes": "64b35d76a37847e3",
    "how to propose": "5ae20efd810c2f66",
    "advice": "3daf431538c7e74e",
    "ReAct": "b49adf91a35cde18",
    "summary": "f8d468dd73335f83",
    "explain": "4daa1c07bfbb4ef9",
    "fix": "6a85a815f3b6b23c",
    "refactor": "d25db2006d6f3936",
    "document": "5bbe5670f0d7dc62",
    "tests": "70095944e59d3744",
    "edit": "0a77f7ee88f0c9b3",
    "ask": "9c1fa59741619486",
}
"""Whoever changes a prompt changes its hash here, in the same commit, where a reviewer sees it."""


@pytest.mark.threat("T32")
def test_no_prompt_changes_without_its_hash() -> None:
    assert {name: sha256(text.encode()).hexdigest()[:16] for name, text in PROMPTS.items()} == HASHES
