"""Spellings: names that some file system takes for one are one."""

from __future__ import annotations

import pytest

from ollm_lsp.tools.spellings import folded, folded_name


@pytest.mark.parametrize(
    ("one", "other"),
    [
        *((".ENV", ".env"), (".e\u200cnv", ".env"), (".env.", ".env"), (".env ", ".env"), ("\uff0eenv", ".env")),
        *(("é", "e\u0301"), ("ﬁle", "file"), (".gi\u2060t", ".GIT"), ("STRASSE", "straße"), (".git . ", ".git")),
    ],
)
def test_spellings_of_one_name_fold_to_the_same(one: str, other: str) -> None:
    assert folded_name(one) == folded_name(other)
    assert folded(f"a/{one}") == folded(f"A\\{other}")


def test_other_names_stay_different() -> None:
    assert len({folded_name(name) for name in (".env", "env", "_env", ".envy", ".en")}) == 5
