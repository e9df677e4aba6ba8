"""What every module has, and what none is."""

from __future__ import annotations

import ast
import re
import sys
from functools import cache
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
PACKAGE = ROOT / "ollm_lsp"
MODULES = sorted(PACKAGE.rglob("*.py"))
PURE = [module for module in MODULES if re.match(r"core/|providers/(wire/|framing)", str(module.relative_to(PACKAGE)))]
VAGUE = {"util", "utils", "helper", "helpers", "common", "manager", "misc"}
PORTS = {"open", "print", "input", "exec", "eval", "compile", "__import__", "breakpoint"}
"""Built-in functions by which a module could reach the world without an import."""


@cache
def tree_of(module: Path) -> ast.Module:
    return ast.parse(module.read_text())


def imports_of(module: Path) -> set[str]:
    """Every package that a module imports, wherever in it; a relative import counts as a dot."""
    found: set[str] = set()
    for node in ast.walk(tree_of(module)):
        if isinstance(node, ast.Import):
            found |= {alias.name.partition(".")[0] for alias in node.names}
        elif isinstance(node, ast.ImportFrom):
            found.add((node.module or "").partition(".")[0] if node.level == 0 else ".")
    return found


def calls_in(module: Path) -> set[str]:
    """The plain names that a module calls."""
    nodes = ast.walk(tree_of(module))
    return {node.func.id for node in nodes if isinstance(node, ast.Call) and isinstance(node.func, ast.Name)}


def first_line(module: Path) -> str:
    return (ast.get_docstring(tree_of(module)) or "").partition("\n")[0]


def test_there_are_modules_to_look_at() -> None:
    assert len(MODULES) > 50
    assert len(PURE) > 15


def test_every_module_begins_with_a_line_that_says_what_it_is_for() -> None:
    assert [module for module in MODULES if not re.fullmatch(r".{10,}[.]", first_line(module))] == []


def test_every_module_is_named_by_its_noun() -> None:
    words = {module: set(re.split(r"\W|_", str(module.relative_to(PACKAGE)))) for module in MODULES}
    assert [module for module in MODULES if words[module] & VAGUE] == []


def test_every_module_is_small() -> None:
    assert [module for module in MODULES if len(module.read_text().splitlines()) > 400] == []


def test_pure_modules_import_nothing_but_the_standard_library_and_the_core() -> None:
    allowed = {*sys.stdlib_module_names, "ollm_lsp"}
    assert {module: foreign for module in PURE if (foreign := imports_of(module) - allowed)} == {}


def test_pure_modules_call_nothing_that_reaches_the_world() -> None:
    assert {module: ports for module in PURE if (ports := calls_in(module) & PORTS)} == {}


def test_the_core_takes_nothing_of_asyncio_but_tasks_and_time_limits() -> None:
    used = {
        node.attr
        for module in PURE
        for node in ast.walk(tree_of(module))
        if isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name) and node.value.id == "asyncio"
    }
    assert used == {"CancelledError", "Task", "Timeout", "create_task", "gather", "timeout", "wait"}


WRITES = {
    "write_text",
    "write_bytes",
    "mkdir",
    "makedirs",
    "unlink",
    "rmdir",
    "rmtree",
    "rename",
    "touch",
    "symlink_to",
}
WRITERS = {
    "checkup.py",  # tries whether the state directory can be written
    "settings/contribution.py",  # writes the package.json of our own extension, for its developers
    "settings/starter.py",  # makes the user's own settings file, when they ask for it and there is none
    "processes/register.py",  # notes running children in the state directory
    "providers/agents/cli_agent.py",  # makes an empty folder there
    "providers/fetch_folder.py",  # removes what broken fetches left there
    "providers/model_file.py",  # keeps the fetched model there
    "providers/model_process.py",  # and the log of its process
    "store/database.py",  # keeps the conversations there
    "store/leftovers.py",  # removes halves of files there
    "store/places.py",  # makes that directory, for this user alone
    "store/texts.py",  # and texts that an editor shows
    "terminal/file_editor.py",  # the terminal is the editor there, and its user has allowed the change
    "terminal/text_editor.py",  # a file of its own, for the user's text editor
    "terminal/screen.py",  # sends what nobody reads to the null device
}


