"""Imports, read from a file without looking anything up."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ollm_lsp.core.imports import imported


@pytest.mark.parametrize(
    ("language", "line", "path", "place"),
    [
        ("python", "from .near import x", "src/pkg/a.py", "src/pkg/near.py"),
        ("python", "from . import near", "src/pkg/a.py", "src/pkg/near.py"),
        ("python", "from ..up import x", "src/pkg/a.py", "src/up.py"),
        ("python", "    from pkg.b import c", "src/pkg/a.py", "src/pkg/b.py"),
        ("python", "from pkg import b", "src/pkg/a.py", "src/pkg/b.py"),
        ("python", "import pkg.b as q", "tests/a.py", "src/pkg/b.py"),
        ("python", "import pkg", "a.py", "pkg/__init__.py"),
        ("javascript", "import a from './b'", "web/a.js", "web/b.js"),
        ("typescript", "import { a } from '../b.js'", "web/x/a.ts", "web/b.ts"),
        ("typescript", "} from './long'", "web/a.ts", "web/long.tsx"),
        ("typescriptreact", "export * from './b'", "web/a.tsx", "web/b/index.ts"),
        ("javascript", "const b = require('./b.cjs')", "a.js", "b.cjs"),
        ("rust", "mod b;", "src/main.rs", "src/b.rs"),
        ("rust", "pub(crate) mod c;", "src/b.rs", "src/b/c.rs"),
        ("rust", "use crate::b::c::Thing;", "src/x/y.rs", "src/b/c.rs"),
        ("rust", "use super::b::Thing;", "src/x/y.rs", "src/x/b.rs"),
        ("c", '#include "util.h"', "src/a.c", "src/util.h"),
        ("cpp", '#  include "lib/util.hpp"', "src/a.cpp", "include/lib/util.hpp"),
    ],
)
def test_an_import_leads_to_the_file_it_means(language: str, line: str, path: str, place: str) -> None:
    (choices,) = imported(language, [line], tuple(path.split("/")))
    assert tuple(place.split("/")) in choices


@pytest.mark.parametrize(
    ("language", "line"),
    [
        ("python", "from .... import x"),
        ("python", "important = 1"),
        ("python", "# from a import b"),
        ("javascript", "import a from 'react'"),
        ("javascript", "import a from '../../../etc/passwd'"),
        ("rust", "use std::fs;"),
        ("c", "#include <stdio.h>"),
        ("c", '#include "../../../x.h"'),
        ("cobol", "COPY x."),
    ],
)
def test_what_is_no_import_of_the_project_leads_nowhere(language: str, line: str) -> None:
    found = imported(language, [line], ("web", "a"))
    assert [place for choices in found for place in choices if ".." in place or "" in place] == []
    assert language == "c" or found == []


def test_each_import_is_told_once_in_the_order_of_the_file() -> None:
    lines = ["from .b import x\n", "from .a import y\n", "from .b import x\n"]
    assert [choices[-1] for choices in imported("python", lines, ("p", "m.py"))] == [
        ("p", "b", "__init__.py"),
        ("p", "a", "__init__.py"),
    ]


@given(
    st.sampled_from(["python", "typescript", "rust", "cpp"]),
    st.lists(st.text(alphabet="from import.use:mod;#include\"'{}()/ abc", max_size=60), max_size=5),
)
def test_no_text_leads_out_of_the_workspace(language: str, lines: list[str]) -> None:
    for choices in imported(language, lines, ("src", "a")):
        assert all(name not in ("", ".", "..") and "/" not in name for place in choices for name in place)
