"""What a source file imports, as places where it may be. Nothing is looked up here.

One small table per language: how an import looks, and which files it can mean. Packages of others are not told from the
project's own: whoever looks the places up finds only the latter.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, TypeAlias

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

Names: TypeAlias = tuple[str, ...]
"""A file by the names below its workspace folder."""

MOST_LINES = 400
"""Imports stand at the head of a file."""
LONGEST_LINE = 500

_PYTHON = re.compile(r"\s*(?:from\s+(\.*)([\w.]*)\s+import\s+\(?\s*(\w*)|import\s+([\w.]+))")
_SCRIPT = re.compile(
    r"""(?:^\s*(?:import|export)\b.*?|^\s*\}?\s*from\s*|\brequire\s*\(\s*|\bimport\s*\(\s*)['"](\.{1,2}/[^'"]+)['"]"""
)
_RUST = re.compile(r"\s*(?:pub(?:\([\w\s]*\))?\s+)?(?:mod\s+(\w+)\s*;|use\s+(crate|super|self)::([\w:]+))")
_C = re.compile(r'\s*#\s*include\s+"([^"]+)"')
_SCRIPT_ENDINGS = (".ts", ".tsx", ".js", ".jsx", ".mjs", ".d.ts", ".vue", ".svelte")


def imported(language: str, lines: Sequence[str], names: Names) -> list[list[Names]]:
    """For each import in the order of the file, the places where it may be, the likeliest first."""
    reader = _READERS.get(language)
    if reader is None or not names:
        return []
    found = (places for line in lines[:MOST_LINES] if len(line) <= LONGEST_LINE for places in reader(line, names))
    unique = {tuple(places): None for places in found if places}
    return [list(places) for places in unique]


def _python(line: str, names: Names) -> Iterator[list[Names]]:
    if (found := _PYTHON.match(line)) is None:
        return
    dots, package, first, module = found.groups()
    path = tuple(name for name in (module or package).split(".") if name)
    if dots:
        if len(dots) > len(names):
            return
        base = names[: len(names) - len(dots)]
        yield _python_files(base, path, first)
    elif path:
        yield [place for base in _above(names) for place in _python_files(base, path, first or "")]


def _python_files(base: Names, path: Names, first: str) -> list[Names]:
    """A module may be a file or a package; what is imported from it may be a module, too."""
    whole = (*base, *path)
    inner = [(*whole, f"{first}.py"), (*whole, first, "__init__.py")] if first else []
    outer = [(*whole[:-1], f"{whole[-1]}.py"), (*whole, "__init__.py")] if path else [(*whole, "__init__.py")]
    return [*inner, *outer]


def _script(line: str, names: Names) -> Iterator[list[Names]]:
    for found in _SCRIPT.finditer(line):
        if (target := _joined(names[:-1], found[1])) is None:
            continue
        *folder, last = target
        stem = re.sub(r"\.[cm]?jsx?$", "", last)
        files = [last] if re.search(r"\.\w+$", last) else []
        files += [f"{stem}{ending}" for ending in _SCRIPT_ENDINGS]
        yield [*((*folder, file) for file in files), *((*target, f"index{ending}") for ending in _SCRIPT_ENDINGS[:4])]


def _rust(line: str, names: Names) -> Iterator[list[Names]]:
    if (found := _RUST.match(line)) is None:
        return
    module, base, path = found.groups()
    stem = names[-1].removesuffix(".rs")
    own = names[:-1] if stem in ("mod", "lib", "main") else (*names[:-1], stem)
    if module:
        yield [(*own, f"{module}.rs"), (*own, module, "mod.rs")]
        return
    top = names[: names.index("src") + 1] if "src" in names else names[:1]
    start = {"crate": top, "super": own[:-1], "self": own}[base]
    parts = tuple(part for part in path.split("::") if part)
    # The last names may be those of functions and types in the module.
    ends = [parts[:length] for length in range(len(parts), 0, -1)]
    yield [place for end in ends for place in ((*start, *end[:-1], f"{end[-1]}.rs"), (*start, *end, "mod.rs"))]


def _c(line: str, names: Names) -> Iterator[list[Names]]:
    if (found := _C.match(line)) is None:
        return
    bases = _above(names)
    places = [_joined(base, found[1]) for base in (*bases, *((*base, "include") for base in bases))]
    yield [place for place in places if place]


def _above(names: Names) -> list[Names]:
    """The folders above a file, the nearest first, and the one where many projects keep their sources."""
    folders = [names[:depth] for depth in range(len(names) - 1, -1, -1)]
    return folders if ("src",) in folders else [*folders, ("src",)]


def _joined(base: Names, path: str) -> Names | None:
    """A relative path; nothing when it leads out of the workspace folder."""
    names = list(base)
    for name in path.split("/"):
        if name == "..":
            if not names:
                return None
            names.pop()
        elif name not in ("", "."):
            names.append(name)
    return tuple(names) or None


_READERS: dict[str, Callable[[str, Names], Iterator[list[Names]]]] = {
    "python": _python,
    **dict.fromkeys(("javascript", "javascriptreact", "typescript", "typescriptreact", "vue", "svelte"), _script),
    "rust": _rust,
    **dict.fromkeys(("c", "cpp", "objective-c", "objective-cpp", "cuda-cpp"), _c),
}
