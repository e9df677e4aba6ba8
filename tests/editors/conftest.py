"""What the tests in real editors use; they are collected with `--editor NAME` only."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

import pytest

from tests.editors import programs
from tests.editors.debian import Unavailable

if TYPE_CHECKING:
    from pathlib import Path

    from tests.editors.programs import Program

PROGRAMS = {"helix": ["helix"], "emacs": ["emacs"], "neovim": ["neovim", "neovim-0.10"]}
"""The programs that the tests of an editor run in."""
FIGURES = "figures"
"""By this name a test records what it has measured, which is told at the end of the run."""


def _chosen(config: pytest.Config) -> list[str]:
    return config.getoption("--editor") or []


def pytest_ignore_collect(collection_path: Path, config: pytest.Config) -> bool | None:
    """They take longer than others, and fetch what they need."""
    chosen = _chosen(config)
    others = [name for name in PROGRAMS if name not in chosen]
    is_other = any(collection_path.name.startswith(f"test_{name}") for name in others)
    return True if not chosen or is_other else None


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    """Say which editors were tested and which were not: a skipped test is easily overlooked."""
    chosen = _chosen(terminalreporter.config)
    if not chosen:
        return
    terminalreporter.section("editors")
    for name in (program for editor in chosen for program in PROGRAMS[editor]):
        found = programs.find(name)
        if isinstance(found, Unavailable):
            terminalreporter.line(f"NOT TESTED: {programs.title(name)}: {found}", red=True)
        else:
            terminalreporter.line(f"{found.title} {found.version}")
    reports = [*terminalreporter.getreports("passed"), *terminalreporter.getreports("failed")]
    for name, value in (one for report in reports for one in report.user_properties):
        if name == FIGURES:
            terminalreporter.line(str(value))


def available(name: str) -> Program:
    """The program; without it nothing is tested, which nobody would see where nobody looks."""
    found = programs.find(name)
    if isinstance(found, Unavailable):
        tell = pytest.fail if os.environ.get("CI") else pytest.skip
        tell(f"{programs.title(name)}: {found}")
    return found


@pytest.fixture(scope="session")
def tmux() -> Path:
    return available("tmux").path


@pytest.fixture(scope="session")
def helix_program() -> Path:
    return available("helix").path


@pytest.fixture(scope="session")
def emacs_program() -> Path:
    return available("emacs").path


@pytest.fixture(scope="session", params=PROGRAMS["neovim"])
def neovim_program(request: pytest.FixtureRequest) -> Path:
    return available(request.param).path
