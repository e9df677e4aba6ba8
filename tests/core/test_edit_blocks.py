"""Edits in an answer are read with their files, however a model decorates the path; half of one is none."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ollm_lsp.core.edit_blocks import DIVIDE, HOW_TO_PROPOSE, REPLACE, SEARCH, MalformedEdit, edits_in
from ollm_lsp.core.foreign_edit import ForeignEdit
from ollm_lsp.core.tool import ToolKind

ONE = ForeignEdit("src/app.py", ToolKind.EDIT, "a - b", "a + b")


def written(old: str, new: str) -> str:
    return "\n".join([SEARCH, *([old] if old else []), DIVIDE, *([new] if new else []), REPLACE])


@pytest.mark.parametrize(
    "head",
    [
        "src/app.py",
        "`src/app.py`",
        "**src/app.py**",
        "**`src/app.py`**:",
        "### src/app.py",
        "### `src/app.py`",
        "- src/app.py",
        "File: src/app.py",
        "src/app.py:",
        "In `src/app.py`, the sign is wrong:",
        "src/app.py\n```python",
        "Some words.\n\n`src/app.py`\n\n~~~",
    ],
)
def test_the_path_is_found_above_an_edit(head: str) -> None:
    assert edits_in(f"It is wrong.\n\n{head}\n{written('a - b', 'a + b')}\n```\nThat is all.") == [ONE]


def test_the_next_edit_is_of_the_same_file_unless_it_names_another() -> None:
    text = f"a.py\n{written('1', '2')}\n\nAnd then:\n{written('3', '4')}\nb.py\n{written('', 'new')}"
    assert [(edit.path, edit.kind) for edit in edits_in(text)] == [
        ("a.py", ToolKind.EDIT),
        ("a.py", ToolKind.EDIT),
        ("b.py", ToolKind.CREATE),
    ]


def test_what_agents_are_told_is_itself_an_edit() -> None:
    assert edits_in(HOW_TO_PROPOSE) == [ForeignEdit("path/to/file", ToolKind.EDIT, "old lines", "new lines")]


@pytest.mark.parametrize(
    "text",
    [
        f"a.py\n{SEARCH}\nold\n{DIVIDE}\nnew",
        f"a.py\n{SEARCH}\nold\n{REPLACE}",
        f"a.py\n{SEARCH}\nold\n{DIVIDE}\nnew\n{DIVIDE}\nnew\n{REPLACE}",
        f"Here it is, without a name:\n{written('old', 'new')}",
    ],
    ids=["no end", "no new text", "two new texts", "no path"],
)
def test_half_an_edit_is_an_error(text: str) -> None:
    with pytest.raises(MalformedEdit):
        edits_in(text)


LINES = st.text(st.characters(exclude_categories=("Cs", "Cc", "Zl", "Zp"), exclude_characters="<=>")).map(str.rstrip)
TEXTS = st.lists(LINES, min_size=1, max_size=4).map("\n".join).filter(str.strip)
PATHS = st.from_regex(r"[a-z][a-z0-9_/.-]{0,20}[a-z]", fullmatch=True)


@pytest.mark.prop("krk-22")
@given(st.lists(st.tuples(PATHS, TEXTS, TEXTS), min_size=1, max_size=4), st.sampled_from(["\n", "\r\n"]))
def test_all_that_is_written_in_the_form_is_read(edits: list[tuple[str, str, str]], newline: str) -> None:
    text = "\n\nSome words.\n\n".join(f"{path}\n{written(old, new)}" for path, old, new in edits)
    found = edits_in(text.replace("\n", newline))
    assert [(edit.path, edit.before, edit.after) for edit in found] == edits
