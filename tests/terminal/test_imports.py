"""The terminal client is a client: it sees the server only through the protocol."""

from __future__ import annotations

import ast
import sys
from pathlib import Path

import ollm_lsp.terminal

# The hold on a file is the system's, and knows nothing of a server.
OURS = ("ollm_lsp.terminal", "ollm_lsp.core", "ollm_lsp.processes.holding")


def imported_modules(source: str) -> set[str]:
    names: set[str] = set()
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.Import):
            names.update(alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            names.add(node.module or "")
    return names


def test_only_the_standard_library_the_core_and_holds_are_imported() -> None:
    for file in Path(ollm_lsp.terminal.__path__[0]).glob("*.py"):
        for name in imported_modules(file.read_text()):
            known = name.partition(".")[0] in sys.stdlib_module_names or name.startswith(OURS)
            assert known or name == "ollm_lsp", f"{file.name} imports {name}"
