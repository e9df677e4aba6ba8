"""How deep the lines of a document are nested, by the grammar of its language where one is installed.

Grammars are packages named `tree_sitter_<language>`, none of which is a dependency. Without one the indentation tells
the blocks, which is right for most code that people have formatted.
"""

from __future__ import annotations

from functools import cache
from importlib import import_module
from itertools import accumulate
from typing import TYPE_CHECKING, Any

from ollm_lsp.core.nesting import depths

if TYPE_CHECKING:
    from collections.abc import Sequence

    from ollm_lsp.core.cutting import Nesting
    from ollm_lsp.lsp.context.material import Material

LONGEST = 500_000
"""Characters of a text that is parsed."""
_MODULES = {
    "javascriptreact": ("javascript", "language"),
    "typescript": ("typescript", "language_typescript"),
    "typescriptreact": ("typescript", "language_tsx"),
    "shellscript": ("bash", "language"),
    "csharp": ("c_sharp", "language"),
}
"""The languages whose packages are not named as LSP names the language."""


def nesting_of(material: Material, *, by_grammar: bool) -> Nesting:
    """The depths of a document's lines, kept until its next edit. Parsing is for what the question is about."""
    derived = material.buffer.derived

    def nesting(first: int, behind: int) -> Sequence[int]:
        if by_grammar and (parsed := _parsed(material)) is not None:
            return parsed[first:behind]
        key = ("depths", first, behind)
        if key not in derived:
            derived[key] = depths(material.buffer.lines[first:behind])
        return derived[key]

    return nesting


def _parsed(material: Material) -> list[int] | None:
    """The depth of each line; nothing where there is no grammar."""
    derived = material.buffer.derived
    if "parsed" not in derived:
        is_short = material.buffer.length <= LONGEST
        parser = _parser(material.language) if is_short else None
        derived["parsed"] = None if parser is None else _depths(parser, material)
    return derived["parsed"]


def _depths(parser: Any, material: Material) -> list[int]:
    tree = parser.parse(material.buffer.text.encode("utf-8", "replace"))
    lines = material.buffer.line_count
    changes = [0] * (lines + 1)
    waiting = [tree.root_node]
    while waiting:
        node = waiting.pop()
        if (body := node.child_by_field_name("body")) is not None:
            first, last = body.start_point[0], min(body.end_point[0], lines - 1)
            # The line of the head, and that of a closing bracket, belong to what is outside.
            first += first == node.start_point[0] or _is_bracket(body, 0)
            last -= _is_bracket(body, -1)
            if first <= last:
                changes[first] += 1
                changes[last + 1] -= 1
        waiting += (child for child in node.children if child.end_point[0] > child.start_point[0])
    return list(accumulate(changes[:lines]))


def _is_bracket(body: Any, index: int) -> bool:
    return bool(body.children) and body.children[index].type in ("{", "}", "(", ")", "[", "]")


@cache
def _parser(language: str) -> Any | None:
    """The parser of a language, if its grammar is installed and fits the library."""
    package, function = _MODULES.get(language, (language, "language"))
    if not package.isidentifier():
        return None
    try:
        library, grammar = import_module("tree_sitter"), import_module(f"tree_sitter_{package}")
        return library.Parser(library.Language(getattr(grammar, function)()))
    except (ImportError, AttributeError, TypeError, ValueError):
        return None
