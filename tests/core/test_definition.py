"""What encloses a line, in languages of every kind."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ollm_lsp.core.definition import definition_around
from ollm_lsp.core.tests_of import tests_of as places_of

PYTHON = """\
import os

@deco
# lead
def f(
    a,
):
    if a:
        return 1

    return 2


class A:
    def m(self):
        for x in y:
            print(x)

    def n(self):
        pass
x = 1
y = 2
"""
C = """\
int add(int a,
        int b)
{
    if (a) {
        return b;
    } else {
        return a;
    }
}

static void g() {
    add(1);
}
"""
JS = """\
const f = (a) => {
  return a
}
describe("x", () => {
  it("y", () => {
    a()
  })
})
"""
LUA = """\
local function f(x)
  if x then
    return 1
  end
end
"""


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        (PYTHON, {0: (0, 0), 1: (2, 10), 2: (2, 10), 3: (2, 10), 5: (2, 10), 6: (2, 10), 8: (2, 10), 13: (13, 19),
                  14: (14, 16), 16: (14, 16), 17: (18, 19), 20: (20, 21), 21: (20, 21)}),
        (C, {0: (0, 8), 1: (0, 8), 2: (0, 8), 4: (0, 8), 6: (0, 8), 8: (0, 8), 9: (10, 12), 11: (10, 12)}),
        (JS, {0: (0, 2), 1: (0, 2), 2: (0, 2), 5: (4, 6), 7: (3, 7)}),
        (LUA, {0: (0, 4), 2: (0, 4), 4: (0, 4)}),
        ("", {0: None}),
        ("\n\nx\n", {0: (2, 2), 3: None}),
    ],
)  # fmt: skip
def test_the_definition_around_a_line_is_found(text: str, expected: dict[int, tuple[int, int] | None]) -> None:
    lines = text.split("\n")
    assert {line: definition_around(lines, line) for line in expected} == expected


LINE = st.builds(
    str.__add__,
    st.sampled_from(["", " ", "    ", "\t", "        "]),
    st.sampled_from(["", "def f():", "x", "}", "{", "if a {", ")", "# c", "@d", "end", "else:"]),
)


@given(st.lists(LINE, max_size=15), st.integers(0, 15))
def test_whatever_the_lines_are_the_block_holds_the_next_line_with_something_in_it(lines: list[str], line: int) -> None:
    here = next((number for number in range(line, len(lines)) if lines[number].strip()), None)
    found = definition_around(lines, line)
    if here is None or found is None:
        assert here is None
        assert found is None
    else:
        assert 0 <= found[0] <= here <= found[1] < len(lines)


@pytest.mark.parametrize(
    ("path", "places"),
    [
        ("a.py", ["tests/test_a.py", "test_a.py"]),
        ("src/pkg/a.py", ["tests/test_a.py", "src/pkg/tests/test_a.py", "src/pkg/test_a.py"]),
        ("cmd/a.go", ["cmd/a_test.go"]),
        ("src/a.ts", ["src/a.test.ts"]),
        ("src/main/java/x/A.java", ["src/test/java/x/ATest.java"]),
        ("A.java", []),
        ("lib/a.rb", ["spec/a_spec.rb", "test/a_test.rb"]),
        ("a.rs", []),
        ("tests/test_a.py", []),
        ("a_test.go", []),
        ("a.test.ts", []),
        ("Makefile", []),
    ],
)
def test_tests_belong_where_the_language_has_them(path: str, places: list[str]) -> None:
    assert places_of(tuple(path.split("/"))) == [tuple(place.split("/")) for place in places]
