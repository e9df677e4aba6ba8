"""The structure of a document: by its grammar where that is installed, else by its indentation."""

from __future__ import annotations

import pytest

from ollm_lsp.lsp.buffer import Position, PositionEncoding, Range, TextBuffer
from ollm_lsp.lsp.context import structure
from ollm_lsp.lsp.context.material import Material

SOURCE = """\
def long(
    first,
    second,
):
    return first


class Thing:
    def method(self):
        return '''
not indented
'''
"""


def material(text: str, language: str = "python") -> Material:
    return Material("file:///a", "a", language, TextBuffer(text, PositionEncoding.UTF16))


def nesting(made: Material, *, by_grammar: bool = True) -> list[int]:
    return list(structure.nesting_of(made, by_grammar=by_grammar)(0, made.buffer.line_count))


def test_a_grammar_tells_the_head_of_a_function_from_its_body() -> None:
    assert nesting(material(SOURCE)) == [0, 0, 0, 0, 1, 0, 0, 0, 1, 2, 2, 2, 0]
    script = "function f() {\n  return {\n    a: 1\n  }\n}\n"
    assert nesting(material(script, "javascript")) == [0, 1, 1, 1, 0, 0]


@pytest.mark.parametrize("language", ["cobol", "", "no-such", "../evil"])
def test_without_a_grammar_the_indentation_tells_the_blocks(language: str) -> None:
    assert nesting(material("a\n  b\n", language)) == [0, 1, 1]
    assert nesting(material(SOURCE), by_grammar=False)[:5] == [0, 1, 1, 0, 1]


def test_a_text_is_parsed_once_until_it_is_edited() -> None:
    made = material(SOURCE)
    nesting(made)
    parsed = made.buffer.derived["parsed"]
    nesting(made)
    assert made.buffer.derived["parsed"] is parsed
    made.buffer.edit(Range(Position(0, 0), Position(0, 0)), "# more\n")
    assert nesting(made) == [0, *parsed]
    made.buffer.replace_all("x = 1\n")
    assert nesting(made) == [0, 0]


def test_a_text_that_is_too_long_is_not_parsed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(structure, "LONGEST", 10)
    assert nesting(material(SOURCE))[:2] == [0, 1]