@pytest.mark.threat("T14", "T20")
def test_only_a_few_modules_write_files_and_only_the_terminals_editor_those_of_the_workspace() -> None:
    def writes(node: ast.AST) -> bool:
        if not isinstance(node, ast.Call) or not isinstance(node.func, ast.Attribute):
            return False
        modes = [argument.value for argument in node.args if isinstance(argument, ast.Constant)]
        opens = node.func.attr == "open" and any(isinstance(mode, str) and set(mode) & set("wax+") for mode in modes)
        return opens or node.func.attr in WRITES

    found = {module for module in MODULES if any(map(writes, ast.walk(tree_of(module))))}
    assert {str(module.relative_to(PACKAGE)) for module in found} == WRITERS


STARTS = re.compile(
    r"asyncio\.create_subprocess_|subprocess\.|os\.(system|popen|exec|spawn|posix_spawn|fork)|(child\.)?started$"
)
STARTERS = {
    "processes/child.py",  # every program that somebody else may have a say in, and its guardian
    "providers/model_process.py",  # our own interpreter, with the program of the embedded model
    "providers/model_file.py",  # our own interpreter, with pip
    "terminal/server_process.py",  # our own interpreter, with the server
    "terminal/text_editor.py",  # what the user's $VISUAL or $EDITOR names
    # By `child.started`, with a path outside of the workspace and an environment of ours:
    "kraken/hooks.py",
    "providers/agents/probe.py",
    "providers/agents/runner.py",
    "tools/ripgrep.py",
    "tools/run_command.py",
    "tools/slow_search.py",
}


@pytest.mark.threat("T13", "T18")
def test_only_a_few_modules_start_programs_none_of_them_git_and_none_by_a_shell() -> None:
    """What git runs is up to the workspace, so that the safest call of it is none."""

    def starts(node: ast.AST) -> bool:
        return isinstance(node, ast.Call) and STARTS.match(ast.unparse(node.func)) is not None

    found = {module for module in MODULES if any(map(starts, ast.walk(tree_of(module))))}
    assert {str(module.relative_to(PACKAGE)) for module in found} == STARTERS
    words = {node.value for module in found for node in ast.walk(tree_of(module)) if isinstance(node, ast.Constant)}
    assert not words & {"git", "sh", "bash", "cmd", "cmd.exe", "/bin/sh"}
    assert not any(by_shell(node) for module in MODULES for node in ast.walk(tree_of(module)))


def by_shell(node: ast.AST) -> bool:
    """Whether a call starts a program by a shell."""
    if not isinstance(node, ast.Call):
        return False
    return "subprocess_shell" in ast.unparse(node.func) or any(word.arg == "shell" for word in node.keywords)


OPENS = {"open", "fdopen", "read_text", "read_bytes", "scandir", "listdir", "iterdir", "glob", "rglob", "walk", "fwalk"}
OPENERS = {
    "tools/walk.py",  # the walk itself
    "tools/walk_by_path.py",  # and what stands in for it on Windows
}


@pytest.mark.threat("T14")
def test_only_the_walk_opens_files_of_the_user() -> None:
    def opens(node: ast.AST) -> bool:
        if not isinstance(node, ast.Call):
            return False
        name = node.func.attr if isinstance(node.func, ast.Attribute) else getattr(node.func, "id", "")
        return name in OPENS

    tools = [module for module in MODULES if module.parent.name == "tools"]
    found = {module for module in tools if any(map(opens, ast.walk(tree_of(module))))}
    assert {str(module.relative_to(PACKAGE)) for module in found} == OPENERS
