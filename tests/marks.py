"""Marks on tests that name what a test guards, by number: they are read from the source and printed as a table."""

from __future__ import annotations

import ast
import sys
from collections import Counter
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, TypeAlias

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

TESTS = Path(__file__).parent

Numbers: TypeAlias = "list[str]"
Named: TypeAlias = "Mapping[str, Numbers]"


@dataclass(frozen=True, slots=True)
class Guard:
    """A test and the number that it guards."""

    number: str
    file: str
    line: int


@dataclass(frozen=True, slots=True)
class Register:
    """Everything that a mark may name: numbers, each with a title if it needs one."""

    mark: str
    singular: str
    plural: str
    titles: Mapping[str, str]
    elsewhere: Mapping[str, str] = field(default_factory=dict[str, str])
    """Numbers that are guarded by tests in other languages, with the files of these."""

    def guards_in(self, source: str, file: str) -> list[Guard]:
        """Every guard in a file. A mark may stand on a test, its class or its module, also under its own name."""
        body = ast.parse(source).body
        named = self._assigned(body, {})
        return [
            Guard(number, file, line)
            for line, numbers in self._tests(body, named)
            for number in (*named.get("pytestmark", ()), *numbers)
        ]

    def report(self, guards: Sequence[Guard]) -> str:
        """A line for each number that is guarded, and those that are not."""
        lines: list[str] = []
        missing: list[str] = []
        width = max(map(len, self.titles.values()), default=0)
        for number, title in self.titles.items():
            files = Counter(guard.file for guard in guards if guard.number == number)
            where = [f"{file} ({count})" for file, count in sorted(files.items())]
            where += [self.elsewhere[number]] if number in self.elsewhere else []
            if where:
                lines.append(f"{number:8}{title:{width}}{files.total():4}  {', '.join(where)}")
            else:
                missing.append(number)
        lines += ["", f"{len(self.titles) - len(missing)} of {len(self.titles)} {self.plural} are guarded."]
        for family in dict.fromkeys(number.rstrip("0123456789") for number in missing):
            lines.append(f"No test yet: {' '.join(n for n in missing if n.rstrip('0123456789') == family)}")
        return "\n".join(lines)

    def unknown(self, guards: Iterable[Guard]) -> list[str]:
        """What is wrong with the marks."""
        return [
            f"{guard.file}:{guard.line}: there is no {self.singular} {guard.number}"
            for guard in guards
            if guard.number not in self.titles
        ]

    def guards(self, tests: Path = TESTS) -> list[Guard]:
        """Every guard below a folder."""
        files = sorted(tests.rglob("test_*.py"))
        return [
            guard for file in files for guard in self.guards_in(file.read_text(), str(file.relative_to(tests.parent)))
        ]

    def main(self, tests: Path = TESTS) -> int:
        """Print the report; a mark that names nothing is an error."""
        guards = self.guards(tests)
        print(self.report(guards))  # noqa: T201 (that is what it is for)
        wrong = self.unknown(guards)
        for line in wrong:
            print(line, file=sys.stderr)  # noqa: T201 (that is what it is for)
        return 1 if wrong else 0

    def _tests(self, body: Iterable[ast.stmt], named: Named) -> Iterator[tuple[int, Numbers]]:
        """The line of each test, and the numbers on it."""
        for node in body:
            if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef) and node.name.startswith("test"):
                yield node.lineno, self._numbers(node.decorator_list, named)
            elif isinstance(node, ast.ClassDef):
                own = self._assigned(node.body, named).get("pytestmark", [])
                for line, numbers in self._tests(node.body, named):
                    yield line, [*self._numbers(node.decorator_list, named), *own, *numbers]

    def _assigned(self, body: Iterable[ast.stmt], named: Named) -> dict[str, Numbers]:
        """The numbers under each name that a mark was given."""
        return {
            target.id: self._numbers([node.value], named)
            for node in body
            if isinstance(node, ast.Assign)
            for target in node.targets
            if isinstance(target, ast.Name)
        }

    def _numbers(self, expressions: Iterable[ast.expr], named: Named) -> Numbers:
        """The arguments of every mark of ours in some expressions, as they are written."""
        numbers: Numbers = []
        for expression in expressions:
            for node in ast.walk(expression):
                match node:
                    case ast.Call(func=ast.Attribute(value=ast.Attribute(attr="mark"), attr=mark), args=arguments):
                        numbers += [ast.unparse(a).strip("'\"") for a in arguments] if mark == self.mark else []
                    case ast.Name(id=name):
                        numbers += named.get(name, ())
                    case _:
                        pass
        return numbers
