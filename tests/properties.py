"""Which numbered properties of the requirements the tests guard: `python -m tests.properties`."""

from __future__ import annotations

import ast
import sys
from collections import Counter
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, TypeAlias

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

TESTS = Path(__file__).parent
FAMILIES = {"core": 35, "eng": 7, "krk": 48, "lsp": 6}
KNOWN = [f"{family}-{number}" for family, last in FAMILIES.items() for number in range(1, last + 1)]

Numbers: TypeAlias = "list[str]"


@dataclass(frozen=True, slots=True)
class Guard:
    """A test and the property that it guards."""

    number: str
    file: str
    line: int


def guards_in(source: str, file: str) -> list[Guard]:
    """Every guard in a file. A mark may stand on a test, its class or its module, also under a name of its own."""
    body = ast.parse(source).body
    named = _assigned(body, {})
    return [
        Guard(number, file, line)
        for line, numbers in _tests(body, named)
        for number in (*named.get("pytestmark", ()), *numbers)
    ]


def _tests(body: Iterable[ast.stmt], named: Mapping[str, Numbers]) -> Iterator[tuple[int, Numbers]]:
    """The line of each test, and the numbers on it."""
    for node in body:
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef) and node.name.startswith("test"):
            yield node.lineno, _numbers(node.decorator_list, named)
        elif isinstance(node, ast.ClassDef):
            own = _assigned(node.body, named).get("pytestmark", [])
            for line, numbers in _tests(node.body, named):
                yield line, [*_numbers(node.decorator_list, named), *own, *numbers]


def _assigned(body: Iterable[ast.stmt], named: Mapping[str, Numbers]) -> dict[str, Numbers]:
    """The numbers under each name that a mark was given."""
    return {
        target.id: _numbers([node.value], named)
        for node in body
        if isinstance(node, ast.Assign)
        for target in node.targets
        if isinstance(target, ast.Name)
    }


def _numbers(expressions: Iterable[ast.expr], named: Mapping[str, Numbers]) -> Numbers:
    """The arguments of every `pytest.mark.prop(…)` in some expressions, as they are written."""
    numbers: Numbers = []
    for expression in expressions:
        for node in ast.walk(expression):
            match node:
                case ast.Call(func=ast.Attribute(value=ast.Attribute(attr="mark"), attr="prop"), args=arguments):
                    numbers += [ast.unparse(argument).strip("'\"") for argument in arguments]
                case ast.Name(id=name):
                    numbers += named.get(name, ())
                case _:
                    pass
    return numbers


def report(guards: Sequence[Guard]) -> str:
    """A line for each property that is guarded, and those that are not."""
    lines: list[str] = []
    for number in KNOWN:
        files = Counter(guard.file for guard in guards if guard.number == number)
        if files:
            where = ", ".join(f"{file} ({count})" for file, count in sorted(files.items()))
            lines.append(f"{number:8}{files.total():4}  {where}")
    guarded = {guard.number for guard in guards}
    missing = [number for number in KNOWN if number not in guarded]
    lines += ["", f"{len(KNOWN) - len(missing)} of {len(KNOWN)} properties are guarded."]
    for family in FAMILIES:
        if own := [number for number in missing if number.startswith(f"{family}-")]:
            lines.append(f"No test yet: {' '.join(own)}")
    return "\n".join(lines)


def unknown(guards: Iterable[Guard]) -> list[str]:
    """What is wrong with the marks."""
    return [
        f"{guard.file}:{guard.line}: there is no property {guard.number}"
        for guard in guards
        if guard.number not in KNOWN
    ]


def main(tests: Path = TESTS) -> int:
    """Print the report; a mark that names no property is an error."""
    files = sorted(tests.rglob("test_*.py"))
    guards = [guard for file in files for guard in guards_in(file.read_text(), str(file.relative_to(tests.parent)))]
    print(report(guards))  # noqa: T201 (that is what it is for)
    wrong = unknown(guards)
    for line in wrong:
        print(line, file=sys.stderr)  # noqa: T201 (that is what it is for)
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
