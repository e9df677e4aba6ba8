"""What the tests in a real VS Code use; they are collected with `--vscode` only."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from tests.editors.debian import Unavailable
from tests.vscode import chromium, code_server
from tests.vscode.figures import FIGURES

if TYPE_CHECKING:
    from tests.vscode.code_server import CodeServer


def pytest_ignore_collect(config: pytest.Config) -> bool | None:
    """They take minutes, and fetch what they need."""
    return None if config.getoption("--vscode") else True


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    """A skipped test is easily overlooked."""
    if not terminalreporter.config.getoption("--vscode"):
        return
    terminalreporter.section("VS Code")
    try:
        terminalreporter.line(f"code-server {code_server.VERSION} in {chromium.find()}")
    except Unavailable as reason:
        terminalreporter.line(f"NOT TESTED: {reason}", red=True)
    for figure in FIGURES:
        terminalreporter.line(figure)


@pytest.fixture(scope="session")
def vscode() -> CodeServer:
    try:
        return code_server.install()
    except Unavailable as reason:
        pytest.skip(str(reason))


@pytest.fixture(scope="session")
def browser() -> Path:
    try:
        return chromium.find()
    except Unavailable as reason:
        pytest.skip(str(reason))


@pytest.fixture(scope="session")
def vsix() -> Path:
    """The package that `make vsix` has built."""
    path = Path(__file__).parents[2] / "dist" / "ollm-lsp.vsix"
    assert path.exists(), "run: make vsix"
    return path
